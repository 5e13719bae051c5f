import { describe, expect, it } from '@jest/globals';
import { Standstill } from '../../../src/evm/observe/standstill.ts';

describe('a second reading that stands still', () => {
  it('is told of since when there are further blocks, until it goes on', () => {
    const standstill = new Standstill();
    // No new block, however long.
    expect([0, 500_000].map((now) => standstill.after(10n, 20n, now))).toEqual([0, 0]);
    expect([501_000, 502_000].map((now) => standstill.after(10n, BigInt(now), now))).toEqual([0, 1_000]);
    expect(standstill.after(11n, 503_000n, 503_000)).toBe(0);
    expect([504_000, 506_000].map((now) => standstill.after(11n, BigInt(now), now))).toEqual([0, 2_000]);
  });

  it('is told of where the head was said to be far ahead', () => {
    const standstill = new Standstill();
    standstill.after(10n, 1_000_000n, 0);
    expect([1_000, 61_000].map((now) => standstill.after(10n, 21n, now))).toEqual([0, 60_000]);
  });

  it('goes on where a reorg has put it back', () => {
    const standstill = new Standstill();
    standstill.after(10n, 20n, 0);
    expect([standstill.after(10n, 21n, 1_000), standstill.after(8n, 21n, 9_000)]).toEqual([0, 0]);
  });
});
