import { describe, expect, it } from '@jest/globals';
import { formatAmount, parseAmount } from '@pf/domain';
import fc from 'fast-check';

describe('parseAmount', () => {
  it.each([
    ['12.50', 12_500_000n],
    ['0.000001', 1n],
    ['1', 1_000_000n],
    ['18446744073709.551615', 2n ** 64n - 1n],
  ])('reads %s', (text, baseUnits) => {
    expect(parseAmount(text, 6)).toBe(baseUnits);
  });

  it.each([
    ['', 'malformed'],
    ['.5', 'malformed'],
    ['5.', 'malformed'],
    ['-1', 'malformed'],
    ['+1', 'malformed'],
    ['1e3', 'malformed'],
    ['0x10', 'malformed'],
    ['007', 'malformed'],
    ['1,000', 'malformed'],
    ['1 ', 'malformed'],
    ['1\n', 'malformed'],
    ['١', 'malformed'],
    ['NaN', 'malformed'],
    ['1.2.3', 'malformed'],
    ['0', 'not_positive'],
    ['0.000000', 'not_positive'],
    ['1.0000000', 'too_many_decimals'],
    ['18446744073709.551616', 'too_large'],
    ['9'.repeat(5000), 'too_large'],
  ])('returns what is wrong with %j', (text, problem) => {
    expect(parseAmount(text, 6)).toBe(problem);
  });

  it('reads back what formatAmount writes, for every amount and number of decimals', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), fc.nat(18), (baseUnits, decimals) => {
        expect(parseAmount(formatAmount(baseUnits, decimals), decimals)).toBe(baseUnits);
      }),
    );
  });
});

describe('formatAmount', () => {
  it.each([
    [0n, 6, '0'],
    [1n, 6, '0.000001'],
    [12_500_000n, 6, '12.5'],
    [100n, 0, '100'],
  ])('writes %s with %s decimals as %s', (baseUnits, decimals, text) => {
    expect(formatAmount(baseUnits, decimals)).toBe(text);
  });
});
