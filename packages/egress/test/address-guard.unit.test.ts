import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isPublicAddress } from '../src/address-guard.ts';
import type { Resolve } from '../src/resolver.ts';
import { createSender, type SendResult } from '../src/sender.ts';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.215.14',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:82a::200e',
  '168.63.129.17',
  '161.27.0.1',
  '166.12.0.1',
  '64:ff9b::8.8.8.8',
  '64:ff9b::5db8:d70e',
];
const NOT_PUBLIC: readonly (readonly [string, string])[] = [
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'this network'],
  ['10.0.0.1', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'carrier-grade NAT'],
  ['100.127.255.255', 'carrier-grade NAT'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['169.254.169.254', 'link-local: the metadata service of clouds'],
  ['168.63.129.16', 'Azure’s WireServer'],
  ['161.26.0.10', 'IBM Cloud’s service endpoints'],
  ['166.9.1.1', 'IBM Cloud’s service endpoints'],
  ['192.0.0.1', 'protocol assignments'],
  ['192.0.2.1', 'documentation'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['198.18.0.1', 'benchmarking'],
  ['192.88.99.1', '6to4 relay'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.250', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::ffff:127.0.0.1', 'mapped'],
  ['::ffff:169.254.169.254', 'mapped'],
  ['::ffff:8.8.8.8', 'mapped'],
  ['::127.0.0.1', 'IPv4-compatible'],
  ['::ffff:0:10.0.0.1', 'translated'],
  ['64:ff9b::a00:1', 'NAT64 of a private address'],
  ['64:ff9b::127.0.0.1', 'NAT64 of loopback'],
  ['64:ff9b::a9fe:a9fe', 'NAT64 of link-local'],
  ['64:ff9b::168.63.129.16', 'NAT64 of Azure’s WireServer'],
  ['64:ff9b::8.8.8.8%eth0', 'NAT64 with a zone'],
  ['64:ff9b::1:8.8.8.8', 'beside NAT64'],
  ['64:ff9b:1::8.8.8.8', 'local NAT64 of a public address'],
  ['64:ff9b:1::a00:1', 'local NAT64'],
  ['2002:7f00:1::', '6to4'],
  ['2001::1', 'Teredo'],
  ['2001:db8::1', 'documentation'],
  ['3fff::1', 'documentation'],
  ['fc00::1', 'unique local'],
  ['fd12:3456::1', 'unique local'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local with a zone'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['100::1', 'discard'],
  ['5f00::1', 'segment routing'],
  ['4000::1', 'unallocated'],
  ['not an address', 'nonsense'],
];

describe('isPublicAddress', () => {
  it.each(PUBLIC.map((address) => [address]))('accepts %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
  it.each(NOT_PUBLIC)('rejects %s (%s)', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('The guarded connection', () => {
  const server = createServer((_request, response) => response.writeHead(204).end());
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const send = async (url: string, allowPrivate: boolean, resolve?: Resolve): Promise<SendResult> => {
    const sender = createSender({ allowPrivate, ...(resolve && { resolve }) });
    try {
      return await sender.send(url, {}, Buffer.from('{}'));
    } finally {
      await sender.close();
    }
  };
  const refused = { kind: 'failed', reason: 'The host leads to an address that is not public.' };
  const resolvesTo =
    (...addresses: readonly string[]): Resolve =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

  it.each(['127.0.0.1', '127.1', '0x7f000001', '2130706433', '0177.0.0.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost'])(
    'refuses http://%s, a form of a loopback address',
    async (host) => {
      expect(await send(`http://${host}:${port}/`, false)).toEqual(refused);
    },
  );

  it('refuses https URLs too', async () => {
    expect(await send(`https://127.0.0.1:${port}/`, false)).toEqual(refused);
    expect(await send(`https://shop.example:${port}/`, false, resolvesTo('10.0.0.1'))).toEqual(refused);
  });

  it('refuses a name if one of its addresses is not public', async () => {
    expect(await send(`http://shop.example:${port}/`, false, resolvesTo('93.184.215.14', '127.0.0.1'))).toEqual(
      refused,
    );
  });

  it('resolves a name once per connection, so DNS rebinding gains nothing', async () => {
    let lookups = 0;
    const rebinding: Resolve = async () => {
      lookups += 1;
      return lookups === 1 ? [{ address: '127.0.0.1', family: 4 }] : [{ address: '169.254.169.254', family: 4 }];
    };
    expect(await send(`http://shop.example:${port}/`, true, rebinding)).toMatchObject({
      kind: 'response',
      status: 204,
    });
    expect(lookups).toBe(1);
  });

  it('connects to any address if private hosts are allowed', async () => {
    expect(await send(`http://127.0.0.1:${port}/`, true)).toMatchObject({ kind: 'response', status: 204 });
    expect(await send(`http://localhost:${port}/`, true)).toMatchObject({ kind: 'response', status: 204 });
  });
});
