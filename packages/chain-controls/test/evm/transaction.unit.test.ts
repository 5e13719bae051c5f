import { describe, expect, it } from '@jest/globals';
import { findPayment, pool, transaction } from '../../src/evm/transaction.ts';

const PAYER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const TOKEN = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const REFERENCE = 'ab'.repeat(32);
const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const transfer = (selector: string, reference = REFERENCE): string =>
  `0x${selector}${word(BigInt(PAYER))}${word(5n)}${reference}`;
const sent = (input: string, more: object = {}) =>
  transaction.parse({ hash: '0x1', from: PAYER, nonce: '0x0', gas: '0x5208', to: TOKEN, input, ...more });

describe('findPayment', () => {
  it.each(['a9059cbb', '95777d59'])(
    'reads payer, token, amount and reference of a transfer with selector %s',
    (one) => {
      expect(findPayment([sent(transfer(one))], {})).toMatchObject({
        hash: '0x1',
        payer: PAYER,
        token: TOKEN,
        amount: 5n,
        reference: `0x${REFERENCE}`,
      });
    },
  );

  it('reads the first call of a Tempo transaction', () => {
    const calls = [{ to: TOKEN, input: transfer('95777d59') }];
    expect(findPayment([sent('0x', { to: null, calls })], {})?.amount).toBe(5n);
  });

  it('skips a transfer without a reference, another call and a contract creation', () => {
    const others = [
      sent(transfer('a9059cbb', '')),
      sent(transfer('deadbeef')),
      sent(transfer('a9059cbb'), { to: null }),
    ];
    expect(findPayment(others, {})).toBeNull();
  });

  it('matches payer and reference in any letter case, and both when both are given', () => {
    const all = [sent(transfer('a9059cbb'))];
    const reference = `0x${REFERENCE.toUpperCase()}`;
    expect(findPayment(all, { payer: PAYER.toLowerCase(), reference })).not.toBeNull();
    expect(findPayment(all, { payer: PAYER, reference: `0x${word(1n)}` })).toBeNull();
    expect(findPayment(all, { payer: TOKEN })).toBeNull();
  });
});

describe('pool', () => {
  it('lists only the transactions that can get into the next block', () => {
    const one = { hash: '0x1', from: PAYER, nonce: '0x0', gas: '0x5208' };
    const content = { pending: { [PAYER]: { 0: one } }, queued: { [PAYER]: { 5: { ...one, hash: '0x2' } } } };
    expect(pool.parse(content).map(({ hash }) => hash)).toEqual(['0x1']);
  });
});
