import { CLOCK_TOLERANCE_MS } from '@pf/domain';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { judge, leadOf, narrowed } from '../src/lead.ts';

const ms = (max: number) => fc.double({ min: 0, max, noNaN: true });

describe('The lead of a clock', () => {
  it('is in the interval of every reading, wherever in the round trip the reference read its clock', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -7_200_000, max: 7_200_000 }),
        ms(5_000),
        ms(5_000),
        ms(1e9),
        (lead, before, after, start) => {
          // True times; the wall clock is ahead by `lead`, the steady clock began at 0.
          const moment = (at: number) => ({ wall: Math.floor(at + lead), steady: at - start });
          const shown = Math.floor(start + before);
          const { least, most } = leadOf(moment(start), moment(start + before + after), shown);
          expect(least).toBeLessThanOrEqual(lead);
          expect(most).toBeGreaterThanOrEqual(lead);
          expect(most - least).toBeLessThanOrEqual(before + after + 4);
        },
      ),
    );
  });

  it('is measured by the clock after a step, if the wall clock is stepped during the round trip', () => {
    const { least, most } = leadOf({ wall: 1_000, steady: 0 }, { wall: 3_601_010, steady: 10 }, 1_005);
    expect([least, most]).toEqual([3_599_994, 3_600_006]);
  });

  it('is narrowed by a second reading, unless the two contradict each other', () => {
    expect(narrowed({ least: -900, most: 100 }, { least: -20, most: 4_000 })).toEqual({ least: -20, most: 100 });
    expect(narrowed({ least: -900, most: 100 }, { least: 101, most: 200 })).toBeNull();
  });

  it('is evaluated as a whole: right within the tolerance, wrong outside of it, unproven across its edge', () => {
    const edge = CLOCK_TOLERANCE_MS;
    expect(judge({ least: -edge, most: edge })).toBe('right');
    expect(judge({ least: -edge - 1, most: edge })).toBe('unproven');
    expect(judge({ least: -edge, most: edge + 1 })).toBe('unproven');
    expect(judge({ least: edge + 1, most: edge + 10 })).toBe('wrong');
    expect(judge({ least: -edge - 10, most: -edge - 1 })).toBe('wrong');
  });
});
