import { describe, expect, it } from '@jest/globals';
import { newestBlockOf, proposedTip } from '../../src/evm/fees.ts';

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

  it('tell which block is the newest', () => {
    expect(newestBlockOf({ oldestBlock: 81n, baseFeePerGas: Array.from({ length: 21 }, () => 1n) })).toBe(100n);
  });
});
