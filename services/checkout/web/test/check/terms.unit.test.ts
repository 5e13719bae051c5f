import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { baseUnits, differencesBetween, termsOf } from '../../src/check/terms.ts';
import { terms as base } from '../../../../../packages/chains/test/base/payments.ts';
import { terms as tempo } from '../../../../../packages/chains/test/tempo/payments.ts';
import { intentOf, shown } from './intents.ts';

describe('the terms that the page shows', () => {
  it('are read from the symbol and the decimal amount', () => {
    expect(termsOf(intentOf(base))).toMatchObject({
      amount: base.amount,
      decimals: 6,
      tokenAddress: base.tokenAddress,
    });
  });

  it('are read by each name of the token, also by one that it had when the intent was made (F15)', () => {
    for (const token of ['USDC', 'USDC.e'])
      expect(termsOf(intentOf(tempo, { token }))).toMatchObject({ tokenAddress: tempo.tokenAddress });
    expect(termsOf(intentOf(tempo, { token: 'OUSD' }))).toBeNull();
  });

  it.each([
    [
      'the address is another token than the symbol says',
      { tokenAddress: '0x808456652fdb597867f38412077A9182bf77359F' },
    ],
    ['the symbol is not in the registry', { token: 'FREE' }],
    ['the network is not in the registry', { chain: 'eip155:1' }],
    ['the base units are more than the amount shown', { amountBaseUnits: '12345679' }],
    ['the amount has more decimals than the token', { amount: '12.3456780' }],
    ['the amount is nothing', { amount: '0.00', amountBaseUnits: '0' }],
    ['a test network is called live', { livemode: true }],
  ])('are refused where %s', (_, changes) => {
    expect(termsOf(intentOf(base, changes))).toBeNull();
  });

  it('are compared field by field', () => {
    const terms = shown(base);
    expect(differencesBetween(terms, { ...terms })).toEqual([]);
    expect(differencesBetween(terms, { ...terms, amount: terms.amount + 1n, requestor: '0x' })).toEqual([
      'recipient',
      'amount',
    ]);
    expect(differencesBetween(terms, { ...terms, reference: '0x', tokenAddress: '0x' })).toEqual([
      'token',
      'reference',
    ]);
  });

  it('count base units without rounding', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n }), (amount) => {
        const digits = amount.toString().padStart(7, '0');
        expect(baseUnits(`${digits.slice(0, -6)}.${digits.slice(-6)}`, 6)).toBe(amount);
      }),
    );
  });

  it.each(['', '-1', '1e3', '1.', '.5', ' 1', '0x1', '1,5'])('reject %j as an amount', (text) => {
    expect(baseUnits(text, 6)).toBeNull();
  });
});
