import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { errorResponse } from '@pf/contracts';
import { createKey, setPlan } from '@pf/database';
import { RedisClient } from '@pf/redis';
import { createLogger, TokenBucket } from '@pf/runtime';
import {
  type Cluster,
  type Instance,
  readBackingStack,
  startCluster,
  startTcpProxy,
  type TcpProxy,
  until,
  via,
} from '@pf/testing';
import fc from 'fast-check';
import { RateLimits, type Standing } from '../../src/limits/rate-limits.ts';
import { SharedBuckets } from '../../src/limits/shared-buckets.ts';

describe('TokenBucket', () => {
  it('gives at most its size plus the refill, and refills completely', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 1, max: 40 })), { maxLength: 60 }),
        (calls) => {
          const quota = { requests: 20, windowSeconds: 2 };
          const bucket = new TokenBucket(quota, 0);
          let now = 0;
          let given = 0;
          for (const [later, wanted] of calls) {
            now += later;
            const { tokens, left, nextMs } = bucket.take(wanted, now);
            given += tokens;
            expect(given).toBeLessThanOrEqual(20 + now / 100 + 1e-6);
            expect(tokens === wanted || left === 0).toBe(true);
            expect(nextMs).toBeGreaterThan(0);
            expect(nextMs).toBeLessThanOrEqual(100 + 1e-6);
          }
          expect(bucket.take(100, now + 2_000).tokens).toBe(20);
        },
      ),
    );
  });
});

describe('rate limits of two gateways', () => {
  const log = createLogger('test', 'silent');
  let proxy: TcpProxy;
  const links: RedisClient[] = [];
  /** No test of what is shared may fail because a busy machine made Redis late. */
  const PATIENT_MS = 20_000;
  /** The rate limits of a gateway that is connected to Redis. */
  const gateway = async (url: string, commandTimeoutMs?: number): Promise<RateLimits> => {
    const link = new RedisClient(url, {
      log,
      withoutRedis: 'each counts by itself',
      ...(commandTimeoutMs && { commandTimeoutMs }),
    });
    links.push(link);
    link.open();
    await until('Redis', () => link.publish('pf:test', ''));
    return new RateLimits(new SharedBuckets(link, 'test:'));
  };
  const count = async (
    limits: RateLimits,
    name: string,
    requests: number,
    times: number,
    windowSeconds = 3_600,
  ): Promise<readonly Standing[]> => {
    const standings: Standing[] = [];
    // A few concurrent requests at a time.
    for (let n = 0; n < times; n += 4)
      standings.push(
        ...(await Promise.all(Array.from({ length: 4 }, async () => limits.count(name, { requests, windowSeconds })))),
      );
    return standings;
  };
  const allowed = (standings: readonly Standing[]): number => standings.filter((standing) => standing.allowed).length;

  beforeAll(async () => {
    proxy = await startTcpProxy(new URL(readBackingStack().redis).host);
  });
  afterEach(() => {
    for (const link of links.splice(0)) link.close();
  });
  afterAll(() => proxy.close());

  it('allow together the quota of a key, and say when the next request is allowed', async () => {
    const { redis } = readBackingStack();
    const [one, other] = [await gateway(redis, PATIENT_MS), await gateway(redis, PATIENT_MS)];
    const name = randomUUID();
    // One more is allowed every 90 s: not while this test runs.
    const [windowSeconds, nextMs] = [36_000, 90_000];
    const both = [
      await count(one, name, 400, 300, windowSeconds),
      await count(other, name, 400, 300, windowSeconds),
      await count(one, name, 400, 40, windowSeconds),
    ].flat();
    expect(allowed(both)).toBe(400);
    const refused = both.filter((standing) => !standing.allowed);
    for (const { left, retryMs } of refused) expect([left, retryMs > 0 && retryMs <= nextMs]).toEqual([0, true]);
    expect(both[0]?.left).toBeGreaterThan(390);
  });

  it('query Redis less often the faster requests come', async () => {
    const limits = await gateway(via(readBackingStack().redis, proxy.address), PATIENT_MS);
    const taken = jest.spyOn(SharedBuckets.prototype, 'take');
    const name = randomUUID();
    expect(allowed(await count(limits, name, 6_000, 1_000))).toBe(1_000);
    expect(taken.mock.calls.length).toBeLessThan(100);
    taken.mockRestore();
  });

  it.each(['cut', 'freeze'] as const)(
    'are counted per gateway while Redis is unavailable (%s), and together afterwards',
    async (how) => {
      const limits = await gateway(via(readBackingStack().redis, proxy.address));
      const taken = jest.spyOn(SharedBuckets.prototype, 'take');
      // On a busy machine Redis may be late, and what is not counted together takes from what is counted locally.
      let name = '';
      for (let results: readonly unknown[] = [null]; results.includes(null);) {
        taken.mockClear();
        name = randomUUID();
        expect(allowed(await count(limits, name, 100, 40, 400))).toBe(40);
        results = await Promise.all(taken.mock.results.map(({ value }) => value as Promise<unknown>));
      }
      taken.mockRestore();
      await proxy[how]();
      const began = performance.now();
      const meanwhile = await count(limits, name, 100, 200, 400);
      const seconds = (performance.now() - began) / 1_000;
      expect(seconds).toBeLessThan(15);
      // The rest of its last lease, a local bucket, and the refill.
      expect(allowed(meanwhile)).toBeGreaterThanOrEqual(100);
      expect(allowed(meanwhile)).toBeLessThanOrEqual(104 + seconds / 4);
      await proxy.restore();
      // Requests counted locally do not reach the shared bucket, which still has its 60.
      await until(
        'Redis to be asked again',
        async () => (await limits.count(name, { requests: 100, windowSeconds: 400 })).left > 30,
      );
    },
  );
});

