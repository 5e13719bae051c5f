import { describe, expect, it } from '@jest/globals';
import { feeHistoryBlocks, newestBlockOf, proposedTip } from '../../src/evm/fees.ts';

describe('EVM fees', () => {
  it('propose the median tip of recent blocks with transactions, within bounds', () => {
    const blocks = (...tips: (bigint | null)[]) => ({
      reward: tips.map((tip) => (tip === null ? [] : [tip])),
    });
    expect(proposedTip(blocks(3_000_000n, 0n, null, 2_000_000n, 9_000_000n))).toBe(3_000_000n);
    expect(proposedTip(blocks())).toBe(1_000_000n);
    expect(proposedTip({ reward: null })).toBe(1_000_000n);
    expect(proposedTip(blocks(10n ** 12n))).toBe(500_000_000n);
  });

  it.each([
    [200, 100],
    [500, 40],
    [2_000, 10],
    [20, 200],
    [Number.POSITIVE_INFINITY, 10],
  ])('consider the tips of 20 s: where a block takes %d ms, those of %d blocks', (blockMs, blocks) => {
    expect(feeHistoryBlocks(blockMs)).toBe(blocks);
  });

  it('tell which block is the newest', () => {
    expect(newestBlockOf({ oldestBlock: 81n, baseFeePerGas: Array.from({ length: 21 }, () => 1n) })).toBe(100n);
  });
});
