import { describe, expect, it } from '@jest/globals';
import type { Block } from '../../src/evm/calls.ts';
import { isFresh } from '../../src/tempo/time.ts';

const NOW_S = 1_795_000_000;
const NOW = NOW_S * 1_000;
const DAY = 86_400_000;
const blockAt = (seconds: number): Block => ({ timestamp: BigInt(seconds) }) as Block;
/** Of a transaction that has so many seconds left, with an intent that has so many ms. */
const isFreshWith = (left: number, intentMs = DAY, newest = blockAt(NOW_S)): boolean =>
  isFresh(newest.timestamp + BigInt(left), newest, NOW, NOW + intentMs);

describe('bytes that are about to die on Tempo', () => {
  it('are handed out again while two thirds of their four minutes are left', () => {
    expect([240, 160, 159, 1, 0, -5].map((left) => isFreshWith(left))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it('are handed out again where new ones would die with the intent no later', () => {
    expect([60, 40, 39].map((left) => isFreshWith(left, 60_000))).toEqual([true, true, false]);
    expect(isFreshWith(10, -1_000)).toBe(true);
  });

  it('are measured by the clock of a chain that is ahead', () => {
    expect([160, 159].map((left) => isFreshWith(left, DAY, blockAt(NOW_S + 3_600)))).toEqual([true, false]);
  });
});
