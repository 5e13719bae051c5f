import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import express from 'express';
import { trustProxies } from '../src/trusted-proxies.ts';

describe('The number of trusted proxies', () => {
  /** @returns the addresses that the app has seen, and what it has logged */
  async function asked(
    trustedProxies: number,
    headers: readonly Record<string, string>[],
    { on, from }: { readonly on: string; readonly from: string } = { on: '127.0.0.1', from: '127.0.0.1' },
  ) {
    const warnings: string[] = [];
    const app = express();
    trustProxies(app, trustedProxies, { warn: (text: string) => void warnings.push(text) } as never);
    app.use(({ ip }, response) => void response.end(ip));
    const server = createServer(app).listen(0, on);
    await once(server, 'listening');
    const addresses: string[] = [];
    for (const sent of headers) {
      const url = `http://${from}:${(server.address() as AddressInfo).port}`;
      addresses.push(await (await fetch(url, { headers: { ...sent, connection: 'close' } })).text());
    }
    server.close();
    return { addresses, warnings };
  }

  it.each([['x-forwarded-for'], ['forwarded']])('warns once, where none is trusted, of %s', async (name) => {
    const { addresses, warnings } = await asked(0, [{}, { [name]: '192.0.2.1' }, { [name]: '192.0.2.2' }]);
    expect(addresses).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
    expect(warnings).toEqual([expect.stringContaining('Set TRUSTED_PROXIES')]);
  });

  it('warns of no other requests', async () => {
    expect((await asked(0, [{}, { 'x-request-id': 'one' }])).warnings).toEqual([]);
  });

  it('believes the header where one is trusted, and warns of nothing', async () => {
    const { addresses, warnings } = await asked(1, [{ 'x-forwarded-for': '203.0.113.9, 192.0.2.1' }]);
    expect([addresses, warnings]).toEqual([['192.0.2.1'], []]);
  });

  it.each([
    ['203.0.113.7:51234', '203.0.113.7'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[::ffff:192.0.2.1]:443', '192.0.2.1'],
    ['2001:db8::1:443', '2001:db8::1:443'],
    ['198.51.100.1:9, 203.0.113.7:51234', '203.0.113.7'],
  ])('takes the address of %s, without a port that a proxy adds', async (entry, address) => {
    expect(await asked(1, [{ 'x-forwarded-for': entry }])).toEqual({ addresses: [address], warnings: [] });
  });

  it('counts entries from the end, with ports on some of them', async () => {
    const headers = [{ 'x-forwarded-for': '198.51.100.1, 203.0.113.7:51234,[2001:db8::1]:443' }];
    expect((await asked(2, headers)).addresses).toEqual(['203.0.113.7']);
    expect((await asked(3, headers)).addresses).toEqual(['198.51.100.1']);
  });

  it.each(['unknown', '203.0.113.7:http', '999.0.0.1:80', '[nonsense]:443', '_hidden'])(
    'warns once of an entry that is no address: %s',
    async (entry) => {
      const { addresses, warnings } = await asked(1, [{}, { 'x-forwarded-for': entry }, { 'x-forwarded-for': entry }]);
      expect(addresses).toEqual(['127.0.0.1', entry, entry]);
      expect(warnings).toEqual([expect.stringContaining('is no IP address')]);
    },
  );

  it('has the IPv4 address of a client where the process listens on both families', async () => {
    expect((await asked(0, [{}], { on: '::', from: '127.0.0.1' })).addresses).toEqual(['127.0.0.1']);
    expect((await asked(0, [{}], { on: '::', from: '[::1]' })).addresses).toEqual(['::1']);
  });
});
