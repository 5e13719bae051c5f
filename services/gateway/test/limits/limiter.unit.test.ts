import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  BUILD_QUOTAS,
  CHAIN_QUOTAS,
  CHANGE_BYTES,
  CHANGE_QUOTAS,
  CREATE_QUOTAS,
  ENDPOINT_TEST_QUOTA,
  INTENT_QUOTA,
  KEY_QUOTAS,
  KEYS_AT_ONCE,
  LOOK_QUOTAS,
  NEW_ENDPOINT_QUOTA,
  newIntentId,
  PAYER_ADDRESS_QUOTA,
  PAYER_ADDRESS_SHARE,
  PAYER_CHAIN_SHARE,
  REPEATED_BUILD_QUOTAS,
  REPLAY_QUOTA,
  RETRY_QUOTA,
  SUBMIT_QUOTAS,
} from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import { RedisClient } from '@pf/redis';
import { createLogger } from '@pf/runtime';
import type { Holder } from '../../src/api-keys.ts';
import { Limiter } from '../../src/limits/limiter.ts';
import { RateLimits } from '../../src/limits/rate-limits.ts';
import { SharedBuckets } from '../../src/limits/shared-buckets.ts';

const log = createLogger('test', 'silent');
// It is not opened: each limiter counts by itself.
const redis = new RedisClient('redis://127.0.0.1:1', { log, withoutRedis: 'nothing changes' });
const key: Holder = {
  keyId: 'key_1',
  accountId: 'acct_1' as AccountId,
  livemode: false,
  scope: 'full',
  plan: 'free',
  expiresAt: null,
};

