import { describe, expect, it } from '@jest/globals';
import { growthOf } from '../../src/soak/flatness.ts';

describe('the growth of a figure over a run', () => {
  it('compares the last third with the one before it', () => {
    expect(growthOf([10, 50, 90, 100, 100, 100, 110, 110, 110])).toEqual({ before: 100, after: 110, ratio: 1.1 });
  });

  it('is not decided by one minute', () => {
    expect(growthOf([1, 1, 1, 100, 400, 100, 100, 900, 100]).ratio).toBe(1);
  });
});
