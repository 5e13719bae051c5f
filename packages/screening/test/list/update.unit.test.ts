import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { SanctionsList } from '../../src/list/list-file.ts';
import { changesBetween, fetchExport, listOf, suspicion } from '../../src/list/update.ts';

const listed = (n: number) => ({ address: `addr${n}`, label: 'XBT', uid: '1', name: 'LISTED' });
const list = (count: number, publishedOn: string | null = '2026-11-05'): SanctionsList =>
  listOf(
    { format: 'standard', publishedOn, parties: 1, addresses: Array.from({ length: count }, (_, n) => listed(n)) },
    'test',
    new Date('2026-11-21T00:00:00Z'),
  );

describe('A new sanctions list', () => {
  it.each([
    [
      'it has far too few addresses',
      list(399),
      null,
      'it has 399 digital currency addresses, but should have at least 400',
    ],
    [
      'more than a tenth of the addresses were removed',
      list(890),
      list(1_000),
      'it has 890 digital currency addresses, but the list in use has 1000',
    ],
    [
      'it is older than the former list',
      list(1_000, '2026-10-30'),
      list(1_000),
      'it was published on 2026-10-30, before the list in use (2026-11-05)',
    ],
  ])('is suspicious if %s', (_name, next, former, problem) => {
    expect(suspicion(next, former, 400)).toBe(problem);
  });

  it('is not suspicious if a few addresses were removed, or none changed', () => {
    expect([
      suspicion(list(950), list(1_000), 400),
      suspicion(list(1_000), list(1_000), 400),
      suspicion(list(400), null, 400),
    ]).toEqual([null, null, null]);
  });

  it('is compared with the former one: added, removed and malformed addresses', () => {
    const odd = { address: '0x12', label: 'ETH', uid: '2', name: 'TYPO' };
    const next = listOf(
      { format: 'standard', publishedOn: null, parties: 2, addresses: [listed(1), listed(1), listed(2), odd] },
      'test',
      new Date(),
    );
    expect(next.count).toBe(3);
    expect(changesBetween(list(2), next)).toEqual({ added: [listed(2), odd], removed: [listed(0)], odd: [odd] });
  });
});

describe('The download of a list', () => {
  it('says who asks', async () => {
    const agents: unknown[] = [];
    const server = createServer((request, response) => {
      agents.push(request.headers['user-agent']);
      response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await expect(fetchExport(url)).rejects.toThrow(`${url} returned HTTP 404`);
    await once(server.close(), 'close');
    expect(agents).toEqual(['PaymentIntents/1.0']);
  });
});
