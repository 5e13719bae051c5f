import { describe, expect, it } from '@jest/globals';
import { Lack } from '../src/lack.ts';
import { LEARNED_MS } from '../src/pace.ts';

const MINUTE = 60_000;

describe('what an upstream lacks', () => {
  /** For how long it is known after it was learned at this time. */
  function knownFor(lack: Lack, now: number): number {
    lack.learned(now);
    const ends = [1, 2, 4, 8, 16, 32, 60].map((minutes) => minutes * MINUTE);
    return ends.find((ms) => !lack.isKnown(now + ms)) ?? Number.POSITIVE_INFINITY;
  }

  it('is known for a minute at first: behind one URL a single node may have responded so', () => {
    const lack = new Lack();
    expect(lack.isKnown(0)).toBe(false);
    expect(knownFor(lack, 0)).toBe(MINUTE);
  });

  it('is known for twice as long each time that it turns out again, for an hour at most', () => {
    const lack = new Lack();
    let now = 0;
    const times: number[] = [];
    for (let time = 0; time < 8; time += 1) {
      const ms = knownFor(lack, now);
      times.push(ms);
      now += ms;
    }
    expect(times).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((minutes) => minutes * MINUTE));
    expect(knownFor(lack, now + 2 * LEARNED_MS)).toBe(MINUTE);
  });

  it('is not known for longer because several calls learn it at once', () => {
    const lack = new Lack();
    lack.learned(0);
    lack.learned(1);
    expect(lack.isKnown(MINUTE)).toBe(false);
  });
});
