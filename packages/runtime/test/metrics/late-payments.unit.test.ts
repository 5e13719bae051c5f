import { describe, expect, it } from '@jest/globals';
import { LatePayments } from '../../src/index.ts';

describe('Late payments', () => {
  const counted = (payments: readonly (readonly [accountId: string, payer: string, seconds?: number])[]): string => {
    const late = new LatePayments(5);
    return payments
      .map(([accountId, payer, seconds = 60]) => late.labelOf('base', seconds, { accountId, payer }).late ?? 'counts')
      .join(' ');
  };

  it('stand alone while one account makes them, with however many wallets', () => {
    expect(
      counted([
        ['a', '1'],
        ['a', '2'],
        ['a', '3'],
      ]),
    ).toBe('alone alone alone');
  });

  it('stand alone while one wallet makes them, at however many accounts', () => {
    expect(
      counted([
        ['a', '1'],
        ['b', '1'],
        ['c', '1'],
      ]),
    ).toBe('alone alone alone');
  });

  it('count where they are of several accounts and wallets, but none twice in a row', () => {
    expect(
      counted([
        ['a', '1'],
        ['b', '2'],
        ['b', '3'],
        ['b', '4'],
        ['a', '1'],
      ]),
    ).toBe('alone counts alone alone counts');
  });

  it('say nothing of payments on time, nor of other networks', () => {
    expect(
      counted([
        ['a', '1'],
        ['b', '2', 5],
        ['a', '3'],
      ]),
    ).toBe('alone counts alone');
    const late = new LatePayments(5);
    late.labelOf('base', 60, { accountId: 'a', payer: '1' });
    expect(late.labelOf('solana', 60, { accountId: 'b', payer: '2' })).toEqual({ late: 'alone' });
  });
});
