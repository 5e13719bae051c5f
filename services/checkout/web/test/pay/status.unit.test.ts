import { describe, expect, it } from '@jest/globals';
import type { Unexpected } from '../../src/api/client.ts';
import { ApiError, UnreachableError } from '../../src/api/requests.ts';
import type { State, Step } from '../../src/pay/state.ts';
import { advance, noMoney } from '../../src/pay/money.ts';
import { isOfSponsor, problemOf, provesNothingSent } from '../../src/pay/problem.ts';
import { statusOf, timeLeft } from '../../src/pay/status.ts';
import { problemIn } from '../../src/wallets/wallet.ts';
import { terms } from '../../../../../packages/chains/test/base/payments.ts';
import { intentOf } from '../check/intents.ts';

type Shown = Pick<State, 'missing' | 'money' | 'step'>;
const payment = { txSignature: '0x', sender: '0x', amount: '1', differs: [] };
const shownWith = (
  step: Step,
  intent: Parameters<typeof intentOf>[1] = {},
  unexpected: string | null = null,
): Shown => {
  const money = advance(noMoney, { type: 'seen', intent: intentOf(terms, intent) });
  if (unexpected === null) return { missing: null, money, step };
  const type = `intent.${unexpected}_payment` as Unexpected['type'];
  return { missing: null, money: advance(money, { type: 'arrived', unexpected: { type, payment } }), step };
};
const choosing: Step = { kind: 'choosing' };
const stopped: Step = { kind: 'stopped', differs: ['amount'] };

describe('the status line', () => {
  it('lets the chain decide before what the page remembers', () => {
    for (const [state, key] of [
      ['pending', 'pending'],
      ['confirmed', 'paid'],
      ['finalized', 'paid'],
      ['failed', 'failed'],
      ['expired', 'expired'],
      ['cancelled', 'cancelled'],
    ] as const)
      expect(statusOf(shownWith(stopped, { state }))).toMatchObject({ key, offers: 'nothing' });
  });

  it('tells what arrived otherwise', () => {
    const keyOf = (name: string, state: 'created' | 'confirmed' | 'failed'): string =>
      statusOf(shownWith(choosing, { state }, name)).key;
    expect(keyOf('mismatched', 'created')).toBe('wrong_payment');
    expect(keyOf('mismatched', 'failed')).toBe('ended_wrong');
    expect(keyOf('late', 'confirmed')).toBe('paid_late');
    expect(keyOf('extra', 'confirmed')).toBe('paid_twice');
    expect(keyOf('mismatched', 'confirmed')).toBe('paid');
  });

  it('does not let a person pay what is not what is shown, nor what may still arrive', () => {
    expect(statusOf(shownWith(stopped))).toMatchObject({ key: 'stopped', offers: 'nothing' });
    expect(statusOf(shownWith(choosing, { state: 'expired', pendingAtExpiry: true })).key).toBe('expired_pending');
    expect(statusOf(shownWith(choosing, { retryRequired: true }))).toMatchObject({ key: 'sign_again', offers: 'pay' });
  });

  it('counts the last five minutes only', () => {
    const end = Date.parse('2026-11-22T12:00:00.000Z');
    expect(timeLeft('2026-11-22T12:00:00.000Z', end - 300_001)).toBeNull();
    expect(timeLeft('2026-11-22T12:00:00.000Z', end - 300_000)).toBe(300_000);
    expect(timeLeft('2026-11-22T12:00:00.000Z', end + 1)).toBe(0);
  });
});

describe('an error of a wallet', () => {
  const proves = (cause: unknown): boolean => provesNothingSent(problemIn('Amber', cause));

  it('proves that nothing was sent by its code 4001 alone, not by its words', () => {
    expect(proves({ code: 4001, message: 'no' })).toBe(true);
    expect(proves({ code: -32603, data: { originalError: { code: 4001 } } })).toBe(true);
    for (const cause of [
      { code: -32603, message: 'transaction rejected: already known' },
      { message: 'User denied transaction signature.' },
      { message: 'Request was cancelled by timeout' },
      { code: 5750, message: 'Rejected the upgrade' },
      { code: -32002, message: 'Request already pending' },
      { code: '4001' },
      null,
    ])
      expect(proves(cause)).toBe(false);
  });
});

describe('a problem', () => {
  const rejected = (reason: string) => problemOf(new ApiError({ code: 'transaction.rejected', status: 422, reason }));

  it.each([
    ['the payer has 0.000001 ETH for fees and may need 0.00002 ETH', 'fee'],
    ['the payer has 0.001 SOL and needs 0.003 SOL: 0.000005 SOL for the fee, and 0.00089088 SOL that must stay', 'fee'],
    ['the payer has 1 USDC and needs 12.5 USDC, and up to 0.01 more for the fee', 'fee'],
    ['the payer has 1 USDC and needs 12.5 USDC', 'balance'],
    ["the payer's token account is frozen", 'rejected'],
  ])('has words of its own where the chain says: %s', (reason, kind) => {
    expect(rejected(reason)).toMatchObject({ kind, params: { reason } });
  });

  it('is a lost connection, a temporary one, or one that has a code', () => {
    expect(problemOf(new UnreachableError('x')).kind).toBe('offline');
    expect(problemOf(new ApiError({ code: 'rpc.unavailable', status: 503, retryAfterMs: 1 })).kind).toBe('unavailable');
    expect(problemOf(new ApiError({ code: 'token.gone', status: 422 }))).toMatchObject({
      kind: 'other',
      params: { code: 'token.gone' },
    });
    expect(problemOf(new TypeError('x')).kind).toBe('other');
  });

  it("is the sponsor's where the merchant cannot pay the fee, and then the payer can", () => {
    const kinds = ['sponsor.refused', 'sponsor.unavailable', 'rpc.unavailable'].map(
      (code) => problemOf(new ApiError({ code, status: 503, retryAfterMs: 1 })).kind,
    );
    expect(kinds.map((kind) => [kind, isOfSponsor(kind)])).toEqual([
      ['sponsor_refused', true],
      ['sponsor_unavailable', true],
      ['unavailable', false],
    ]);
  });
});
