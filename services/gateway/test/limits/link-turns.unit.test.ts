import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LinkTurns } from '../../src/limits/link-turns.ts';

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

describe('Changes of payment links', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('come one at a time, few wait for theirs, and for two seconds; another link has its turn', async () => {
    const turns = new LinkTurns();
    const { begin, counts, end } = transactions();
    await begin(100, (work) => turns.run('plink_1', work));
    expect(counts).toEqual({ underWay: 1, refused: 67 });
    await begin(1, (work) => turns.run('plink_2', work));
    expect(counts).toEqual({ underWay: 2, refused: 67 });
    await jest.advanceTimersByTimeAsync(2_000);
    expect(counts).toEqual({ underWay: 2, refused: 99 });
    await end();
  });
});
