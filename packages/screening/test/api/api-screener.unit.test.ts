import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '@pf/runtime';
import { type SanctionsProvider, startSanctionsProvider } from '@pf/testing/sanctions-provider';
import { ApiScreener, createScreening, ScreeningUnavailableError } from '../../src/index.ts';

const MINUTE_MS = 60_000;
const CLEAN = '0x5A9C1A2b3C4D5E6f708192A3b4C5d6e7F8091a2b';
const SANCTIONED = '0xE41Af7140ec2C863b4eA98139a59A4587E81bf6c';
const evm = (address: string) => ({ chain: 'eip155:8453', address });
const numbered = (n: number) => evm(`0x${n.toString(16).padStart(40, '0')}`);

describe('The screener by HTTP API', () => {
  let provider: SanctionsProvider;
  let now: number;
  const opened: ApiScreener[] = [];
  beforeEach(async () => {
    provider = await startSanctionsProvider({ apiKey: 'right', sanctioned: [SANCTIONED] });
    now = Date.now();
  });
  afterEach(async () => {
    // First the one at the other end: requests that hang end with it.
    await provider.close();
    await Promise.all(opened.splice(0).map((part) => part.close()));
  });
  const open = (more: Partial<ConstructorParameters<typeof ApiScreener>[0]> = {}): ApiScreener => {
    const part = new ApiScreener({
      url: provider.url,
      key: 'right',
      log: createLogger('test', 'silent'),
      now: () => now,
      timeoutMs: 10_000,
      ...more,
    });
    opened.push(part);
    return part;
  };

  it('asks by the path and key of Chainalysis, EVM addresses in lower case', async () => {
    expect(await open().find(evm(SANCTIONED))).toMatchObject({ part: 'api', label: 'sanctions' });
    expect(provider.asked).toEqual([SANCTIONED.toLowerCase()]);
  });

  it('caches a clean result for ten minutes and not longer, whatever the case of the address', async () => {
    const part = open();
    for (const address of [CLEAN, CLEAN.toLowerCase()]) expect(await part.find(evm(address))).toBeNull();
    now += 10 * MINUTE_MS - 1;
    expect(await part.find(evm(CLEAN))).toBeNull();
    expect(provider.asked).toHaveLength(1);
    now += 2;
    await part.find(evm(CLEAN));
    expect(provider.asked).toHaveLength(2);
  });

  it('never remembers a match', async () => {
    const part = open();
    for (let n = 0; n < 3; n += 1) expect(await part.find(evm(SANCTIONED))).not.toBeNull();
    expect(provider.asked).toHaveLength(3);
  });

  it('never remembers a failure, and still knows who was clean', async () => {
    const part = open();
    await part.find(evm(CLEAN));
    provider.mode = 'error';
    await expect(part.find(numbered(1))).rejects.toThrow(ScreeningUnavailableError);
    expect(await part.find(evm(CLEAN))).toBeNull();
    provider.mode = 'up';
    expect(await part.find(numbered(1))).toBeNull();
  });

  it('asks once for all who want to know the same at the same time', async () => {
    const part = open();
    const answers = await Promise.all(Array.from({ length: 50 }, () => part.find(evm(SANCTIONED))));
    expect(answers.every((answer) => answer !== null)).toBe(true);
    expect(provider.asked).toHaveLength(1);
  });

  it.each(['down', 'error', 'garbage', 'limited'] as const)(
    'is unavailable if the provider is in the mode "%s"',
    async (mode) => {
      provider.mode = mode;
      await expect(open().find(evm(CLEAN))).rejects.toThrow(ScreeningUnavailableError);
    },
  );

  it('is unavailable if the provider hangs', async () => {
    provider.mode = 'hang';
    await expect(open({ timeoutMs: 50 }).find(evm(CLEAN))).rejects.toMatchObject({
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
      const part = open({ key, url: url.startsWith('http') ? url : `${provider.url}${url}` });
      await expect(part.find(evm(CLEAN))).rejects.toMatchObject({
        cause: { message: expect.stringContaining(says) as unknown },
      });
    },
  );

  it('stops requests to a provider that does not respond, and probes it later', async () => {
    const part = open();
    provider.mode = 'error';
    for (let n = 0; n < 10; n += 1) await expect(part.find(numbered(n))).rejects.toThrow(ScreeningUnavailableError);
    expect(provider.asked).toHaveLength(3);
    provider.mode = 'up';
    await expect(part.find(evm(CLEAN))).rejects.toMatchObject({ retryAfterSeconds: 1 });
    now += 1_000;
    expect(await part.find(evm(CLEAN))).toBeNull();
    expect(await part.find(numbered(1))).toBeNull();
    expect(provider.asked).toHaveLength(5);
  });

  it('waits a second, not longer, where many were under way when it went away', async () => {
    const part = open();
    provider.mode = 'error';
    const answers = await Promise.allSettled(Array.from({ length: 100 }, (_, n) => part.find(numbered(n))));
    expect(answers.every(({ status }) => status === 'rejected')).toBe(true);
    provider.mode = 'up';
    now += 1_000;
    expect(await part.find(evm(CLEAN))).toBeNull();
  });

  it('refuses at once what would have to wait for too many others', async () => {
    const part = open();
    provider.mode = 'hang';
    const waiting = Array.from({ length: 256 }, (_, n) => part.find(numbered(n)).catch(() => 'refused'));
    await expect(part.find(evm(CLEAN))).rejects.toThrow('too many addresses wait');
    // What hangs ends with the other end.
    await provider.close();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['refused']));
    provider = await startSanctionsProvider({ apiKey: 'right', sanctioned: [] });
  });

  it('leaves a provider alone that asks for it, for as long as it says', async () => {
    const part = open();
    provider.mode = 'limited';
    await expect(part.find(evm(CLEAN))).rejects.toMatchObject({ retryAfterSeconds: 7 });
    provider.mode = 'up';
    now += 6_900;
    await expect(part.find(evm(CLEAN))).rejects.toMatchObject({ retryAfterSeconds: 1 });
    now += 100;
    expect(await part.find(evm(CLEAN))).toBeNull();
  });
});

describe('A screening by several screeners', () => {
  const part = (find: () => Promise<null | { part: 'list'; label: null; uid: null; name: null }>) => ({
    find,
    close: async () => undefined,
  });
  const knows = part(async () => ({ part: 'list', label: null, uid: null, name: null }));
  const knowsNothing = part(async () => null);
  const fails = part(() => Promise.reject(new Error('broken')));

  it.each([
    ['no part', [], 'clean'],
    ['all know nothing', [knowsNothing, knowsNothing], 'clean'],
    ['the last knows', [knowsNothing, knows], 'match'],
    ['the first knows, the other fails', [knows, fails], 'match'],
  ])('%s', async (_name, parts, kind) => {
    expect(await createScreening(parts).screen([numbered(1), numbered(2)])).toMatchObject({ kind });
  });

  it('is unavailable if any screener fails, however it fails', async () => {
    await expect(createScreening([knowsNothing, fails]).screen([numbered(1)])).rejects.toThrow(
      ScreeningUnavailableError,
    );
  });

  it('names the sanctioned wallet, even if another cannot be screened', async () => {
    let calls = 0;
    const half = part(async () => {
      calls += 1;
      if (calls === 1) throw new Error('broken');
      return { part: 'list', label: null, uid: null, name: null };
    });
    expect(await createScreening([half]).screen([numbered(1), numbered(2)])).toMatchObject({
      kind: 'match',
      wallet: numbered(2),
    });
  });
});
