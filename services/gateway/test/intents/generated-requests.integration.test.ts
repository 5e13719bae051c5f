import fc from 'fast-check';
import { OPERATIONS } from '@pf/contracts';
import { openApiDocument } from '@pf/contracts/openapi';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiClient, apiClient, type Cluster, startCluster } from '@pf/testing';
import { Requests } from './generated-requests.ts';

/** In some 40 s; another run sends others. */
const REQUESTS = 4_000;
/** Concurrent requests. */
const TOGETHER = 20;
const WALLETS = [
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
];

describe('requests generated from the OpenAPI document', () => {
  let cluster: Cluster;
  let api: ApiClient;
  beforeAll(async () => {
    cluster = await startCluster();
    // Without rate limits: this client sends as many requests as others in an hour.
    const [gateway] = await Promise.all([
      cluster.start('gateway', { env: { RATE_LIMIT_FACTOR: '1000' } }),
      cluster.start('intent'),
    ]);
    api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
  });
  afterAll(() => cluster.close());

  it(`never return a 5xx or an undocumented response (${REQUESTS} requests)`, async () => {
    const body = { chain: 'eip155:84532', token: 'USDC', amount: '1', requestor: WALLETS[0] };
    const made = await Promise.all(Array.from({ length: 30 }, () => api.create(body)));
    const intents = made.map(({ body: { intent } }) => intent);
    const requests = new Requests(openApiDocument(Object.values(OPERATIONS), '/v1'), {
      id: intents.map(({ id }) => id),
      // What is named twice comes twice as often: of many operations, enough requests have to be valid.
      chain: [
        'eip155:84532',
        'eip155:84532',
        'eip155:84532',
        'eip155:8453',
        'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
        'eip155:1',
      ],
      token: ['USDC', 'USDC', 'USDC', 'usdc', 'EURC', 'DOGE', intents[0]?.tokenAddress],
      amount: ['1', '0.000001', '12.50', '100', '0', '1e3', '18446744073709.551615'],
      requestor: WALLETS,
      fulfiller: WALLETS,
      direction: ['request', 'send'],
      updatedAt: intents.map(({ updatedAt }) => updatedAt),
      reference: intents.map(({ reference }) => reference),
      intentId: intents.map(({ id }) => id),
      cursor: [(await api.list('limit=1')).body.nextCursor],
      limit: [1, 7, 100],
    });
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(requests.any(), { minLength: TOGETHER, maxLength: TOGETHER }), async (together) => {
        // The client checks each response against the document.
        const responses = await Promise.all(
          together.map(({ method, path, body: sent }) => api.request(method, path, sent)),
        );
        for (const { status } of responses) statuses.set(status, (statuses.get(status) ?? 0) + 1);
        responses.forEach(({ status, body: answered }, place) => {
          // A chain without a working upstream is a documented 503.
          if (status >= 500 && answered.error?.code !== 'rpc.unavailable')
            throw new Error(`${status} for ${JSON.stringify(together[place])}`);
        });
      }),
      // Requests have lasting effects, so a failing sequence cannot be shrunk; the report has its seed.
      { numRuns: REQUESTS / TOGETHER, endOnFailure: true },
    );
    // Some requests were valid. Of the many operations few create something, so that about twelve of 4,000 do.
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 404, 409, 422]));
  });
});
