import { describe, expect, it } from '@jest/globals';
import { isAmountFor, reservableFor, surplusOf } from '@pf/domain';

describe('What is added to an amount', () => {
  it.each([
    [6, { step: 1n, max: 9_999n, round: 10_000n }],
    [18, { step: 10n ** 12n, max: 9_999n * 10n ** 12n, round: 10n ** 16n }],
    [2, null],
  ])('has at most 6 decimals where the token has %i', (decimals, surplus) => {
    expect(surplusOf(decimals)).toEqual(surplus);
  });

  it('is more than nothing, and less than a hundredth', () => {
    const may = [10_000_000n, 10_000_001n, 10_009_999n, 10_010_000n].map((one) => isAmountFor(10_000_000n, one, 6));
    expect(may).toEqual([false, true, true, false]);
    expect(isAmountFor(10n, 11n, 2)).toBe(false);
  });

  it('is one of 9,999, or of 9,998 where one of them makes a round amount', () => {
    const units = { step: 1n, max: 9_999n, round: 10_000n };
    expect([0n, 1n, 9_999n, 10_000n].map((more) => reservableFor(10_000_000n + more, units))).toEqual([
      9_999, 9_998, 9_998, 9_999,
    ]);
    const wei = { step: 10n ** 12n, max: 9_999n * 10n ** 12n, round: 10n ** 16n };
    // No step from the second one is a round amount.
    expect([10n ** 12n, 1n].map((asked) => reservableFor(asked, wei))).toEqual([9_998, 9_999]);
  });
});
