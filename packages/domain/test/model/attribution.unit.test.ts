import { describe, expect, it } from '@jest/globals';
import { isAmountFor, surplusOf } from '@pf/domain';

describe('What is added to an amount', () => {
  it.each([
    [6, { step: 1n, max: 9_999n }],
    [18, { step: 10n ** 12n, max: 9_999n * 10n ** 12n }],
    [2, null],
  ])('has at most 6 decimals where the token has %i', (decimals, surplus) => {
    expect(surplusOf(decimals)).toEqual(surplus);
  });

  it('is more than nothing, and less than a hundredth', () => {
    const may = [10_000_000n, 10_000_001n, 10_009_999n, 10_010_000n].map((one) => isAmountFor(10_000_000n, one, 6));
    expect(may).toEqual([false, true, true, false]);
    expect(isAmountFor(10n, 11n, 2)).toBe(false);
  });
});
