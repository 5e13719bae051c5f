import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LONGEST_DELAY_MS, MAX_ATTEMPTS, nextAttemptAt, parseRetryAfter, WINDOW_MS } from '../src/retry-schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const FIRST = Date.UTC(2026, 10, 21);

/**
 * The times of all attempts of a delivery that always fails, by each attempt's duration, Retry-After and random value.
 */
function attemptsOf(
  turns: readonly { readonly takesMs: number; readonly retryAfterMs: number | null; readonly random: number }[],
): number[] {
  const times = [FIRST];
  for (const [index, { takesMs, retryAfterMs, random }] of turns.entries()) {
    const at = (times[index] ?? FIRST) + takesMs;
    const next = nextAttemptAt({ number: index + 1, firstAttemptAt: FIRST, at, retryAfterMs }, random);
    if (next === null) break;
    expect(next).toBeGreaterThanOrEqual(at);
    times.push(next);
  }
  return times;
}

const turns = (retryAfterMs: fc.Arbitrary<number | null>) =>
  fc.array(
    fc.record({
      takesMs: fc.nat(15_000),
      retryAfterMs,
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    }),
    { minLength: 12, maxLength: 12 },
  );

describe('The retry schedule', () => {
  it('waits 1, 3, 9, 27, 81, 243, 729 minutes and then a day each time', () => {
    const times = attemptsOf(Array.from({ length: 12 }, () => ({ takesMs: 0, retryAfterMs: null, random: 0.5 })));
    expect(times.slice(1).map((time, index) => (time - (times[index] ?? 0)) / MINUTE)).toEqual([
      1, 3, 9, 27, 81, 243, 729, 1440, 1440,
    ]);
  });

  it('makes ten attempts within 72 hours, each wait within a fifth of its nominal length and never above a day', () => {
    fc.assert(
      fc.property(turns(fc.constant(null)), (all) => {
        const times = attemptsOf(all);
        expect(times).toHaveLength(MAX_ATTEMPTS);
        for (const [index, time] of times.slice(1).entries()) {
          const wait = time - ((times[index] ?? 0) + (all[index]?.takesMs ?? 0));
          const nominal = MINUTE * 3 ** index;
          expect(wait).toBeGreaterThanOrEqual(Math.floor(Math.min(nominal * 0.8, LONGEST_DELAY_MS)));
          expect(wait).toBeLessThanOrEqual(Math.ceil(Math.min(nominal * 1.2, LONGEST_DELAY_MS)));
        }
        expect((times.at(-1) ?? 0) - FIRST).toBeLessThanOrEqual(WINDOW_MS);
      }),
    );
  });

  it('honors Retry-After up to a day, and still ends 72 hours after the first attempt', () => {
    fc.assert(
      fc.property(turns(fc.option(fc.nat(10 * 24 * HOUR))), (all) => {
        const times = attemptsOf(all);
        expect(times.length).toBeLessThanOrEqual(MAX_ATTEMPTS);
        for (const [index, time] of times.slice(1).entries()) {
          const { takesMs = 0, retryAfterMs = null } = all[index] ?? {};
          const earliest = (times[index] ?? 0) + takesMs + Math.min(retryAfterMs ?? 0, LONGEST_DELAY_MS);
          expect(time).toBeGreaterThanOrEqual(Math.min(earliest, FIRST + WINDOW_MS));
          expect(time).toBeLessThanOrEqual(FIRST + WINDOW_MS);
        }
      }),
    );
    expect(
      nextAttemptAt({ number: 2, firstAttemptAt: FIRST, at: FIRST + 71 * HOUR, retryAfterMs: 24 * HOUR }, 0.5),
    ).toBe(FIRST + WINDOW_MS);
    expect(
      nextAttemptAt({ number: 3, firstAttemptAt: FIRST, at: FIRST + WINDOW_MS, retryAfterMs: null }, 0.5),
    ).toBeNull();
  });
});

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Sat, 21 Nov 2026 00:02:00 GMT', 120_000],
    ['Fri, 20 Nov 2026 00:00:00 GMT', 0],
    ['soon', null],
    ['-5', null],
    ['1.5e9', null],
    [null, null],
  ])('is parsed: %j as %j milliseconds', (header, expected) => {
    expect(parseRetryAfter(header, FIRST)).toBe(expected);
  });
});
