import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startSanctionsProvider } from '@pf/testing/sanctions-provider';
import { runPf } from '../../src/index.ts';

const FIXTURES = path.join(import.meta.dirname, '../../../screening/test/fixtures');
const SMALL = ['--at-least', '1'];

describe('pf sanctions', () => {
  let data: string;
  let list: string;
  beforeEach(async () => {
    data = await mkdtemp(path.join(tmpdir(), 'pf-'));
    list = path.join(data, 'list.json');
  });
  afterEach(() => rm(data, { recursive: true }));

  const pf = async (...args: string[]) => {
    let out = '';
    let errors = '';
    const code = await runPf(args, {
      environment: { PF_DATA: data, SCREENING_LIST_FILE: list },
      write: (text) => (out += text),
      writeError: (text) => (errors += text),
    });
    return { code, out, errors };
  };
  const update = (from: string, ...more: string[]) => pf('sanctions', 'update', '--from', from, ...more);
  const fixture = (name: string): string => path.join(FIXTURES, name);
  /** A copy of the small export without what belongs to a party. */
  async function without(address: string): Promise<string> {
    const file = path.join(data, 'shorter.xml');
    await writeFile(
      file,
      (await readFile(fixture('sdn.xml'), 'utf8')).replace(
        new RegExp(`<id>\\s*<uid>\\d+</uid>\\s*<idType>[^<]*</idType>\\s*<idNumber>${address}</idNumber>\\s*</id>`),
        '',
      ),
    );
    return file;
  }

  it.each(['sdn.xml', 'sdn-advanced.xml'])('import writes the list of %s and reports what is new', async (name) => {
    const { code, out } = await update(fixture(name), ...SMALL);
    expect(code).toBe(0);
    expect(out).toContain('now has 4 addresses, as published on 2026-11-05: 4 added, 0 removed.');
    expect(out).toContain('SOL   GMRoaytLGHyTLWCvHnfFP8aPYNjvrTYyu4QvazbjCVoB');
    expect((await update(fixture(name), ...SMALL)).out).toContain('0 added, 0 removed.');
  });

  it('import rejects an export with suspiciously few addresses unless it is confirmed', async () => {
    const refused = await update(fixture('sdn.xml'));
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.errors).toContain('it has 4 digital currency addresses, but should have at least 400');
    await update(fixture('sdn.xml'), ...SMALL);
    const before = await readFile(list, 'utf8');
    const fewer = await without('GMRoaytLGHyTLWCvHnfFP8aPYNjvrTYyu4QvazbjCVoB');
    expect((await update(fewer, ...SMALL)).errors).toContain(
      'it has 3 digital currency addresses, but the list in use has 4',
    );
    expect(await readFile(list, 'utf8')).toBe(before);
    expect((await update(fewer, ...SMALL, '--force')).out).toContain('0 added, 1 removed.');
  });

  it('import keeps the old list when the export is truncated or missing', async () => {
    await update(fixture('sdn.xml'), ...SMALL);
    const before = await readFile(list, 'utf8');
    const half = path.join(data, 'half.xml');
    await writeFile(half, (await readFile(fixture('sdn-advanced.xml'), 'utf8')).slice(0, 3_000));
    expect((await update(half, ...SMALL)).errors).toContain('is not a complete export of the SDN list');
    expect((await update(path.join(data, 'none.xml'))).errors).toContain('cannot be read');
    expect(await readFile(list, 'utf8')).toBe(before);
  });

  it('check finds an address, EVM addresses in any letter case', async () => {
    await update(fixture('sdn.xml'), ...SMALL);
    expect((await pf('sanctions', 'check', '0xE41AF7140EC2C863B4EA98139A59A4587E81BF6C')).out).toContain(
      'is on the list: Jane DOE (uid 90001, as USDC).',
    );
    expect((await pf('sanctions', 'check', '0x0000000000000000000000000000000000000001')).out).toContain(
      'is not on the list.',
    );
    expect(
      JSON.parse((await pf('sanctions', 'check', '0x0000000000000000000000000000000000000001', '--json')).out),
    ).toMatchObject({ listed: false, entries: [] });
  });

  it('status prints the age of the list and warns when it is too old', async () => {
    expect((await pf('sanctions', 'status')).errors).toContain('Create the list with `pf sanctions update`');
    await update(fixture('sdn.xml'), ...SMALL);
    expect((await pf('sanctions', 'status')).out).toMatch(/^4 addresses.*\nIt is valid until/);
    await writeFile(
      list,
      (await readFile(list, 'utf8')).replace(/"fetchedAt":"[^"]*"/, '"fetchedAt":"2026-01-01T00:00:00.000Z"'),
    );
    expect((await pf('sanctions', 'status')).out).toContain(
      'It expired at 2026-01-03 00:00:00 UTC: every screening fails. Run: pf sanctions update',
    );
    await copyFile(fixture('sdn.xml'), list);
    expect((await pf('sanctions', 'status')).errors).toContain('is not a sanctions list');
  });

  it('provider stops and restarts the provider of the local stack', async () => {
    expect((await pf('sanctions', 'provider', 'down')).errors).toContain(
      'No local stack with a sanctions provider is running',
    );
    const provider = await startSanctionsProvider({ apiKey: 'key', sanctioned: [] });
    await writeFile(
      path.join(data, 'stack.json'),
      JSON.stringify({
        database: 'postgresql://pf@127.0.0.1:1/pf',
        sanctions: { listFile: list, providerUrl: provider.url, apiKey: 'key' },
      }),
    );
    expect((await pf('sanctions', 'provider', 'down')).out).toContain('is down');
    expect(provider.mode).toBe('down');
    expect((await pf('sanctions', 'provider', 'status')).out).toContain('pf sanctions provider up');
    expect(JSON.parse((await pf('sanctions', 'provider', 'up', '--json')).out)).toEqual({
      url: provider.url,
      status: 'up',
    });
    expect(provider.mode).toBe('up');
    await provider.close();
    expect((await pf('sanctions', 'provider', 'up')).errors).toContain('does not respond');
  });
});
