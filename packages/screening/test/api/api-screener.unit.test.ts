import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger, recordTo } from '@pf/runtime';
import { until } from '@pf/testing';
import { type SanctionsProvider, startSanctionsProvider } from '@pf/testing/sanctions-provider';
import { ApiScreener, createScreening, ScreeningUnavailableError } from '../../src/index.ts';

const MINUTE_MS = 60_000;
const CLEAN = '0x5A9C1A2b3C4D5E6f708192A3b4C5d6e7F8091a2b';
const SANCTIONED = '0xE41Af7140ec2C863b4eA98139a59A4587E81bf6c';
const evm = (address: string) => ({ chain: 'eip155:8453', address });
const LIVE = { livemode: true, accountId: 'acct_1' };
const TEST = { livemode: false, accountId: 'acct_1' };
const numbered = (n: number) => evm(`0x${n.toString(16).padStart(40, '0')}`);

describe('ApiScreener', () => {
  let provider: SanctionsProvider;
  let now: number;
  const opened: ApiScreener[] = [];
  beforeEach(async () => {
    provider = await startSanctionsProvider({ apiKey: 'right', sanctioned: [SANCTIONED] });
    now = Date.now();
  });
  afterEach(async () => {
    // The provider first: that ends the requests that hang.
    await provider.close();
    await Promise.all(opened.splice(0).map((screener) => screener.close()));
  });
  const open = (more: Partial<ConstructorParameters<typeof ApiScreener>[0]> = {}): ApiScreener => {
    const screener = new ApiScreener({
      url: provider.url,
      key: 'right',
      log: createLogger('test', 'silent'),
      now: () => now,
      timeoutMs: 10_000,
      ...more,
    });
    opened.push(screener);
    return screener;
  };

  it('sends requests as to Chainalysis, with the API key and EVM addresses in lower case', async () => {
    expect(await open().find(evm(SANCTIONED), LIVE)).toMatchObject({ part: 'api', label: 'sanctions' });
    expect(provider.queriedAddresses).toEqual([SANCTIONED.toLowerCase()]);
  });

  it('caches a clean result for ten minutes and not longer, whatever the case of the address', async () => {
    const screener = open();
    for (const address of [CLEAN, CLEAN.toLowerCase()]) expect(await screener.find(evm(address), LIVE)).toBeNull();
    now += 10 * MINUTE_MS - 1;
    expect(await screener.find(evm(CLEAN), LIVE)).toBeNull();
    expect(provider.queriedAddresses).toHaveLength(1);
    now += 2;
    await screener.find(evm(CLEAN), LIVE);
    expect(provider.queriedAddresses).toHaveLength(2);
  });

  it('never caches a match', async () => {
    const screener = open();
    for (let n = 0; n < 3; n += 1) expect(await screener.find(evm(SANCTIONED), LIVE)).not.toBeNull();
    expect(provider.queriedAddresses).toHaveLength(3);
  });

  it('never caches a failure, but keeps cached clean results', async () => {
    const screener = open();
    await screener.find(evm(CLEAN), LIVE);
    provider.mode = 'error';
    await expect(screener.find(numbered(1), LIVE)).rejects.toThrow(ScreeningUnavailableError);
    expect(await screener.find(evm(CLEAN), LIVE)).toBeNull();
    provider.mode = 'up';
    expect(await screener.find(numbered(1), LIVE)).toBeNull();
  });

  it('sends one request for concurrent screenings of the same address', async () => {
    const screener = open();
    const findings = await Promise.all(Array.from({ length: 50 }, () => screener.find(evm(SANCTIONED), LIVE)));
    expect(findings.every((finding) => finding !== null)).toBe(true);
    expect(provider.queriedAddresses).toHaveLength(1);
  });

  it.each(['down', 'error', 'garbage', 'limited'] as const)(
    'is unavailable if the provider is in the mode "%s"',
    async (mode) => {
      provider.mode = mode;
      await expect(open().find(evm(CLEAN), LIVE)).rejects.toThrow(ScreeningUnavailableError);
    },
  );

  it('is unavailable if the provider hangs', async () => {
    provider.mode = 'hang';
    await expect(open({ timeoutMs: 50 }).find(evm(CLEAN), LIVE)).rejects.toMatchObject({
      cause: { message: expect.stringContaining('TimeoutError') as unknown },
    });
  });

  it.each([
    ['the key is wrong', { key: 'wrong' }, 'HTTP 403: it refuses the API key'],
    ['the path is wrong', { url: '/nowhere' }, 'HTTP 404'],
    ['the port is closed', { url: 'http://127.0.0.1:1' }, 'ECONNREFUSED'],
  ])(
    'is unavailable if %s, with the reason but without the key',
    async (_name, { key = 'right', url = '' }: { key?: string; url?: string }, says) => {
      const screener = open({ key, url: url.startsWith('http') ? url : `${provider.url}${url}` });
      await expect(screener.find(evm(CLEAN), LIVE)).rejects.toMatchObject({
        cause: { message: expect.stringContaining(says) as unknown },
      });
    },
  );

  it('stops requests to a provider that does not respond, and probes it later', async () => {
    const screener = open();
    provider.mode = 'error';
    for (let n = 0; n < 10; n += 1)
      await expect(screener.find(numbered(n), LIVE)).rejects.toThrow(ScreeningUnavailableError);
    expect(provider.queriedAddresses).toHaveLength(3);
    provider.mode = 'up';
    await expect(screener.find(evm(CLEAN), LIVE)).rejects.toMatchObject({ retryAfterSeconds: 1 });
    now += 1_000;
    expect(await screener.find(evm(CLEAN), LIVE)).toBeNull();
    expect(await screener.find(numbered(1), LIVE)).toBeNull();
    expect(provider.queriedAddresses).toHaveLength(5);
  });

  it('probes the provider after one second even if a hundred concurrent requests failed', async () => {
    const screener = open();
    provider.mode = 'error';
    const results = await Promise.allSettled(Array.from({ length: 100 }, (_, n) => screener.find(numbered(n), LIVE)));
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    provider.mode = 'up';
    now += 1_000;
    expect(await screener.find(evm(CLEAN), LIVE)).toBeNull();
  });

  it('refuses a screening at once if 256 addresses are waiting', async () => {
    const screener = open({ sharePerSecond: 100 });
    provider.mode = 'hang';
    const waiting = Array.from({ length: 256 }, (_, n) =>
      screener.find(numbered(n), { livemode: true, accountId: `acct_${n % 2}` }).catch(() => 'refused'),
    );
    await expect(screener.find(evm(CLEAN), { livemode: true, accountId: 'acct_2' })).rejects.toMatchObject({
      message: expect.stringContaining('too many addresses wait') as unknown,
      limited: false,
    });
    // Closing the provider ends the requests that hang.
    await provider.close();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['refused']));
    provider = await startSanctionsProvider({ apiKey: 'right', sanctioned: [] });
  });

  it('leaves others their part, however many addresses one account has waiting', async () => {
    const screener = open({ sharePerSecond: 100 });
    provider.mode = 'hang';
    const waiting = Array.from({ length: 128 }, (_, n) => screener.find(numbered(n), LIVE).catch(() => 'refused'));
    await expect(screener.find(evm(CLEAN), LIVE)).rejects.toMatchObject({ limited: true, retryAfterSeconds: 1 });
    waiting.push(screener.find(evm(CLEAN), { livemode: true, accountId: 'acct_2' }).catch(() => 'refused'));
    await until('the request of the other', () => provider.queriedAddresses.length > 0);
    await provider.close();
    await Promise.all(waiting);
    provider = await startSanctionsProvider({ apiKey: 'right', sanctioned: [] });
  });

  it('limits test mode, and is not unavailable, if 64 addresses of its accounts are waiting', async () => {
    const screener = open();
    provider.mode = 'hang';
    const waiting = Array.from({ length: 64 }, (_, n) =>
      screener.find(numbered(n), { livemode: false, accountId: `acct_${n}` }).catch(() => 'refused'),
    );
    await expect(screener.find(evm(CLEAN), TEST)).rejects.toMatchObject({ limited: true, retryAfterSeconds: 1 });
    await provider.close();
    await Promise.all(waiting);
    provider = await startSanctionsProvider({ apiKey: 'right', sanctioned: [] });
  });

  it('screens for live mode while test mode has failed, is limited or waits', async () => {
    const screener = open();
    for (const mode of ['error', 'limited'] as const) {
      provider.mode = mode;
      for (let n = 0; n < 5; n += 1)
        await expect(screener.find(numbered(n), TEST)).rejects.toThrow(ScreeningUnavailableError);
      provider.mode = 'up';
      await expect(screener.find(numbered(9), TEST)).rejects.toThrow('does not respond');
      expect(await screener.find(numbered(mode === 'error' ? 10 : 11), LIVE)).toBeNull();
      now += MINUTE_MS;
    }
    provider.mode = 'hang';
    const waiting = Array.from({ length: 100 }, (_, n) =>
      screener.find(numbered(n + 100), { livemode: false, accountId: `acct_${n}` }).catch(() => 'refused'),
    );
    await until('test mode to wait', () => provider.queriedAddresses.length > 0);
    provider.mode = 'up';
    expect(await screener.find(numbered(12), LIVE)).toBeNull();
    await provider.close();
    await Promise.all(waiting);
    provider = await startSanctionsProvider({ apiKey: 'right', sanctioned: [] });
  });

  it.each([
    ['test mode', { livemode: false, accountId: 'acct_1' }, { livemode: false, accountId: 'acct_2' }, LIVE],
    ['a live account', LIVE, LIVE, { livemode: true, accountId: 'acct_2' }],
  ])('asks the provider for the share of %s alone, whatever it wants', async (_whose, one, same, other) => {
    const screener = open({ cleanSeconds: 0, sharePerSecond: 20 });
    const asked = async (count: number): Promise<number> => {
      let clean = 0;
      for (let n = 0; n < count; n += 1)
        if ((await screener.find(numbered(n), one).catch(() => 'refused')) === null) clean += 1;
      return clean;
    };
    expect(await asked(150)).toBe(100);
    await expect(screener.find(evm(CLEAN), same)).rejects.toMatchObject({ limited: true, retryAfterSeconds: 1 });
    expect(await screener.find(evm(CLEAN), other)).toBeNull();
    now += 1_000;
    expect(await asked(50)).toBe(20);
  });

  it('sends no request before the time in the provider’s Retry-After', async () => {
    const screener = open();
    provider.mode = 'limited';
    await expect(screener.find(evm(CLEAN), LIVE)).rejects.toMatchObject({ retryAfterSeconds: 7 });
    provider.mode = 'up';
    now += 6_900;
    await expect(screener.find(evm(CLEAN), LIVE)).rejects.toMatchObject({ retryAfterSeconds: 1 });
    now += 100;
    expect(await screener.find(evm(CLEAN), LIVE)).toBeNull();
  });
});

