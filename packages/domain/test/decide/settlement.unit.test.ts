import { describe, expect, it } from '@jest/globals';
import type { IntentId, Observation } from '@pf/domain';
import { type ExpectedEvent, given } from '../../src/testing/given.ts';
import {
  claimedPayment,
  confirmed,
  confirmedLate,
  created,
  expired,
  extraPayment,
  extraPaymentAgain,
  failed,
  finalized,
  lateRefundPaid,
  lost,
  mismatchDisproved,
  mismatchedPayment,
  mismatchWithdrawn,
  paymentClaimed,
  pending,
  prepared,
  restored,
} from '../../src/testing/events.ts';
import { gateway, owner, watcher } from '../../src/testing/inputs.ts';
import {
  BOB,
  CAROL,
  FIRST,
  landing,
  MOVED,
  REFERENCE,
  referenceOf,
  REFUND,
  SECOND,
  SCENARIO_START,
  TTL_SECONDS,
  transfer,
  UNKNOWN,
  UNPROVEN,
} from '../../src/testing/samples.ts';

const byCarol = { from: CAROL, block: 105n };
const paid = [created(), prepared(FIRST), pending(FIRST), confirmed(FIRST)];

describe('a landing', () => {
  it('sets fulfiller and txSignature to the actual payer and transaction', () => {
    given(created({ fulfiller: BOB }), prepared(FIRST), pending(FIRST))
      .when(watcher.landed(UNKNOWN, byCarol))
      .showing({
        state: 'confirmed',
        txSignature: UNKNOWN,
        fulfiller: CAROL,
        confirmedAt: '2026-11-21T12:00:03.000Z',
        finalizedAt: null,
      })
      .when(watcher.landedFinal(UNKNOWN, byCarol))
      .showing({ state: 'finalized', txSignature: UNKNOWN, finalizedAt: '2026-11-21T12:00:04.000Z' });
  });

  it('confirms an intent that is past expiresAt but has not expired', () => {
    given(created())
      .when(watcher.landed(UNKNOWN, byCarol), SCENARIO_START + TTL_SECONDS * 1000)
      .showing({ state: 'confirmed', pendingAtExpiry: false });
  });

  it('confirms an expired intent, which keeps pendingAtExpiry', () => {
    given(created(), prepared(FIRST), pending(FIRST))
      .when(owner.expire(), SCENARIO_START + TTL_SECONDS * 1000)
      .then(expired(true))
      .when(watcher.landed(FIRST))
      .then(...confirmedLate(FIRST, {}, 'expired'))
      .showing({ state: 'confirmed', pendingAtExpiry: true });
  });

  it('counts once however often it is observed', () => {
    given(...paid)
      .when(watcher.landed(FIRST))
      .thenNothing()
      .when(watcher.landedFinal(FIRST))
      .then(finalized(FIRST))
      .when(watcher.landed(FIRST))
      .thenNothing()
      .when(watcher.landedFinal(FIRST))
      .thenNothing();
  });

  it('says in its first event what its transaction has cost, and leaves that out of the state', () => {
    const fee = { payer: CAROL, amount: 21_000n, tokenAddress: null };
    const withFee = (event: ExpectedEvent): ExpectedEvent =>
      ({ ...event, data: { ...event.data, landing: { ...landing(FIRST), fee } } }) as ExpectedEvent;
    const seen = (observation: Observation): Observation =>
      ({ ...observation, data: { ...observation.data, fee } }) as Observation;
    const settled = given(created())
      .when(seen(watcher.landedFinal(FIRST)))
      .then(pending(FIRST), withFee(confirmed(FIRST)), finalized(FIRST));
    expect(settled.intent().settlement).not.toHaveProperty('fee');
    const extra = given(created(), prepared(SECOND), pending(SECOND), confirmed(SECOND))
      .when(seen(watcher.landed(FIRST)))
      .then(withFee(extraPayment(FIRST)));
    expect(extra.intent().extraPayments).toEqual([landing(FIRST)]);
  });

  it('is recorded once when it has other terms, and leaves the intent open', () => {
    const less = { amount: 1n };
    given(created())
      .when(watcher.landed(UNKNOWN, less))
      .then(mismatchedPayment(UNKNOWN, less, 'amount'))
      .when(watcher.landedFinal(UNKNOWN, less))
      .thenNothing()
      .when(watcher.landed(SECOND, byCarol))
      .then(pending(SECOND, { fulfiller: CAROL }), confirmed(SECOND, byCarol));
  });

  it('lists every term that differs', () => {
    const wrong = { to: CAROL, amount: 1n, reference: REFERENCE.replace('1', '2') as typeof REFERENCE };
    given(created())
      .when(watcher.landed(UNKNOWN, wrong))
      .then(mismatchedPayment(UNKNOWN, wrong, 'recipient', 'amount', 'reference'));
  });

  it('settles the intent though another transfer of its transaction has other terms', () => {
    given(created(), mismatchedPayment(FIRST, { amount: 1n }, 'amount'))
      .when(watcher.landed(FIRST, { index: '1' }))
      .then(pending(FIRST), confirmed(FIRST, { index: '1' }));
  });

  it('marks its submission as landed and leaves a replaced one as it is', () => {
    const landed = given(created(), prepared(FIRST), prepared(SECOND)).when(watcher.landed(SECOND)).intent();
    expect(landed.submissions.map(({ status }) => status)).toEqual(['replaced', 'landed']);
  });

  it('leaves the live submission live when it is of another wallet, and a second landing is an extra payment', () => {
    given(created(), prepared(FIRST), pending(FIRST))
      .when(watcher.landed(UNKNOWN, byCarol))
      .when(watcher.landed(FIRST))
      .then(extraPayment(FIRST))
      .showing({ txSignature: UNKNOWN });
  });
});

