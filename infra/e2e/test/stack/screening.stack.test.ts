import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from '@jest/globals';
import { apiClient, pf, readStack, until } from '@pf/testing';

const stack = readStack();
const api = apiClient(stack.baseUrl, stack.apiKeys.test);
const randomWallet = (): string => `0x${randomBytes(20).toString('hex')}`;

describe('screening in the local stack', () => {
  afterAll(() => pf('sanctions', 'provider', 'up'));

  const wallets = Object.entries(stack.sanctionedAddresses).flatMap(([name, addresses]) =>
    addresses.map((address) => [name, address] as const),
  );

  it('has sanctioned wallets for every chain, on the list and at the provider', () => {
    expect(Object.keys(stack.sanctionedAddresses).sort()).toEqual(Object.keys(stack.chains).sort());
    for (const addresses of Object.values(stack.sanctionedAddresses))
      expect(addresses.length).toBeGreaterThanOrEqual(2);
  });

  it.each(wallets)('rejects a sanctioned wallet on %s: %s', async (name, address) => {
    const client = name === 'baseLive' ? apiClient(stack.baseUrl, stack.apiKeys.live) : api;
    const { status, body } = await client.create({
      chain: stack.chains[name]?.caip2,
      token: 'USDC',
      amount: '1',
      requestor: address,
    });
    expect([status, body.error]).toMatchObject([422, { code: 'address.sanctions_match', param: 'requestor' }]);
  });

  it('returns 503 while the provider is unavailable, and recovers with it', async () => {
    const create = (requestor = randomWallet()) =>
      api.create({ chain: 'eip155:84532', token: 'USDC', amount: '1', requestor });
    expect(await pf('sanctions', 'provider', 'down')).toMatchObject({ status: 'down' });
    const refused = await create();
    expect([refused.status, refused.body.error?.code]).toEqual([503, 'screening.unavailable']);
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    await pf('sanctions', 'provider', 'up');
    await until('creates to pass again', async () => (await create()).status === 201);
  });
});