describe('createScreening', () => {
  const screenerOf = (find: () => Promise<null | { part: 'list'; label: null; uid: null; name: null }>) => ({
    find,
    close: async () => undefined,
  });
  const sanctioned = screenerOf(async () => ({ part: 'list', label: null, uid: null, name: null }));
  const clean = screenerOf(async () => null);
  const fails = screenerOf(() => Promise.reject(new Error('broken')));

  it.each([
    ['clean', 'there is no screener', []],
    ['clean', 'all screeners return clean', [clean, clean]],
    ['match', 'the last screener finds a match', [clean, sanctioned]],
    ['match', 'the first finds a match and the other fails', [sanctioned, fails]],
  ])('returns %s if %s', async (kind, _condition, screeners) => {
    expect(await createScreening(screeners).screen([numbered(1), numbered(2)], LIVE)).toMatchObject({ kind });
  });

  it('is unavailable if any screener fails, however it fails', async () => {
    await expect(createScreening([clean, fails]).screen([numbered(1)], LIVE)).rejects.toThrow(
      ScreeningUnavailableError,
    );
  });

  it.each([
    ['limited', 'an account has too many screened', [true, true]],
    ['unavailable', 'a source does not respond to the second of too many', [true, false]],
    ['unavailable', 'a source does not respond to the first of too many', [false, true]],
  ])('records the verdict %s if %s', async (verdict, _condition, wallets) => {
    const verdicts: unknown[] = [];
    recordTo({ add: () => undefined, record: (_name, _value, labels) => verdicts.push(labels['verdict']) });
    const limits = wallets.values();
    const screener = screenerOf(() =>
      Promise.reject(new ScreeningUnavailableError('no result', { limited: limits.next().value === true })),
    );
    await expect(createScreening([screener]).screen([numbered(1), numbered(2)], LIVE)).rejects.toMatchObject({
      limited: verdict === 'limited',
    });
    recordTo(null);
    expect(verdicts).toEqual([verdict]);
  });

  it('names the sanctioned wallet, even if another cannot be screened', async () => {
    let calls = 0;
    const failsOnce = screenerOf(async () => {
      calls += 1;
      if (calls === 1) throw new Error('broken');
      return { part: 'list', label: null, uid: null, name: null };
    });
    expect(await createScreening([failsOnce]).screen([numbered(1), numbered(2)], LIVE)).toMatchObject({
      kind: 'match',
      wallet: numbered(2),
    });
  });
});
