import { describe, expect, it } from '@jest/globals';
import { median, p99 } from '../src/percentiles.ts';

describe('the percentiles of a run', () => {
  it('have one value in a hundred above the 99th, and half of them above the median', () => {
    const values = Array.from({ length: 200 }, (_, place) => 200 - place);
    expect([p99(values), median(values)]).toEqual([198, 101]);
  });

  it('are 0 of nothing', () => {
    expect([p99([]), median([])]).toEqual([0, 0]);
  });
});
