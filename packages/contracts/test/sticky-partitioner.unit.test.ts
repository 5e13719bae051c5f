import { describe, expect, it } from '@jest/globals';
import { StickyPartitioner } from '../src/index.ts';

describe('The partition of an intent that may lie in any', () => {
  it('is the same for those that are made together, and in time each of them', () => {
    let now = 0;
    const anywhere = new StickyPartitioner(6, () => now);
    const chosen = new Map<number, number>();
    for (let window = 0; window < 6_000; window++) {
      const together = Array.from({ length: 5 }, () => anywhere.next());
      expect(new Set(together).size).toBe(1);
      chosen.set(together[0] ?? -1, (chosen.get(together[0] ?? -1) ?? 0) + 1);
      now += 10;
    }
    expect([...chosen.keys()].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    // 1,000 each on average; 150 off is five standard deviations.
    for (const count of chosen.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });
});
