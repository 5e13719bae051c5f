import { describe, expect, it } from '@jest/globals';
import { newIntentId, WAIT_LIMITS } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import { Waits } from '../../src/limits/waits.ts';

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
    const own = await begun((_n, wait) => waits.test(account(1, false), wait));
    const test = await begun((n, wait) => waits.test(account(10 + n, false), wait));
    const live = await begun((n, wait) => waits.test(account(100 + n), wait));
    expect([own.count, own.count + test.count]).toEqual([tests.account, tests.test]);
    expect(own.count + test.count + live.count).toBe(tests.all);
    await waits.look(account(1), [newIntentId(0), '192.0.2.1'], async () => undefined);
    await own.end();
    await waits.test(account(1, false), async () => undefined);
    await Promise.all([test.end(), live.end()]);
  });

  it('have room for a few looks of an address for an intent, of an account, of test mode, and in all', async () => {
    const waits = new Waits();
    const { looks } = WAIT_LIMITS;
    const id = newIntentId(0);
    const address = await begun((_n, wait) => waits.look(account(1), [id, '192.0.2.1'], wait));
    const own = await begun((n, wait) => waits.look(account(1), [id, `198.51.100.${n}`], wait));
    const test = await begun((n, wait) => waits.look(account(10 + n, false), [id, `198.51.101.${n}`], wait));
    const live = await begun((n, wait) => waits.look(account(100 + n), [id, `198.51.102.${n}`], wait));
    expect([address.count, address.count + own.count, test.count]).toEqual([looks.address, looks.account, looks.test]);
    expect(address.count + own.count + test.count + live.count).toBe(looks.all);
    await Promise.all([address, own, test, live].map(({ end }) => end()));
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
      await expect(waits.test(account(1), () => Promise.reject(new Error('it failed')))).rejects.toThrow('it failed');
  });
});