describe('a reorg', () => {
  it('does not change what integrators see', () => {
    given(...paid)
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .showing({ state: 'confirmed', txSignature: FIRST, updatedAt: '2026-11-21T12:00:03.000Z' });
  });

  it('can lose and restore the same transaction any number of times', () => {
    given(...paid)
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .when(watcher.landed(FIRST, MOVED))
      .then(restored(FIRST, MOVED))
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .when(watcher.landedFinal(FIRST))
      .then(restored(FIRST), finalized(FIRST));
  });

  it('is passed over where it undid another landing of the transaction than the one that stands', () => {
    const [first, second] = [transfer(), transfer(MOVED)];
    given(...paid)
      .when(watcher.lost(FIRST, first))
      .then(lost(FIRST))
      .when(watcher.landed(FIRST, MOVED))
      .then(restored(FIRST, MOVED))
      // Observed twice, or published again from a dead letter.
      .when(watcher.lost(FIRST, first))
      .thenNothing()
      .when(watcher.lost(FIRST, { ...second, blockHash: first.blockHash }))
      .thenNothing()
      .when(watcher.lost(FIRST, second))
      .then(lost(FIRST));
  });

  it('can replace the transaction by another; if the first one lands too, it is an extra payment', () => {
    given(...paid, lost(FIRST))
      .when(watcher.landed(SECOND, byCarol))
      .then(restored(SECOND, byCarol))
      .showing({ state: 'confirmed', txSignature: SECOND, fulfiller: CAROL })
      .when(watcher.landed(FIRST))
      .then(extraPayment(FIRST))
      .when(watcher.landed(FIRST))
      .thenNothing();
  });

  it('counts a lost extra payment again when it lands again, before or after the settling one', () => {
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
      .then(extraPaymentAgain(UNKNOWN, byCarol));
  });

  it('tells of an extra payment once, however often it is undone and lands again', () => {
    const moved = { ...byCarol, ...MOVED };
    given(...paid, extraPayment(UNKNOWN, byCarol))
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .knowing({ undoneExtras: [UNKNOWN] })
      .when(watcher.landed(FIRST, MOVED))
      .then(restored(FIRST, MOVED))
      .when(watcher.landed(UNKNOWN, moved))
      .then(extraPaymentAgain(UNKNOWN, moved))
      .knowing({ extraPayments: [{ hash: UNKNOWN, transfer: transfer(moved) }] })
      .when(watcher.landed(UNKNOWN, moved))
      .thenNothing()
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .when(watcher.landed(FIRST))
      .then(restored(FIRST))
      .when(watcher.landed(UNKNOWN, byCarol))
      .then(extraPaymentAgain(UNKNOWN, byCarol))
      // Of its transaction another one was never told of.
      .when(watcher.landed(UNKNOWN, { ...byCarol, index: '9' }))
      .then(extraPayment(UNKNOWN, { ...byCarol, index: '9' }));
  });

  it('tells once of an extra payment by the settling transaction itself', () => {
    const [other, moved] = [{ index: '7' }, { ...MOVED, index: '8' }];
    given(...paid, extraPayment(FIRST, other))
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .when(watcher.landed(FIRST, MOVED))
      .then(restored(FIRST, MOVED))
      .when(watcher.landed(FIRST, moved))
      .then(extraPaymentAgain(FIRST, moved));
  });

  it('makes no second extra payment of a transaction that it moves', () => {
    const moved = { ...byCarol, ...MOVED };
    given(...paid, extraPayment(UNKNOWN, byCarol))
      .when(watcher.lost(UNKNOWN))
      .thenNothing()
      .when(watcher.landed(UNKNOWN, moved))
      .thenNothing();
    const other = { ...byCarol, index: '4' };
    given(...paid, extraPayment(UNKNOWN, byCarol))
      .when(watcher.landed(UNKNOWN, other))
      .then(extraPayment(UNKNOWN, other))
      .when(watcher.landed(UNKNOWN, moved))
      .thenNothing()
      .when(watcher.landed(SECOND, moved))
      .then(extraPayment(SECOND, moved));
  });

  it('undoes everything that the transaction paid, also what was seen in an earlier block', () => {
    given(created())
      .when(watcher.landed(FIRST, { index: '1' }))
      .then(pending(FIRST), confirmed(FIRST, { index: '1' }))
      .when(watcher.landed(FIRST))
      .then(extraPayment(FIRST))
      .when(watcher.landedFinal(FIRST, MOVED))
      .then(finalized(FIRST, MOVED))
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .when(watcher.lost(FIRST))
      .thenNothing();
  });

  it('makes a standing extra payment the settlement, which can be lost in turn', () => {
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

  it('does not settle the original with the payment of a late refund', () => {
    const refund = 'pi_late' as Parameters<typeof lateRefundPaid>[0];
    given(...paid, lateRefundPaid(refund, UNKNOWN, { block: 1n }))
      .when(watcher.lost(FIRST))
      .then(lost(FIRST));
  });

  it('fails the intent when the transaction is proven dead, and a later landing confirms it again', () => {
    given(...paid, lost(FIRST))
      .when(watcher.dropped(FIRST))
      .then(failed(FIRST, 'its nonce is used'))
      .showing({ state: 'failed' })
      .when(watcher.dropped(FIRST))
      .thenNothing()
      .when(watcher.landed(FIRST))
      .then(...confirmedLate(FIRST, {}, 'failed'))
      .showing({ state: 'confirmed' });
  });

  it('counts a transfer again that returns after a reorg that no watcher reported', () => {
    given(...paid)
      .when(watcher.landedFinal(FIRST, MOVED))
      .when(watcher.lost(FIRST))
      .then(lost(FIRST))
      .when(watcher.landed(FIRST))
      .then(restored(FIRST));
  });

  it('moves the evidence to the new place of the settling transaction', () => {
    given(...paid)
      .when(watcher.landedFinal(FIRST, MOVED))
      .then(finalized(FIRST, MOVED))
      .when(watcher.landed(FIRST, MOVED))
      .thenNothing();
  });
});

describe('a payment that is proven after it was reported', () => {
  const reported = mismatchedPayment(FIRST, UNPROVEN, 'reference');

  it('settles the intent that its own submission had failed', () => {
    given(created(), prepared(FIRST), pending(FIRST))
      .when(watcher.landed(FIRST, UNPROVEN))
      .then(reported, failed(FIRST, 'The transaction landed with another reference.'))
      .when(watcher.landed(FIRST))
      .then(mismatchWithdrawn(FIRST), ...confirmedLate(FIRST, {}, 'failed'))
      .showing({ state: 'confirmed', txSignature: FIRST });
  });

  it('settles the intent where a claim had reported it', () => {
    given(created())
      .when(gateway.report(FIRST, UNPROVEN))
      .then(claimedPayment(FIRST, UNPROVEN))
      .when(watcher.landedFinal(FIRST))
      .then(mismatchWithdrawn(FIRST), pending(FIRST), confirmed(FIRST), finalized(FIRST));
  });

  it('counts once, however often it is read with or without its reference afterwards', () => {
    given(created(), reported)
      .when(watcher.landed(FIRST))
      .then(mismatchWithdrawn(FIRST), pending(FIRST), confirmed(FIRST))
      .when(watcher.landed(FIRST, UNPROVEN))
      .thenNothing()
      .when(watcher.landed(FIRST))
      .thenNothing()
      .when(gateway.report(FIRST, UNPROVEN))
      .thenNothing();
  });

  it('stays reported where another term differs', () => {
    given(created(), reported)
      .when(watcher.landed(FIRST, { amount: 1n }))
      .thenNothing();
  });
});

describe('a report that was withdrawn as its transfer carries another reference', () => {
  const others = { reference: referenceOf(REFUND) };
  const withdrawn = [
    created(),
    mismatchedPayment(UNKNOWN, UNPROVEN, 'reference'),
    mismatchDisproved(UNKNOWN, others),
  ] as const;

  it('is not made again by an observation that comes late', () => {
    given(...withdrawn)
      .when(watcher.landed(UNKNOWN, UNPROVEN))
      .thenNothing()
      .knowing({ transfers: [], disproved: [`${UNKNOWN}:0`] })
      .when(watcher.disproved(UNKNOWN, others))
      .thenNothing();
  });

  it('leaves other transfers of its transaction to be reported, and one that pays the intent to settle it', () => {
    given(...withdrawn)
      .when(watcher.landed(UNKNOWN, { ...UNPROVEN, index: '9' }))
      .then(mismatchedPayment(UNKNOWN, { ...UNPROVEN, index: '9' }, 'reference'))
      .when(watcher.landed(UNKNOWN))
      .then(pending(UNKNOWN), confirmed(UNKNOWN));
  });

  it('is made again where its transaction is that of the live submission, which it ends', () => {
    given(...withdrawn, prepared(UNKNOWN), pending(UNKNOWN))
      .when(watcher.landed(UNKNOWN, UNPROVEN))
      .then(
        mismatchedPayment(UNKNOWN, UNPROVEN, 'reference'),
        failed(UNKNOWN, 'The transaction landed with another reference.'),
      );
  });

  it('is made again by a payer who claims the transfer, and withdrawn again', () => {
    given(...withdrawn)
      .when(gateway.report(UNKNOWN, UNPROVEN))
      .then(claimedPayment(UNKNOWN, UNPROVEN))
      .when(watcher.disproved(UNKNOWN, others))
      .then(mismatchDisproved(UNKNOWN, others))
      .knowing({ disproved: [`${UNKNOWN}:0`] });
  });
});

describe('a reported payment that is claimed for other intents, too', () => {
  const report = claimedPayment(FIRST, UNPROVEN);
  const others = Array.from({ length: 20 }, (_, place) => `pi_claim${place}` as IntentId);

  it('has an event that names all of them, once for each', () => {
    given(created(), report)
      .when(gateway.report(FIRST, UNPROVEN, REFUND))
      .then(paymentClaimed(FIRST, REFUND))
      .when(gateway.report(FIRST, UNPROVEN, REFUND))
      .thenNothing()
      .when(gateway.report(FIRST, UNPROVEN, others[0]))
      .then(paymentClaimed(FIRST, REFUND, ...others.slice(0, 1)));
  });

  it('names twenty of them at most', () => {
    given(created(), report, paymentClaimed(FIRST, ...others))
      .when(gateway.report(FIRST, UNPROVEN, REFUND))
      .thenNothing();
  });

  it('is left alone once it pays its intent', () => {
    given(created(), report, mismatchWithdrawn(FIRST), pending(FIRST), confirmed(FIRST))
      .when(gateway.report(FIRST, UNPROVEN, REFUND))
      .thenNothing();
  });

  it('settles its intent when it is proven', () => {
    given(created(), report, paymentClaimed(FIRST, REFUND))
      .when(watcher.landed(FIRST))
      .then(mismatchWithdrawn(FIRST), pending(FIRST), confirmed(FIRST));
  });
});

describe('an intent of direction send', () => {
  const payout = created({ direction: 'send', fulfiller: BOB });

  it('is settled by the wallet that it names', () => {
    given(payout).when(watcher.landed(FIRST)).then(pending(FIRST), confirmed(FIRST));
  });

  it('is not settled by another wallet, whose payment is reported', () => {
    given(payout)
      .when(watcher.landed(FIRST, { from: CAROL }))
      .then(mismatchedPayment(FIRST, { from: CAROL }, 'sender'))
      .showing({ state: 'created', fulfiller: BOB })
      .when(watcher.landed(SECOND))
      .then(pending(SECOND), confirmed(SECOND));
  });

  it('fails with the place where the money went', () => {
    given(payout, prepared(FIRST), pending(FIRST))
      .when(watcher.landed(FIRST, { to: CAROL }))
      .then(
        mismatchedPayment(FIRST, { to: CAROL }, 'recipient'),
        failed(FIRST, `The transaction landed with another recipient: ${CAROL} has the money.`),
      );
  });
});
