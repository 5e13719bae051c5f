import { describe, expect, it } from '@jest/globals';
import { StickyPartitioner } from '../src/index.ts';

describe('StickyPartitioner', () => {
  it('chooses one partition within a time window, and all equally over time', () => {
    let now = 0;
    const partitioner = new StickyPartitioner(6, () => now);
    const chosen = new Map<number, number>();
    for (let window = 0; window < 6_000; window++) {
      const together = Array.from({ length: 5 }, () => partitioner.next());
      expect(new Set(together).size).toBe(1);
      chosen.set(together[0] ?? -1, (chosen.get(together[0] ?? -1) ?? 0) + 1);
      now += 10;
    }
    expect([...chosen.keys()].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    // 1,000 each on average; 150 off is five standard deviations.
    for (const count of chosen.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });
});
