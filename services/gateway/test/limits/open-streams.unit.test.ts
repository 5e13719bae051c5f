import { describe, expect, it } from '@jest/globals';
import { STREAM_LIMITS } from '@pf/contracts';
import type { AccountId, IntentId } from '@pf/domain';
import type { Holder } from '../../src/api-keys.ts';
import { OpenStreams } from '../../src/limits/open-streams.ts';

const holder = (keyId: string, change: Partial<Holder> = {}): Holder => ({
  keyId,
  accountId: 'acct_1' as AccountId,
  livemode: true,
  scope: 'full',
  plan: 'free',
  expiresAt: null,
  ...change,
});
/** Opens streams until one is refused. */
const opened = (streams: OpenStreams, open: (n: number) => [Holder, string | undefined]): number => {
  for (let n = 0; ; n++) {
    try {
      streams.open(...open(n));
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limit.exceeded', status: 429 });
      return n;
    }
  }
};

describe('OpenStreams', () => {
  const ipOf = (n: number): string => `198.51.${Math.floor(n / 250)}.${n % 250}`;
  const other = (n: number): Partial<Holder> => ({ accountId: `acct_${n}` as AccountId });

  it('has a limit for each address, test mode, and in all', () => {
    expect(opened(new OpenStreams(), (n) => [holder(`key_${n}`, other(n)), '192.0.2.1'])).toBe(STREAM_LIMITS.address);
    const all = new OpenStreams();
    const test = opened(all, (n) => [holder(`key_${n}`, { ...other(n), livemode: false }), ipOf(n)]);
    const { reserve } = STREAM_LIMITS;
    expect(test).toBe(STREAM_LIMITS.test + reserve.test);
    expect(opened(all, (n) => [holder(`key_${n}`, other(n)), `203.0.${Math.floor(n / 250)}.${n % 250}`])).toBe(
      STREAM_LIMITS.all - STREAM_LIMITS.test + reserve.live,
    );
  });

  it.each([
    ['live', STREAM_LIMITS.all],
    ['test', STREAM_LIMITS.test],
  ] as const)(
    'has a reserve in %s mode for accounts and addresses with few, where two accounts hold all',
    (mode, most) => {
      const streams = new OpenStreams();
      const livemode = mode === 'live';
      // Of each account half of what it has is its payers', from addresses of a botnet.
      const held = opened(streams, (n) => [
        holder('key', { ...other(n % 2), livemode, scope: n % 4 < 2 ? 'full' : 'payer' }),
        ipOf(n),
      ]);
      expect(held).toBe(most);
      const { each } = STREAM_LIMITS.reserve;
      const third = { ...other(3), livemode };
      expect(opened(streams, (n) => [holder('key', third), `192.0.2.${n}`])).toBe(each);
      expect(opened(streams, (n) => [holder('key', { ...other(10 + n), livemode }), '203.0.113.1'])).toBe(each);
      expect(() => streams.open(holder('key', { ...other(0), livemode }), '203.0.113.2')).toThrow(
        'as many event streams',
      );
    },
  );

  it('has limits for an account, of its keys, of its payers and of both, so that it never takes all', () => {
    const streams = new OpenStreams();
    const keys = opened(streams, (n) => [holder(`key_${n % 50}`), ipOf(n)]);
    expect(keys).toBe(STREAM_LIMITS.keys);
    // What its payers hold has room all the same.
    const payers = opened(streams, (n) => [holder(`key_${n % 50}`, { scope: 'payer' }), ipOf(n)]);
    expect(keys + payers).toBe(STREAM_LIMITS.account.live);
    expect(opened(new OpenStreams(), (n) => [holder(`key_${n % 50}`, { scope: 'payer' }), ipOf(n)])).toBe(
      STREAM_LIMITS.payers,
    );
    const intents = new OpenStreams();
    const payer = (n: number) => ({ scope: 'client_secret', intentId: `pi_${n}` as IntentId }) as const;
    expect(opened(intents, (n) => [holder(`pi_${n}`, payer(n)), ipOf(n)])).toBe(STREAM_LIMITS.payers);
    expect(opened(intents, (n) => [holder(`key_${n}`, { livemode: false }), `203.0.${n % 9}.1`])).toBe(
      STREAM_LIMITS.account.test,
    );
    expect(() => streams.open(holder('key', other(2)), '192.0.2.1')).not.toThrow();
  });

  it('has a limit for the /48 of IPv6 addresses: that of 16 addresses', () => {
    const streams = new OpenStreams();
    const count = opened(streams, (n) => [holder(`key_${n}`, other(n)), `2001:db8:1:${n.toString(16)}::1`]);
    expect(count).toBe(Math.min(STREAM_LIMITS.address * 16, STREAM_LIMITS.all));
  });

  it('counts people by themselves, not by the address of the dashboard', () => {
    const streams = new OpenStreams();
    for (let n = 0; n < STREAM_LIMITS.address + 10; n++)
      streams.open(holder(`usr_${n} acct_1`, { userId: `usr_${n}` }), '10.0.0.7');
    expect(() => streams.open(holder('key'), '10.0.0.7')).not.toThrow();
  });

  it('makes room once for a stream that is closed', () => {
    const streams = new OpenStreams(1 / STREAM_LIMITS.keys);
    const close = streams.open(holder('key'), '192.0.2.1');
    expect(() => streams.open(holder('key'), '192.0.2.2')).toThrow(
      'This account, with all its API keys of this mode, has as many event streams',
    );
    close();
    close();
    streams.open(holder('key'), '192.0.2.1');
    expect(() => streams.open(holder('key'), '192.0.2.2')).toThrow('This account, with all its API keys');
  });
});
