import { describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@pf/contracts';
import type { Deposit, Landing, PaymentIntent } from '@pf/domain';
import { checkReports } from '../../src/model/reports.ts';

const landing = (hash: string, index: string, more: Partial<Landing> = {}): Landing =>
  ({ hash, transfer: { index }, ...more }) as unknown as Landing;
const intent = (id: string, settlement: Landing | null, more: object = {}): PaymentIntent =>
  ({
    id,
    accountId: 'acct_1',
    status: settlement === null ? 'expired' : 'confirmed',
    settlement: settlement && { ...settlement, lost: false },
    ...more,
  }) as unknown as PaymentIntent;
const told = (intentId: string, of: Landing, more: object = {}): EventEnvelope =>
  ({ type: 'intent.mismatched_payment', intentId, data: { landing: of, ...more } }) as unknown as EventEnvelope;
const withdrawn = (intentId: string, of: Landing): EventEnvelope =>
  ({ type: 'intent.mismatch_withdrawn', intentId, data: { landing: of } }) as unknown as EventEnvelope;

const PAID = landing('a', '4');
const check =
  (intents: readonly PaymentIntent[], events: readonly EventEnvelope[], deposits: readonly Partial<Deposit>[] = []) =>
  (): void =>
    checkReports({
      intents,
      events,
      deposits: new Map(deposits.map((one) => [String(one.id), one as Deposit])),
    });
/** One that the transfer settles, and another of its account. */
const both = [intent('pi_1', PAID), intent('pi_2', null)];

describe('reports of mismatched payments', () => {
  it('fail where the transfer settles another intent of the account', () => {
    expect(check(both, [told('pi_2', PAID)])).toThrow('a:4 settles pi_1, and is reported as mismatched for pi_2');
  });

  it('fail where the transfer settles the intent itself', () => {
    expect(check(both, [told('pi_1', PAID)])).toThrow('a:4 settles pi_1, and is reported as mismatched for pi_1');
  });

  it('fail whichever event has made the transfer the settlement', () => {
    // As after confirmation_restored: it has no event intent.confirmed.
    expect(check([intent('pi_1', PAID, { status: 'finalized' }), intent('pi_2', null)], [told('pi_2', PAID)])).toThrow(
      'settles pi_1',
    );
  });

  it('hold where they were withdrawn, and fail where they were made again', () => {
    expect(check(both, [told('pi_2', PAID), withdrawn('pi_2', PAID)])).not.toThrow();
    expect(check(both, [told('pi_2', PAID), withdrawn('pi_2', PAID), told('pi_2', PAID)])).toThrow('settles pi_1');
  });

  it('stand beside another transfer of the same transaction', () => {
    expect(check(both, [told('pi_2', landing('a', '5'))])).not.toThrow();
  });

  it('stand where a payer claims the transfer, or another account is told of it', () => {
    expect(check(both, [told('pi_2', PAID, { claimed: true })])).not.toThrow();
    expect(
      check([intent('pi_1', PAID), intent('pi_2', null, { accountId: 'acct_2' })], [told('pi_2', PAID)]),
    ).not.toThrow();
  });

  it('stand where a reorg has undone the settlement', () => {
    const lost = intent('pi_1', PAID, { settlement: { ...PAID, lost: true } });
    expect(check([lost, intent('pi_2', null)], [told('pi_2', PAID)])).not.toThrow();
  });

  it('end for a deposit that is assigned to another intent', () => {
    const assigned = landing('a', '4', { depositId: 'dep_1' as NonNullable<Landing['depositId']> });
    const settled = [intent('pi_1', assigned), intent('pi_2', null)];
    const to = (intentId: string) => [{ id: 'dep_1', intentId }] as unknown as readonly Partial<Deposit>[];
    expect(check(settled, [told('pi_2', assigned)], to('pi_1'))).not.toThrow();
    expect(check(settled, [told('pi_2', assigned)], to('pi_2'))).toThrow('settles pi_1');
  });
});

describe('settlements', () => {
  it('fail where one transfer settles two intents of an account', () => {
    expect(check([intent('pi_1', PAID), intent('pi_2', PAID)], [])).toThrow('a:4 settles pi_1 and pi_2');
  });

  it('hold where two transfers of one transaction settle an intent each', () => {
    expect(check([intent('pi_1', PAID), intent('pi_2', landing('a', '5'))], [])).not.toThrow();
  });
});
