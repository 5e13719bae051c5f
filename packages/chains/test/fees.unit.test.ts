import { describe, expect, it } from '@jest/globals';
import { proposedTip } from '../src/evm/fees.ts';
import { FEE_MAX, feeOf, proposedPrice, UNITS } from '../src/solana/fees.ts';
import { feeOf as tempoFeeOf, whatIsMissing } from '../src/tempo/fees.ts';
import { terms, tokenOf } from './tempo/payments.ts';

const paid = (...prices: bigint[]) => prices.map((prioritizationFee) => ({ prioritizationFee }));

describe('what is offered for a place in a block', () => {
  it('on Solana is the 75th percentile of what recent slots took, in whatever order they come', () => {
    expect(proposedPrice(paid(40_000n, 10_000n, 30_000n, 20_000n))).toBe(40_000n);
    expect(proposedPrice(paid(...Array.from({ length: 150 }, (_, slot) => BigInt(150 - slot) * 1_000n)))).toBe(
      113_000n,
    );
  });

  it('on Solana is neither nothing on a quiet chain nor anything on a busy one', () => {
    expect(proposedPrice([])).toBe(1_000n);
    expect(proposedPrice(paid(0n, 0n, 0n))).toBe(1_000n);
    const most = proposedPrice(paid(10n ** 15n, 10n ** 15n));
    expect(most).toBe(2_000_000n);
    // What is proposed at most is far below what is accepted at most: wallets may offer more than we do.
    expect(feeOf(BigInt(UNITS.token2022.withAccount), most, 0)).toBeLessThan(FEE_MAX / 10n);
  });

  it('on Solana is charged for what a transaction may use, rounded up, where it sets no limit', () => {
    expect(feeOf(30_000n, 1_000n, 4)).toBe(5_030n);
    expect(feeOf(30_001n, 1_000n, 4)).toBe(5_031n);
    expect(feeOf(null, 1_000n, 3)).toBe(5_600n);
    expect(feeOf(null, 1_000n, 100)).toBe(feeOf(1_400_000n, 1_000n, 1));
    expect(feeOf(2n ** 32n - 1n, 1_000n, 1)).toBe(6_400n);
  });

  it('on EVM chains is the median of what blocks with transactions were tipped, within bounds', () => {
    const blocks = (...tips: (bigint | null)[]) => ({
      baseFeePerGas: [1n],
      reward: tips.map((tip) => (tip === null ? [] : [tip])),
    });
    expect(proposedTip(blocks(3_000_000n, 0n, null, 2_000_000n, 9_000_000n))).toBe(3_000_000n);
    expect(proposedTip(blocks())).toBe(1_000_000n);
    expect(proposedTip({ baseFeePerGas: [1n], reward: null })).toBe(1_000_000n);
    expect(proposedTip(blocks(10n ** 12n))).toBe(500_000_000n);
  });
});

describe('a fee on Tempo', () => {
  it('is rounded up to a base unit of the token that it is paid in', () => {
    expect(tempoFeeOf(38_419n, 11_000_000_000n)).toBe(423n);
    expect(tempoFeeOf(1n, 1n)).toBe(1n);
    expect(tempoFeeOf(10n ** 12n, 1n)).toBe(1n);
  });

  it('comes on top of the amount where both are paid in one token, and is looked for alone where not', () => {
    const { tokenAddress, amount } = terms;
    const other = tokenOf('AlphaUSD').address;
    expect(whatIsMissing(terms, tokenAddress, amount + 99n, 100n, true)).toBe(
      'the payer has 12.345777 USDC and needs 12.345678 USDC, and up to 0.0001 more for the fee',
    );
    expect(whatIsMissing(terms, tokenAddress, amount + 100n, 100n, true)).toBeNull();
    expect(whatIsMissing(terms, other, 99n, 100n, true)).toBe(
      'the payer has 0.000099 AlphaUSD for the fee and may need 0.0001 AlphaUSD',
    );
    expect(whatIsMissing(terms, other, 100n, 100n, true)).toBeNull();
    expect(whatIsMissing(terms, tokenAddress, 99n, 100n, false)).toBe(
      'who sponsors the fee has 0.000099 USDC for the fee and may need 0.0001 USDC',
    );
  });
});
