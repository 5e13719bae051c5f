import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { AccountId } from '@pf/domain';
import { TransactionTurns } from '../../src/limits/transaction-turns.ts';

const ACCOUNT = { accountId: 'acct_1' as AccountId, livemode: false, scope: 'full' } as const;
const PAYER = { ...ACCOUNT, scope: 'payer' } as const;

/** Begins transactions that last until they are ended. */
function transactions() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const counts = { underWay: 0, refused: 0 };
  const results: Promise<unknown>[] = [];
  return {
    counts,
    /** @param run runs one when its turn comes */
    begin: (times: number, run: (work: () => Promise<void>) => Promise<void>) => {
      for (let n = 0; n < times; n += 1)
        results.push(
          run(() => {
            counts.underWay += 1;
            return promise;
          }).catch((error: unknown) => {
            expect(error).toMatchObject({ code: 'rate_limit.exceeded', status: 429, details: { retry_after: 1 } });
            counts.refused += 1;
          }),
        );
      return jest.advanceTimersByTimeAsync(1);
    },
    end: async () => {
      resolve();
      await Promise.all(results);
    },
  };
}

describe('Transactions', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('take two connections for an account at most, and one more for its payers', async () => {
    const turns = new TransactionTurns();
    const { begin, counts, end } = transactions();
    await begin(280, (work) => turns.run(ACCOUNT, work));
    expect(counts).toEqual({ underWay: 2, refused: 0 });
    await begin(100, (work) => turns.run(PAYER, work));
    expect(counts).toEqual({ underWay: 3, refused: 0 });
    for (const other of [
      { ...ACCOUNT, accountId: 'acct_2' as AccountId },
      { ...ACCOUNT, livemode: true },
    ])
      await begin(1, (work) => turns.run(other, work));
    expect(counts).toEqual({ underWay: 5, refused: 0 });
    await end();
    expect(counts).toEqual({ underWay: 382, refused: 0 });
  });

  it('are refused when their turn has not come within two seconds', async () => {
    const turns = new TransactionTurns();
    const { begin, counts, end } = transactions();
    await begin(10, (work) => turns.run(ACCOUNT, work));
    await jest.advanceTimersByTimeAsync(2_000);
    expect(counts).toEqual({ underWay: 2, refused: 8 });
    await end();
  });

  it('come one at a time for a payment link, few wait for it, and another link has its turn', async () => {
    const turns = new TransactionTurns();
    const { begin, counts, end } = transactions();
    await begin(100, (work) => turns.ofLink(ACCOUNT, 'plink_1', work));
    expect(counts).toEqual({ underWay: 1, refused: 67 });
    await begin(1, (work) => turns.ofLink(PAYER, 'plink_2', work));
    expect(counts).toEqual({ underWay: 2, refused: 67 });
    await end();
    expect(counts).toEqual({ underWay: 34, refused: 67 });
  });
});
