import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PaymentClient } from '@pf/client';
import { openAccount } from '@pf/database';
import { checkedFetch, type Cluster, startCluster } from '@pf/testing';

const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const BASE = 'eip155:84532';

describe('the sponsors of an account', () => {
  let cluster: Cluster;
  let url: string;
  let client: PaymentClient;
  beforeAll(async () => {
    cluster = await startCluster();
    url = `${(await cluster.start('gateway')).url}/v1`;
    client = clientWith(cluster.apiKeys.test);
  });
  afterAll(() => cluster.close());
  const clientWith = (apiKey: string) =>
    new PaymentClient({ baseUrl: url, apiKey, maxRetries: 0, fetch: checkedFetch(url) });

  it('are set, replaced, listed and removed, without their secrets', async () => {
    const first = await client.sponsors.set(DEVNET, {
      url: 'http://kora.example:8080/rpc/path-secret?key=query-secret',
      headers: { 'x-api-key': 'header-secret', Authorization: 'Bearer other-secret' },
    });
    expect(first).toEqual({
      chain: DEVNET,
      origin: 'http://kora.example:8080',
      headers: ['Authorization', 'x-api-key'],
      context: [],
      updatedAt: expect.any(String),
      livemode: false,
    });
    expect(await client.sponsors.list()).toEqual([first]);
    const { rows } = await cluster.database.sql.query<{ row: string }>(
      `SELECT s::text || encode(ciphertext, 'escape') AS row FROM service.sponsors s`,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toMatch(/secret|kora\.example|api-key/);

    // With a test key, a live chain is its testnet.
    const second = await client.sponsors.set(SOLANA, { url: 'https://kora.example' });
    expect(second).toMatchObject({ chain: DEVNET, origin: 'https://kora.example', headers: [] });
    expect(await client.sponsors.list()).toEqual([second]);
    await client.sponsors.remove(SOLANA);
    expect(await client.sponsors.list()).toEqual([]);
    await expect(client.sponsors.remove(DEVNET)).rejects.toMatchObject({ code: 'sponsor.not_found' });
    await expect(client.sponsors.remove('solana:nowhere')).rejects.toMatchObject({ code: 'sponsor.not_found' });
  });

  it('take a context where they are paymasters, and keep its values to themselves', async () => {
    const context = { policyId: 'context-secret', more: { of: 'it' } };
    const set = await client.sponsors.set(BASE, { url: 'https://paymaster.example', context });
    expect(set).toMatchObject({ origin: 'https://paymaster.example', context: ['more', 'policyId'] });
    expect(JSON.stringify(await client.sponsors.list())).not.toContain('context-secret');
    await client.sponsors.remove(BASE);
    await expect(client.sponsors.set(DEVNET, { url: 'https://kora.example', context })).rejects.toMatchObject({
      code: 'request.validation_failed',
      param: 'context',
      message: expect.stringContaining('leave it out'),
    });
  });

  it('are hidden from keys of other accounts', async () => {
    const { apiKeys } = await openAccount(cluster.database, cluster.secretsKey, { name: 'other' });
    const other = clientWith(apiKeys.test);
    const theirs = await other.sponsors.set(DEVNET, { url: 'https://kora.other.example' });
    expect(await client.sponsors.list()).toEqual([]);
    await expect(client.sponsors.remove(DEVNET)).rejects.toMatchObject({ code: 'sponsor.not_found' });
    expect(await clientWith(apiKeys.live).sponsors.list()).toEqual([]);
    expect(await other.sponsors.list()).toEqual([theirs]);
  });

  it('are refused with an invalid URL, and on an unknown chain', async () => {
    await expect(client.sponsors.set('solana:nowhere', { url: 'https://sponsor.example' })).rejects.toMatchObject({
      code: 'chain.not_available',
    });
    await expect(client.sponsors.set(DEVNET, { url: 'https://user:pw@sponsor.example' })).rejects.toMatchObject({
      param: 'url',
      message: expect.stringContaining('pass it as a header'),
    });
  });
});
