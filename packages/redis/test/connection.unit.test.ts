import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LONGEST_RETRY_MS, retryDelayMs } from '../src/connection.ts';

describe('The delay before a connection is retried', () => {
  it('doubles from 100 ms up to 1 s', () => {
    const longest = 1 - Number.EPSILON;
    expect([1, 2, 3, 4, 5, 6].map((attempt) => Math.round(retryDelayMs(attempt, longest)))).toEqual([
      100, 200, 400, 800, 1_000, 1_000,
    ]);
  });

  it('is between half of the longest and all of it, however many attempts have failed', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 5, max: 1_000_000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempt, random) => {
          const delay = retryDelayMs(attempt, random);
          expect(delay).toBeGreaterThanOrEqual(LONGEST_RETRY_MS / 2);
          expect(delay).toBeLessThanOrEqual(LONGEST_RETRY_MS);
        },
      ),
    );
  });
});
