import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readOfacExport } from '../../src/list/ofac-export.ts';

const fixture = (name: string): Promise<Buffer> => readFile(path.join(import.meta.dirname, '../fixtures', name));
/** Chunks as a network delivers them, split anywhere, even within a character. */
async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const read = (bytes: Buffer | string, size = 7) => readOfacExport(chunksOf(Buffer.from(bytes), size));

const ADDRESSES = [
  ['XBT', '1MadeUpBitcoinAddressXXXXXXXXXXXX1', '90001'],
  ['ETH', '0x5a9c1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b', '90001'],
  ['USDC', '0xE41Af7140ec2C863b4eA98139a59A4587E81bf6c', '90001'],
  ['SOL', 'GMRoaytLGHyTLWCvHnfFP8aPYNjvrTYyu4QvazbjCVoB', '90002'],
];

describe('Reading an export of the SDN list', () => {
  it.each([
    ['sdn-advanced.xml', 'advanced', 'DOE Jane'],
    ['sdn.xml', 'standard', 'Jane DOE'],
  ])('finds the same addresses in %s, with label, party and its primary name', async (file, format, name) => {
    const found = await read(await fixture(file));
    expect(found).toMatchObject({ format, publishedOn: '2026-11-05', parties: 3 });
    expect(found.addresses.map(({ label, address, uid }) => [label, address, uid])).toEqual(ADDRESSES);
    expect(found.addresses.map((listed) => listed.name)).toEqual([name, name, name, 'MADE UP EXCHANGE']);
  });

  it('ignores the namespace and its prefix', async () => {
    const text = (await fixture('sdn.xml'))
      .toString()
      .replaceAll(/<(\/?)(?=[a-zA-Z])/g, '<$1o:')
      .replace('xmlns="https', 'xmlns:o="http');
    expect((await read(text)).addresses).toHaveLength(4);
  });

  it.each(['sdn-advanced.xml', 'sdn.xml'])('refuses a truncated %s', async (file) => {
    const whole = await fixture(file);
    for (const part of [0.1, 0.5, 0.9, 0.999])
      await expect(read(whole.subarray(0, Math.floor(whole.length * part)), 512)).rejects.toThrow('not well-formed');
  });

  it('refuses an export with fewer entries than it declares', async () => {
    const text = (await fixture('sdn.xml')).toString().replace('<Record_Count>3<', '<Record_Count>17000<');
    await expect(read(text)).rejects.toThrow('it declares 17000 entries, but has 3');
  });

  it('refuses an empty address', async () => {
    const text = (await fixture('sdn.xml')).toString().replace('1MadeUpBitcoinAddressXXXXXXXXXXXX1', ' ');
    await expect(read(text)).rejects.toThrow('an address with the label XBT is empty');
  });

  it.each([
    ['an HTML page', '<html><body>Service unavailable</body></html>', 'its root element is html'],
    ['an empty file', '', 'document must contain a root element'],
    ['bytes that are not UTF-8', Buffer.from([0x3c, 0x61, 0xff, 0xfe]), 'not UTF-8'],
  ])('refuses %s', async (_name, content, problem) => {
    await expect(read(content)).rejects.toThrow(problem);
  });
});
