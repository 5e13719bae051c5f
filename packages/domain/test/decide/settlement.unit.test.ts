import { describe, expect, it } from '@jest/globals';
import { given } from '../../src/testing/given.ts';
import {
  confirmed,
  created,
  expired,
  extraPayment,
  failed,
  finalized,
  lateRefundPaid,
  lost,
  mismatchedPayment,
  pending,
  prepared,
  restored,
} from '../../src/testing/events.ts';
import { owner, watcher } from '../../src/testing/inputs.ts';
import {
  BOB,
  CAROL,
  FIRST,
  MOVED,
  REFERENCE,
  SECOND,
  SCENARIO_START,
  TTL_SECONDS,
  UNKNOWN,
} from '../../src/testing/samples.ts';

const byCarol = { from: CAROL, block: 105n };
const paid = [created(), prepared(FIRST), pending(FIRST), confirmed(FIRST)];

describe('a payment', () => {
  it('is shown as it really happened, whoever was expected to pay and by which transaction', () => {
    given(created({ fulfiller: BOB }), prepared(FIRST), pending(FIRST))
      .when(watcher.landed(UNKNOWN, byCarol))
      .showing({
        state: 'confirmed',
        txSignature: UNKNOWN,
        fulfiller: CAROL,
        confirmedAt: '2026-11-21T12:00:03.000Z',
        finalizedAt: null,
      })
      .when(watcher.landedForGood(UNKNOWN, byCarol))
      .showing({ state: 'finalized', txSignature: UNKNOWN, finalizedAt: '2026-11-21T12:00:04.000Z' });
  });

  it('in time is in time, though it is seen only after expiresAt', () => {
    given(created())
      .when(watcher.landed(UNKNOWN, byCarol), SCENARIO_START + TTL_SECONDS * 1000)
      .showing({ state: 'confirmed', pendingAtExpiry: false });
  });

  it('after expiry still counts, and the intent remembers that its transaction was on its way', () => {
    given(created(), prepared(FIRST), pending(FIRST))
      .when(owner.expire(), SCENARIO_START + TTL_SECONDS * 1000)
      .then(expired(true))
      .when(watcher.landed(FIRST))
      .then(confirmed(FIRST, {}, 'expired'))
      .showing({ state: 'confirmed', pendingAtExpiry: true });
  });

  it('counts once, however often a rescan brings it', () => {
    given(...paid)
      .when(watcher.landed(FIRST))
      .thenNothing()
      .when(watcher.landedForGood(FIRST))
      .then(finalized(FIRST))
      .when(watcher.landed(FIRST))
      .thenNothing()
      .when(watcher.landedForGood(FIRST))
      .thenNothing();
  });

  it('of other terms counts once too, and leaves the intent open for the right one', () => {
    const less = { amount: 1n };
    given(created())
      .when(watcher.landed(UNKNOWN, less))
      .then(mismatchedPayment(UNKNOWN, less, 'amount'))
      .when(watcher.landedForGood(UNKNOWN, less))
      .thenNothing()
      .when(watcher.landed(SECOND, byCarol))
      .then(pending(SECOND, { fulfiller: CAROL }), confirmed(SECOND, byCarol));
  });

  it('says everything in which it differs', () => {
    const wrong = { to: CAROL, amount: 1n, reference: REFERENCE.replace('1', '2') as typeof REFERENCE };
    given(created())
      .when(watcher.landed(UNKNOWN, wrong))
      .then(mismatchedPayment(UNKNOWN, wrong, 'recipient', 'amount', 'reference'));
  });

  it('may come in the same transaction as one of other terms', () => {
    given(created(), mismatchedPayment(FIRST, { amount: 1n }, 'amount'))
      .when(watcher.landed(FIRST, { index: '1' }))
      .then(pending(FIRST), confirmed(FIRST, { index: '1' }));
  });

  it('of a submission marks it landed, and one that its nonce excludes stays replaced', () => {
    const landed = given(created(), prepared(FIRST), prepared(SECOND)).when(watcher.landed(SECOND)).intent();
    expect(landed.submissions.map(({ status }) => status)).toEqual(['replaced', 'landed']);
  });

  it('of another wallet leaves the live submission live: it can still land, and then somebody has paid twice', () => {
    given(created(), prepared(FIRST), pending(FIRST))
      .when(watcher.landed(UNKNOWN, byCarol))
      .when(watcher.landed(FIRST))
      .then(extraPayment(FIRST))
      .showing({ txSignature: UNKNOWN });
  });
});