describe('rate limits of the API', () => {
  let cluster: Cluster;
  let gateway: Instance;
  beforeAll(async () => {
    cluster = await startCluster();
    // 12 requests a minute on the free plan, 240 on scale, and 1 for an address with a payer's key.
    gateway = await cluster.start('gateway', { env: { RATE_LIMIT_FACTOR: '0.002', TRUSTED_PROXIES: '1' } });
  });
  afterAll(() => cluster.close());
  const ask = (key: string | null, path = '/webhooks', headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/v1${path}`, {
      headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...headers },
    });

  it('are reported in headers of every response to a valid key, and enforced with 429', async () => {
    const responses: Response[] = [];
    for (let n = 0; n < 14; n++)
      responses.push(await ask(cluster.apiKeys.test, n === 3 ? '/intents/pi_none' : '/webhooks'));
    expect(responses.map(({ status }) => status).slice(0, 12)).toEqual([
      200,
      200,
      200,
      404,
      ...Array<number>(8).fill(200),
    ]);
    for (const { headers } of responses) {
      expect(headers.get('ratelimit-policy')).toBe('"key";q=12;w=60');
      expect(headers.get('ratelimit')).toMatch(/^"key";r=\d+;t=\d+$/);
    }
    expect(responses[0]?.headers.get('ratelimit')).toMatch(/^"key";r=11;t=5$/);
    const refused = responses.find(({ status }) => status === 429);
    const { error } = errorResponse.parse(await refused?.json());
    expect(error).toMatchObject({
      code: 'rate_limit.exceeded',
      param: null,
      details: { retry_after: expect.any(Number) },
    });
    expect(refused?.headers.get('retry-after')).toBe(String(error.details?.['retry_after']));
    expect(refused?.headers.get('ratelimit')).toBe(`"key";r=0;t=${String(error.details?.['retry_after'])}`);
    expect(error.details?.['retry_after']).toBeLessThanOrEqual(5);
    // Each key has its own quota; responses without a valid key have no RateLimit headers.
    expect((await ask(cluster.apiKeys.live)).status).toBe(200);
    const elsewhere = { 'x-forwarded-for': '192.0.2.1' };
    expect((await ask(null, '/webhooks', elsewhere)).headers.get('ratelimit')).toBeNull();
  });

  it('are higher on a higher plan', async () => {
    await setPlan(cluster.database, cluster.accountId, 'scale');
    const { key } = await createKey(cluster.database, { accountId: cluster.accountId, livemode: false });
    expect((await ask(key)).headers.get('ratelimit-policy')).toBe('"key";q=240;w=60');
  });

  it('limit one client address of a payer’s key without affecting others', async () => {
    const proxied = await cluster.start('gateway', { env: { RATE_LIMIT_FACTOR: '0.005', TRUSTED_PROXIES: '1' } });
    const { key } = await createKey(cluster.database, {
      accountId: cluster.accountId,
      livemode: false,
      scope: 'payer',
    });
    const from = (address: string) =>
      fetch(`${proxied.url}/v1/intents/pi_none`, {
        headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': address },
      });
    const responses: Response[] = [];
    for (let n = 0; n < 5; n++) responses.push(await from('198.51.100.7'));
    expect(responses.map(({ status }) => status).slice(0, 3)).toEqual([404, 404, 404]);
    const refused = responses.find(({ status }) => status === 429);
    expect(refused?.headers.get('ratelimit-policy')).toBe('"address";q=3;w=60, "key";q=600;w=60');
    expect(refused?.headers.get('ratelimit')).toMatch(/^"address";r=0;t=\d+$/);
    expect((await from('198.51.100.8')).status).toBe(404);
  });

  it('let payers pay at addresses that ask little, after others have used the quota of their key up', async () => {
    // 30 requests a minute of the key, 3 of an address, of which one is its share.
    const env = { RATE_LIMIT_FACTOR: '0.005', TRUSTED_PROXIES: '1' };
    const proxied = await cluster.start('gateway', { env });
    // 'scale' would be 600 of the key.
    await setPlan(cluster.database, cluster.accountId, 'free');
    const { key } = await createKey(cluster.database, {
      accountId: cluster.accountId,
      livemode: false,
      scope: 'payer',
    });
    const from = async (address: string): Promise<number> =>
      (
        await fetch(`${proxied.url}/v1/intents/pi_none`, {
          headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': address },
        })
      ).status;
    const statuses: number[] = [];
    for (let n = 0; n < 20; n++) for (let m = 0; m < 3; m++) statuses.push(await from(`198.51.100.${n}`));
    expect(statuses).toContain(429);
    // The key is allowed one more every 2 s: on a slow machine some addresses get it beside their share.
    let second = 404;
    for (let quiet = 1; second !== 429; quiet++) {
      expect(quiet).toBeLessThan(200);
      expect(await from(`203.0.113.${quiet}`)).toBe(404);
      second = await from(`203.0.113.${quiet}`);
    }
  });

  it('count a request with a client secret for its intent and address, and for no key', async () => {
    const proxied = await cluster.start('gateway', { env: { RATE_LIMIT_FACTOR: '0.005', TRUSTED_PROXIES: '1' } });
    await cluster.start('intent');
    const [mine, others] = await Promise.all(
      [1, 2].map(() => createKey(cluster.database, { accountId: cluster.accountId, livemode: false })),
    );
    const headersFor = (credential: string, address: string) => ({
      authorization: `Bearer ${credential}`,
      'content-type': 'application/json',
      'x-forwarded-for': address,
    });
    const created = await fetch(`${proxied.url}/v1/intents`, {
      method: 'POST',
      headers: headersFor(others?.key ?? '', '203.0.113.9'),
      body: JSON.stringify({
        chain: 'eip155:84532',
        token: 'USDC',
        amount: '1',
        requestor: '0x1111111111111111111111111111111111111111',
      }),
    });
    const { intent, clientSecret } = (await created.json()) as { intent: { id: string }; clientSecret: string };
    const payFrom = (address: string) =>
      fetch(`${proxied.url}/v1/intents/${intent.id}`, { headers: headersFor(clientSecret, address) });
    const keysLeft = async (): Promise<string | null> =>
      (await fetch(`${proxied.url}/v1/intents`, { headers: headersFor(mine?.key ?? '', '203.0.113.9') })).headers.get(
        'ratelimit',
      );
    const before = Number(/r=(\d+)/.exec((await keysLeft()) ?? '')?.[1]);
    const responses: Response[] = [];
    for (let n = 0; n < 20; n++) responses.push(await payFrom(`198.51.100.${n % 5}`));
    const codes = new Set(responses.map(({ status }) => status));
    expect(codes).toEqual(new Set([200, 429]));
    expect(responses[0]?.headers.get('ratelimit-policy')).toBe('"address";q=3;w=60, "intent";q=6;w=60');
    expect((await payFrom('198.51.100.99')).status).toBe(200);
    expect(Number(/r=(\d+)/.exec((await keysLeft()) ?? '')?.[1])).toBeGreaterThanOrEqual(before - 1);
  });
});
