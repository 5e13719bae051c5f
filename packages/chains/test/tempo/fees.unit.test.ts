import { describe, expect, it } from '@jest/globals';
import { describeShortage, feeOf, maxFeeOf } from '../../src/tempo/fees.ts';
import { terms, tokenOf } from './payments.ts';

describe('Tempo fees', () => {
  it('are rounded up to a base unit of the fee token', () => {
    expect(feeOf(38_419n, 11_000_000_000n)).toBe(423n);
    expect(feeOf(1n, 1n)).toBe(1n);
    expect(feeOf(10n ** 12n, 1n)).toBe(1n);
  });

  it('outlive 26 full blocks, in which the base fee goes from its floor to its cap', () => {
    const [floor, cap, tip] = [600_000_000n, 12_000_000_000n, 1_000_000n];
    let baseFee = floor;
    for (let block = 0; block < 26; block += 1) baseFee = baseFee + baseFee / 8n < cap ? baseFee + baseFee / 8n : cap;
    expect(baseFee).toBe(cap);
    expect(maxFeeOf(floor, tip)).toBe(cap + tip);
    expect(maxFeeOf(20_000_000_000n, tip)).toBe(40_000_000_000n + tip);
    // Less than a cent for 600,000 gas.
    expect(feeOf(600_000n, maxFeeOf(floor, tip))).toBeLessThan(10_000n);
  });

  it('come on top of the amount where both are paid in one token', () => {
    const { tokenAddress, amount } = terms;
    const other = tokenOf('AlphaUSD').address;
    expect(describeShortage(terms, tokenAddress, amount + 99n, 100n, true)).toBe(
      'the payer has 12.345777 USDC.e and needs 12.345678 USDC.e, and up to 0.0001 more for the fee',
    );
    expect(describeShortage(terms, tokenAddress, amount + 100n, 100n, true)).toBeNull();
    expect(describeShortage(terms, other, 99n, 100n, true)).toBe(
      'the payer has 0.000099 AlphaUSD for the fee and may need 0.0001 AlphaUSD',
    );
    expect(describeShortage(terms, other, 100n, 100n, true)).toBeNull();
    expect(describeShortage(terms, tokenAddress, 99n, 100n, false)).toBe(
      'the fee sponsor has 0.000099 USDC.e for the fee and may need 0.0001 USDC.e',
    );
  });
});
