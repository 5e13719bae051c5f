import { describe, expect, it } from '@jest/globals';
import { FEE_MAX, feeOf, proposedPrice, UNITS } from '../../src/solana/fees.ts';

const paid = (...prices: bigint[]) => prices.map((prioritizationFee) => ({ prioritizationFee }));

describe('Solana fees', () => {
  it('propose the 75th percentile of recent prioritization fees, in whatever order they come', () => {
    expect(proposedPrice(paid(40_000n, 10_000n, 30_000n, 20_000n))).toBe(40_000n);
    expect(proposedPrice(paid(...Array.from({ length: 150 }, (_, slot) => BigInt(150 - slot) * 1_000n)))).toBe(
      113_000n,
    );
  });

  it('propose a price within bounds on a quiet and on a busy chain', () => {
    expect(proposedPrice([])).toBe(1_000n);
    expect(proposedPrice(paid(0n, 0n, 0n))).toBe(1_000n);
    const most = proposedPrice(paid(10n ** 15n, 10n ** 15n));
    expect(most).toBe(2_000_000n);
    // What is proposed at most is far below what is accepted at most: wallets may offer more than we do.
    expect(feeOf(BigInt(UNITS.token2022.withAccount), most, 0)).toBeLessThan(FEE_MAX / 10n);
  });

  it('charge a transaction without a unit limit for what it may use, rounded up', () => {
    expect(feeOf(30_000n, 1_000n, 4)).toBe(5_030n);
    expect(feeOf(30_001n, 1_000n, 4)).toBe(5_031n);
    expect(feeOf(null, 1_000n, 3)).toBe(5_600n);
    expect(feeOf(null, 1_000n, 100)).toBe(feeOf(1_400_000n, 1_000n, 1));
    expect(feeOf(2n ** 32n - 1n, 1_000n, 1)).toBe(6_400n);
  });
});