describe('a reorganisation', () => {
  it('does not take the confirmation back in public', () => {
    given(...paid)
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .showing({ state: 'confirmed', txSignature: FIRST, updatedAt: '2026-11-21T12:00:03.000Z' });
  });

  it('may lose and bring back the same transaction any number of times', () => {
    given(...paid)
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .when(watcher.landed(FIRST, MOVED))
      .then(restored(FIRST, MOVED))
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .when(watcher.landedForGood(FIRST))
      .then(restored(FIRST), finalized(FIRST));
  });

  it('may bring another transaction in its place, and if then the first one lands too, somebody has paid twice', () => {
    given(...paid, lost(FIRST))
      .when(watcher.landed(SECOND, byCarol))
      .then(restored(SECOND, byCarol))
      .showing({ state: 'confirmed', txSignature: SECOND, fulfiller: CAROL })
      .when(watcher.landed(FIRST))
      .then(extraPayment(FIRST))
      .when(watcher.landed(FIRST))
      .thenNothing();
  });

  it('that takes an extra payment along counts it anew when it lands again, before the settling one or after', () => {
    const both = [...paid, extraPayment(UNKNOWN, byCarol)];
    given(...both)
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .when(watcher.landed(UNKNOWN, byCarol))
      .then(restored(UNKNOWN, byCarol))
      .when(watcher.landed(FIRST, MOVED))
      .then(extraPayment(FIRST, MOVED))
      .showing({ state: 'confirmed', txSignature: UNKNOWN, fulfiller: CAROL });
    given(...both, lost(FIRST))
      .when(watcher.landed(FIRST, MOVED))
      .then(restored(FIRST, MOVED))
      .when(watcher.landed(UNKNOWN, byCarol))
      .then(extraPayment(UNKNOWN, byCarol));
  });

  it('is made good for by an extra payment that stands, which is then the one that can be lost', () => {
    const earlier = { from: CAROL, block: 1n };
    given(...paid, extraPayment(UNKNOWN, earlier))
      .when(watcher.lost(FIRST))
      .then(lost(FIRST), restored(UNKNOWN, earlier))
      .showing({ state: 'confirmed', txSignature: UNKNOWN, fulfiller: CAROL })
      .knowing({ extraPayments: [] })
      .when(watcher.lost(UNKNOWN))
      .then(lost(UNKNOWN))
      .when(watcher.dropped(UNKNOWN))
      .then(failed(UNKNOWN, 'its nonce is used'));
  });

  it("does not take a late refund's payment for one of the original", () => {
    const refund = 'pi_late' as Parameters<typeof lateRefundPaid>[0];
    given(...paid, lateRefundPaid(refund, UNKNOWN, { block: 1n }))
      .when(watcher.lost(FIRST))
      .then(lost(FIRST));
  });

  it('ends in failure when the transaction is proven dead, and even then the money counts if it comes', () => {
    given(...paid, lost(FIRST))
      .when(watcher.dropped(FIRST))
      .then(failed(FIRST, 'its nonce is used'))
      .showing({ state: 'failed' })
      .when(watcher.dropped(FIRST))
      .thenNothing()
      .when(watcher.landed(FIRST))
      .then(confirmed(FIRST, {}, 'failed'))
      .showing({ state: 'confirmed' });
  });

  it('that goes back and forth unseen does not make a repeat of what has come again', () => {
    given(...paid)
      .when(watcher.landedForGood(FIRST, MOVED))
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .when(watcher.landed(FIRST))
      .then(restored(FIRST));
  });

  it('that put the settling transaction elsewhere leaves its new place as the evidence', () => {
    given(...paid)
      .when(watcher.landedForGood(FIRST, MOVED))
      .then(finalized(FIRST, MOVED))
      .when(watcher.landed(FIRST, MOVED))
      .thenNothing();
  });
});