describe('Limiter', () => {
  let limiter: Limiter;
  let headers: Map<string, string>;
  const response = { setHeader: (name: string, value: string) => headers.set(name, value) } as never;
  beforeEach(() => {
    limiter = new Limiter(new RateLimits(new SharedBuckets(redis, '')));
    headers = new Map();
    // Nothing is filled up again meanwhile.
    jest.spyOn(performance, 'now').mockReturnValue(1_000);
  });
  afterEach(() => void jest.restoreAllMocks());
  afterAll(() => redis.close());

  const intent = () => ({ access: 'client_secret' as const, intentId: newIntentId(0), livemode: false });
  const codeOf = (admitted: Promise<void>): Promise<string> =>
    admitted.then(
      () => 'admitted',
      ({ code }: { readonly code: string }) => code,
    );
  const pay = (opened: ReturnType<typeof intent>, ip: string) => codeOf(limiter.admitPayer(opened, { ip }, response));
  const times = async (count: number, admit: (n: number) => Promise<string>): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (let n = 0; n < count; n++) {
      const code = await admit(n);
      counts[code] = (counts[code] ?? 0) + 1;
    }
    return counts;
  };

  it('limits an address with client secrets, whatever the number of intents, and each mode by itself', async () => {
    const { requests } = PAYER_ADDRESS_QUOTA;
    const counts = await times(requests + 50, () => pay(intent(), '192.0.2.1'));
    expect(counts['rate_limit.exceeded']).toBeGreaterThan(0);
    expect(counts['admitted']).toBeGreaterThanOrEqual(requests);
    expect(headers.get('RateLimit')).toMatch(/^"address";r=0;t=\d+$/);
    expect(await pay(intent(), '192.0.2.2')).toBe('admitted');
    expect(await pay({ ...intent(), livemode: true }, '192.0.2.1')).toBe('admitted');
  });

  it('limits the /48 of IPv6 addresses to what 16 addresses may, whatever its networks', async () => {
    // One request a minute for an address.
    limiter = new Limiter(new RateLimits(new SharedBuckets(redis, '')), 1 / PAYER_ADDRESS_QUOTA.requests);
    const counts = await times(100, (n) => pay(intent(), `2001:db8:1:${n.toString(16)}::1`));
    expect(counts['rate_limit.exceeded']).toBeGreaterThan(60);
    expect(counts['admitted']).toBeGreaterThanOrEqual(16);
    expect(await pay(intent(), '2001:db8:1:ffff::1')).toBe('rate_limit.exceeded');
    expect(await pay(intent(), '2001:db8:2:ffff::1')).toBe('admitted');
  });

  it('has a budget of builds for the /48 of IPv6 addresses', async () => {
    const id = newIntentId(0);
    const build = (ip: string) => codeOf(limiter.admitBuild(id, { ...key, scope: 'client_secret' }, ip));
    const most = BUILD_QUOTAS.address.requests * 16;
    // Each network stays within its share, which does not count for the intent.
    const counts = await times(most + 100, (n) => build(`2001:db8:1:${n.toString(16)}::1`));
    expect(counts['admitted']).toBeGreaterThanOrEqual(most);
    expect(counts['intent.too_many_builds']).toBeGreaterThan(0);
    expect(await build('2001:db8:2::1')).toBe('admitted');
  });

  it('limits an intent with its client secret, and leaves its share to an address that asks little', async () => {
    const opened = intent();
    const addresses = Math.ceil(
      (INTENT_QUOTA.requests * 2) / (PAYER_ADDRESS_QUOTA.requests - PAYER_ADDRESS_SHARE.requests),
    );
    const counts = await times(addresses * PAYER_ADDRESS_QUOTA.requests, (n) =>
      pay(opened, `198.51.100.${n % addresses}`),
    );
    expect(counts['rate_limit.exceeded']).toBeGreaterThan(0);
    expect(headers.get('RateLimit-Policy')).toBe('"address";q=600;w=60, "intent";q=1200;w=60');
    expect(await pay(opened, '203.0.113.1')).toBe('admitted');
    expect(await pay(intent(), '203.0.113.1')).toBe('admitted');
  });

  it('takes nothing from a key of the account for what payers do', async () => {
    const opened = intent();
    await times(3_000, (n) => pay(opened, `198.51.100.${n % 250}`));
    await limiter.admit(key, { ip: '198.51.100.1' }, response);
    expect(headers.get('RateLimit')).toBe('"key";r=5999;t=1');
  });

  it('limits all keys of an account in a mode to four times the quota of one, and says so', async () => {
    // Sixty requests a minute for a key.
    limiter = new Limiter(new RateLimits(new SharedBuckets(redis, '')), 60 / KEY_QUOTAS.free.requests);
    const ask = (n: number, change: Partial<Holder> = {}) =>
      codeOf(limiter.admit({ ...key, keyId: `key_${n}`, ...change }, { ip: '198.51.100.1' }, response));
    const counts = await times(50 * 60, (n) => ask(n % 50));
    expect(counts['admitted']).toBeGreaterThanOrEqual(60 * KEYS_AT_ONCE);
    expect(counts['admitted']).toBeLessThan(60 * KEYS_AT_ONCE * 2);
    expect(headers.get('RateLimit-Policy')).toBe('"account";q=240;w=60');
    // Nor does a new key help, or a person in the dashboard.
    await expect(limiter.admit({ ...key, keyId: 'key_new' }, { ip: undefined }, response)).rejects.toThrow(
      'This account, with all its API keys of this mode, has exceeded its rate limit of 240 requests in 60 seconds.',
    );
    expect(await ask(0, { keyId: 'usr_1', userId: 'usr_1' })).toBe('rate_limit.exceeded');
    expect(await ask(0, { keyId: 'key_live', livemode: true })).toBe('admitted');
    expect(await ask(0, { keyId: 'key_other', accountId: 'acct_2' as AccountId })).toBe('admitted');
    expect(await ask(0, { keyId: 'key_payer', scope: 'payer' })).toBe('admitted');
  });

  it('limits all payer keys of an account together, and an address whatever the number of keys', async () => {
    limiter = new Limiter(new RateLimits(new SharedBuckets(redis, '')), 60 / KEY_QUOTAS.free.requests);
    const ask = (n: number, ip: string, change: Partial<Holder> = {}) =>
      codeOf(limiter.admit({ ...key, scope: 'payer', keyId: `key_${n}`, ...change }, { ip }, response));
    const ofOneAddress = await times(50, (n) => ask(n, '192.0.2.1'));
    expect(ofOneAddress['admitted']).toBeLessThan(15);
    // Each address has a share of one request, which counts for no key.
    const counts = await times(50 * 60, (n) => ask(n % 50, `198.51.${n % 5}.${Math.floor(n / 15)}`));
    expect(counts['admitted']).toBeGreaterThanOrEqual(60 * KEYS_AT_ONCE);
    expect(counts['admitted']).toBeLessThan(1_000 + 60 * KEYS_AT_ONCE * 2);
    expect(headers.get('RateLimit-Policy')).toBe('"address";q=6;w=60, "account";q=240;w=60');
    expect(await ask(99, '203.0.113.1')).toBe('admitted');
    expect(await ask(99, '203.0.113.1')).toBe('rate_limit.exceeded');
    for (const change of [{ livemode: true }, { accountId: 'acct_2' as AccountId }, { scope: 'full' as const }])
      expect(await ask(100, '203.0.113.1', change)).toBe('admitted');
  });

  it('limits what payers of an account ask the chains for, and leaves each address a share', async () => {
    const payer: Holder = { ...key, scope: 'client_secret' };
    const { requests } = CHAIN_QUOTAS.free;
    const most = requests * KEYS_AT_ONCE;
    const addresses = 50;
    const ask = (ip: string, holder = payer, n = 0) =>
      codeOf(limiter[n % 2 === 0 ? 'admitBuild' : 'admitSubmit'](newIntentId(0), holder, ip));
    const counts = await times(most * 10, (n) => ask(`198.51.100.${n % addresses}`, payer, n));
    expect(counts['admitted']).toBeGreaterThanOrEqual(most);
    expect(counts['admitted']).toBeLessThan(most * 2 + addresses * PAYER_CHAIN_SHARE.requests);
    expect(await times(PAYER_CHAIN_SHARE.requests, () => ask('203.0.113.1'))).toEqual({
      admitted: PAYER_CHAIN_SHARE.requests,
    });
    expect(await ask('203.0.113.1')).toBe('rate_limit.exceeded');
    for (const change of [{ livemode: true }, { accountId: 'acct_2' as AccountId }, { scope: 'full' as const }])
      expect(await ask('198.51.100.1', { ...payer, ...change })).toBe('admitted');
  });

  it('has a budget of builds for an intent and for each address of its payers', async () => {
    const { intentId } = intent();
    const build = (ip: string, scope: Holder['scope'] = 'client_secret') =>
      codeOf(limiter.admitBuild(intentId, { ...key, scope }, ip));
    const { address, intent: all, share } = BUILD_QUOTAS;
    expect(await times(address.requests + 1, () => build('192.0.2.1'))).toEqual({
      admitted: address.requests,
      'intent.too_many_builds': 1,
    });
    expect(await build('192.0.2.1', 'solana_pay_token')).toBe('intent.too_many_builds');
    await times(all.requests * 10, (n) => build(`198.51.100.${n % 100}`));
    // Others have used the intent's up: an address still has its share.
    expect(await times(share.requests, () => build('203.0.113.1'))).toEqual({ admitted: share.requests });
    expect(await build('203.0.113.1')).toBe('intent.too_many_builds');
    expect(await build('203.0.113.1', 'full')).toBe('intent.too_many_builds');
    const other = newIntentId(0);
    expect(await codeOf(limiter.admitBuild(other, key, '203.0.113.1'))).toBe('admitted');
  });

  it.each([
    ['submits', SUBMIT_QUOTAS, 'admitSubmit', 'rate_limit.exceeded'],
    ['looks for hashes', LOOK_QUOTAS, 'admitLook', 'rate_limit.exceeded'],
    ['repeated builds', REPEATED_BUILD_QUOTAS, 'admitRepeatedBuild', 'intent.too_many_builds'],
  ] as const)('has a budget of %s for an intent and for each of its addresses', async (_what, quotas, admit, code) => {
    const { intentId } = intent();
    const by = (ip: string, scope: Holder['scope'] = 'client_secret') =>
      codeOf(limiter[admit](intentId, { ...key, scope }, ip));
    const { address, intent: all, share } = quotas;
    expect(await times(address.requests + 1, () => by('192.0.2.1'))).toEqual({
      admitted: address.requests,
      [code]: 1,
    });
    await times(all.requests * 10, (n) => by(`198.51.100.${n % 100}`));
    expect(await times(share.requests, () => by('203.0.113.1'))).toEqual({ admitted: share.requests });
    expect(await by('203.0.113.1')).toBe(code);
    expect(await by('203.0.113.1', 'full')).toBe(code);
    // Builds have another.
    expect(await codeOf(limiter.admitBuild(intentId, key, '203.0.113.1'))).toBe('admitted');
  });

  it('limits what an account asks the chains for in a mode, for all intents, and not what its payers do', async () => {
    const { requests } = CHAIN_QUOTAS.free;
    const ask = (holder: Holder, n: number): Promise<string> =>
      codeOf(limiter[n % 2 === 0 ? 'admitBuild' : 'admitLook'](newIntentId(0), holder, '203.0.113.1'));
    const counts = await times(requests * 2, (n) => ask({ ...key, keyId: `key_${n}` }, n));
    expect(counts['admitted']).toBeLessThan(requests * 2);
    expect(counts['rate_limit.exceeded']).toBeGreaterThan(0);
    expect(await ask({ ...key, livemode: true }, 0)).toBe('admitted');
    expect(await ask({ ...key, accountId: 'acct_2' as AccountId }, 0)).toBe('admitted');
    expect(await ask({ ...key, scope: 'client_secret' }, 0)).toBe('admitted');
  });

  it.each([
    ['new payment intents', CREATE_QUOTAS.free, 'admitCreate'],
    ['changes of payment intents', CHANGE_QUOTAS.free, 'admitChange'],
    ['payment intents that its payers begin', CREATE_QUOTAS.free, 'admitChoice'],
    ['test events', ENDPOINT_TEST_QUOTA, 'admitTest'],
    ['deliveries sent again', RETRY_QUOTA, 'admitRetry'],
    ['replays of deliveries', REPLAY_QUOTA, 'admitReplay'],
    ['new webhook endpoints', NEW_ENDPOINT_QUOTA, 'admitEndpoint'],
  ] as const)('has a budget of %s for an account in each mode', async (_what, { requests }, admit) => {
    expect(await times(requests + 1, () => codeOf(limiter[admit](key)))).toEqual({
      admitted: requests,
      'rate_limit.exceeded': 1,
    });
    expect(await codeOf(limiter[admit]({ ...key, livemode: true }))).toBe('admitted');
    expect(await codeOf(limiter[admit]({ ...key, accountId: 'acct_2' as AccountId }))).toBe('admitted');
  });

  it('counts a change once for each 4 KiB of the metadata that the intent then has', async () => {
    const { requests } = CHANGE_QUOTAS.free;
    const change = async (metadata: Record<string, string> | null): Promise<void> => {
      await limiter.admitChange(key);
      await limiter.countSize(key, metadata);
    };
    const ofBytes = (bytes: number) => ({ note: 'n'.repeat(bytes - '{"note":""}'.length) });
    const counted = async (metadata: Record<string, string> | null, times: number): Promise<void> => {
      for (let n = 0; n < times; n++) await change(metadata);
    };
    await counted(ofBytes(CHANGE_BYTES), 100);
    await counted(null, 100);
    await counted({ note: '🪙'.repeat(CHANGE_BYTES / 2) }, 100);
    await counted(ofBytes(10 * CHANGE_BYTES + 1), 100);
    const left = requests - 100 - 100 - 300 - 1_100;
    expect(await times(left + 1, () => codeOf(limiter.admitChange(key)))).toEqual({
      admitted: left,
      'rate_limit.exceeded': 1,
    });
  });

  it('admits the last change of the quota, whatever its size, and owes nothing', async () => {
    const { requests } = CHANGE_QUOTAS.free;
    for (let n = 1; n < requests; n++) await limiter.admitChange(key);
    await limiter.admitChange(key);
    await limiter.countSize(key, { note: 'n'.repeat(10 * CHANGE_BYTES) });
    expect(await codeOf(limiter.admitChange(key))).toBe('rate_limit.exceeded');
    // One is filled up again.
    jest.spyOn(performance, 'now').mockReturnValue(1_000 + (1_000 * CHANGE_QUOTAS.free.windowSeconds) / requests);
    expect(await codeOf(limiter.admitChange(key))).toBe('admitted');
  });

  it('says when to build again', async () => {
    const { intentId } = intent();
    const build = () => limiter.admitBuild(intentId, { ...key, scope: 'payer' }, '192.0.2.1');
    for (let n = 0; n < BUILD_QUOTAS.address.requests; n++) await build();
    await expect(build()).rejects.toMatchObject({
      status: 429,
      details: { intent_id: intentId, retry_after: expect.any(Number) },
      headers: { 'Retry-After': expect.stringMatching(/^\d+$/) },
    });
  });
});
