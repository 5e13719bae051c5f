import { describe, expect, it } from '@jest/globals';
import { newIntentId, WAIT_LIMITS } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import { Waits } from '../../src/limits/waits.ts';

const ipOf = (n: number): string => `198.51.100.${n}`;
const account = (n: number, livemode = true) => ({ accountId: `acct_${n}` as AccountId, livemode });

/** Begins waits until one is refused. @returns how many began, and what ends them */
async function begun(
  begin: (n: number, wait: () => Promise<void>) => Promise<void>,
): Promise<{ readonly count: number; readonly end: () => Promise<void> }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const waits: Promise<void>[] = [];
  const end = async (): Promise<void> => {
    resolve();
    await Promise.all(waits);
  };
  for (let n = 0; ; n += 1) {
    const isIn = Promise.withResolvers<boolean>();
    const wait = begin(n, () => {
      isIn.resolve(true);
      return promise;
    });
    wait.catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'rate_limit.exceeded', status: 429, details: { retry_after: 5 } });
      isIn.resolve(false);
    });
    if (!(await isIn.promise)) return { count: n, end };
    waits.push(wait);
  }
}

describe('Waits', () => {
  it('have room for a few test events of an account, of test mode, and in all, and beside them for looks', async () => {
    const waits = new Waits();
    const { tests } = WAIT_LIMITS;
    const own = await begun((n, wait) => waits.test(account(1, false), ipOf(n), wait));
    const test = await begun((n, wait) => waits.test(account(10 + n, false), ipOf(10 + n), wait));
    const live = await begun((n, wait) => waits.test(account(100 + n), ipOf(100 + n), wait));
    expect([own.count, own.count + test.count]).toEqual([tests.account, tests.test]);
    expect(own.count + test.count + live.count).toBe(tests.all + tests.reserve);
    await waits.look(account(1), [newIntentId(0), '192.0.2.1'], async () => undefined);
    await own.end();
    await waits.test(account(1, false), '192.0.2.1', async () => undefined);
    await Promise.all([test.end(), live.end()]);
  });

  it('have room for a few looks of an address for an intent, of an account, of test mode, and in all', async () => {
    const waits = new Waits();
    const { looks } = WAIT_LIMITS;
    const id = newIntentId(0);
    const address = await begun((_n, wait) => waits.look(account(1), [id, ipOf(0)], wait));
    const own = await begun((n, wait) => waits.look(account(1), [id, ipOf(1 + n)], wait));
    const test = await begun((n, wait) => waits.look(account(10 + n, false), [id, ipOf(50 + n)], wait));
    const live = await begun((n, wait) => waits.look(account(100 + n), [id, ipOf(100 + n)], wait));
    expect([address.count, address.count + own.count, test.count]).toEqual([looks.intent, looks.account, looks.test]);
    expect(address.count + own.count + test.count + live.count).toBe(looks.all + looks.reserve);
    await Promise.all([address, own, test, live].map(({ end }) => end()));
  });

  it.each(['tests', 'looks'] as const)(
    'leave %s to others, whatever the accounts of an address or person',
    async (of) => {
      const begin = (waits: Waits, n: number, ip: string, userId?: string) => (wait: () => Promise<void>) => {
        const waiter = { ...account(n), ...(userId !== undefined && { userId }) };
        return of === 'tests' ? waits.test(waiter, ip, wait) : waits.look(waiter, [newIntentId(0), ip], wait);
      };
      const { caller } = WAIT_LIMITS[of];
      const waits = new Waits();
      const address = await begun((n, wait) => begin(waits, n, '192.0.2.1')(wait));
      const site = await begun((n, wait) => begin(waits, 100 + n, `2001:db8:0:${n.toString(16)}::1`)(wait));
      const person = await begun((n, wait) => begin(waits, 200 + n, '192.0.2.1', 'usr_1')(wait));
      expect([address.count, site.count, person.count]).toEqual([caller, 2 * caller, caller]);
      await Promise.all([address, site, person].map(({ end }) => end()));
    },
  );

  it('keep a place of the reserve for an account and address that have none of it', async () => {
    const waits = new Waits();
    const { tests } = WAIT_LIMITS;
    // Half as many accounts as places, each from an address of its own.
    const all = await begun((n, wait) => waits.test(account(n >> 1), ipOf(n >> 1), wait));
    expect(all.count).toBeGreaterThanOrEqual(tests.all);
    await waits.test(account(100), ipOf(100), async () => undefined);
    await all.end();
  });

  it('read two of the hashes of an account at a time, a few of a mode, and the others in line', async () => {
    const { reads } = WAIT_LIMITS;
    const waits = new Waits();
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const read = (name: string, n: number, livemode: boolean): Promise<void> =>
      waits.read(account(n, livemode), () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.push(resolve));
      });
    const asked = [
      ...Array.from({ length: 2 * reads.account }, () => read('one', 1, false)),
      ...Array.from({ length: reads.test }, (_, n) => read('others', 2 + n, false)),
      read('live', 1, true),
    ];
    await new Promise(setImmediate);
    const count = (name: string): number => begun.filter((one) => one === name).length;
    expect([count('one'), count('others'), count('live')]).toEqual([reads.account, reads.test - reads.account, 1]);
    for (let ended = 0; ended < asked.length; ended += 1) {
      ends[ended]?.();
      await new Promise(setImmediate);
    }
    await Promise.all(asked);
    expect([count('one'), count('others')]).toEqual([2 * reads.account, reads.test]);
  });

  it('refuse to read more hashes of an account than may wait', async () => {
    const waits = new Waits();
    const { promise, resolve } = Promise.withResolvers<void>();
    const asked = Array.from({ length: 66 }, () => waits.read(account(1), () => promise));
    await expect(waits.read(account(1), () => promise)).rejects.toMatchObject({ code: 'rate_limit.exceeded' });
    resolve();
    await Promise.all(asked);
  });

  it('give their room back where they fail', async () => {
    const waits = new Waits(0.1);
    for (let n = 0; n < 3; n += 1)
      await expect(waits.test(account(1), ipOf(1), () => Promise.reject(new Error('it failed')))).rejects.toThrow(
        'it failed',
      );
  });
});
