import { describe, it } from '@jest/globals';
import type { IntentId, TransactionHash } from '@pf/domain';
import type { ExpectedEvent } from '../../src/testing/given.ts';
import { given } from '../../src/testing/given.ts';
import {
  cancelled,
  confirmed,
  created,
  dropped,
  expired,
  failed,
  finalized,
  lateRefundPaid,
  lost,
  mismatchedPayment,
  of,
  pending,
  prepared,
  refused,
  refundConfirmed,
  refundCreated,
  refundLinked,
  refundReleased,
  restored,
  retryRequired,
  simulated,
} from '../../src/testing/events.ts';
import { about, gateway, owner, watcher } from '../../src/testing/inputs.ts';
import {
  ALICE,
  BOB,
  CAROL,
  FIRST,
  INTENT,
  REFUND,
  REFUNDING,
  REFUNDING_AGAIN,
  refundTransfer,
  signedRefund,
  SCENARIO_START,
  SUCCESSOR,
  TTL_SECONDS,
  UNKNOWN,
} from '../../src/testing/samples.ts';

const MUCH_LATER = SCENARIO_START + 2 * TTL_SECONDS * 1000;
const paid: readonly ExpectedEvent[] = [
  created({ metadata: { order: '7' } }),
  prepared(FIRST),
  pending(FIRST),
  confirmed(FIRST),
];
const refunded = (id: IntentId): readonly ExpectedEvent[] => [refundLinked(id), refundCreated(id)];
const preparedRefund = (id: IntentId, hash: TransactionHash): ExpectedEvent =>
  of(id, { type: 'submission_prepared', data: { transaction: signedRefund(id, hash), attempts: 1 } });
const pendingRefund = (id: IntentId, hash: TransactionHash): ExpectedEvent =>
  of(id, pending(hash, { fulfiller: ALICE }));

describe('refund', () => {
  it('pays the same amount back to the actual payer and links original and refund', () => {
    given(created({ fulfiller: BOB }), pending(UNKNOWN, { fulfiller: CAROL }), confirmed(UNKNOWN, { from: CAROL }))
      .when(gateway.refund())
      .withOutcome({ intentId: REFUND })
      .showing({ state: 'confirmed', refundedBy: REFUND, refundOf: null })
      .showing(
        {
          state: 'created',
          requestor: CAROL,
          fulfiller: ALICE,
          direction: 'send',
          amount: '12.50',
          amountBaseUnits: '12500000',
          token: 'USDC',
          refundOf: INTENT,
          metadata: null,
        },
        REFUND,
      );
  });

  it('pays another address where one is given', () => {
    given(...paid)
      .when(gateway.refund(REFUND, CAROL))
      .showing({ requestor: CAROL, fulfiller: ALICE, direction: 'send', refundOf: INTENT }, REFUND);
  });

  it('is refused with the id of the existing refund', () => {
    given(...paid, ...refunded(REFUND))
      .when(gateway.refund(SUCCESSOR))
      .thenRefused('intent.already_refunded')
      .withOutcome({ details: { refund_intent_id: REFUND } });
  });

  it('can itself be refunded once it is paid', () => {
    given(...paid, ...refunded(REFUND), pendingRefund(REFUND, REFUNDING), ...refundConfirmed(REFUND, REFUNDING))
      .when(about(REFUND, gateway.refund(SUCCESSOR)))
      .withOutcome({ intentId: SUCCESSOR })
      .showing({ refundOf: REFUND, requestor: ALICE, fulfiller: BOB }, SUCCESSOR);
  });
});

describe('the original of a refund', () => {
  it('can be refunded again when its refund was cancelled', () => {
    given(...paid, ...refunded(REFUND))
      .when(about(REFUND, gateway.cancel()))
      .then(of(REFUND, cancelled()), refundReleased(REFUND))
      .showing({ refundedBy: null })
      .when(gateway.refund(SUCCESSOR))
      .then(refundLinked(SUCCESSOR), refundCreated(SUCCESSOR));
  });

  it('can be refunded again when its refund expired without a submission', () => {
    given(...paid, ...refunded(REFUND))
      .when(about(REFUND, owner.expire()), MUCH_LATER)
      .then(of(REFUND, expired(false)), refundReleased(REFUND));
  });

  it('can be refunded again when a command finds its refund past expiresAt', () => {
    given(...paid, ...refunded(REFUND))
      .when(about(REFUND, gateway.cancel()), MUCH_LATER)
      .thenRefused('intent.expired', of(REFUND, expired(false)), refundReleased(REFUND));
  });

  it('can be refunded again when its refund reverted', () => {
    given(...paid, ...refunded(REFUND), preparedRefund(REFUND, REFUNDING))
      .when(about(REFUND, watcher.reverted(REFUNDING)))
      .then(pendingRefund(REFUND, REFUNDING), of(REFUND, failed(REFUNDING)), refundReleased(REFUND));
  });

  it('can be refunded again when its confirmed refund was lost and proven dead', () => {
    given(
      ...paid,
      ...refunded(REFUND),
      preparedRefund(REFUND, REFUNDING),
      pendingRefund(REFUND, REFUNDING),
      ...refundConfirmed(REFUND, REFUNDING),
      of(REFUND, lost(REFUNDING)),
    )
      .when(about(REFUND, watcher.dropped(REFUNDING)))
      .then(of(REFUND, failed(REFUNDING, 'its nonce is used')), refundReleased(REFUND));
  });

  it('can be refunded again when the end of its refund was simulated', () => {
    given(...paid, ...refunded(REFUND))
      .when(about(REFUND, gateway.simulate('cancelled')))
      .then(of(REFUND, simulated.cancelled()), refundReleased(REFUND));
  });

  it('cannot be refunded again before the live submission of the expired refund is dropped', () => {
    given(...paid, ...refunded(REFUND), preparedRefund(REFUND, REFUNDING))
      .when(about(REFUND, owner.expire()), MUCH_LATER)
      .then(of(REFUND, expired(true)))
      .when(gateway.refund(SUCCESSOR))
      .thenRefused('intent.already_refunded')
      .when(about(REFUND, watcher.dropped(REFUNDING)))
      .then(of(REFUND, dropped(REFUNDING)), refundReleased(REFUND));
  });

  it('can be refunded again when the submission of the expired refund landed with other terms', () => {
    const less = { ...refundTransfer(REFUND), amount: 1n };
    given(...paid, ...refunded(REFUND), preparedRefund(REFUND, REFUNDING), of(REFUND, expired(true)))
      .when(about(REFUND, watcher.landed(REFUNDING, less)))
      .then(of(REFUND, mismatchedPayment(REFUNDING, less, 'amount')), refundReleased(REFUND));
  });
});

describe('a released refund that lands late', () => {
  const released = [
    ...paid,
    ...refunded(REFUND),
    preparedRefund(REFUND, REFUNDING),
    of(REFUND, dropped(REFUNDING)),
    of(REFUND, expired(false)),
    refundReleased(REFUND),
  ];
  const late = about(REFUND, watcher.landed(REFUNDING, refundTransfer(REFUND)));

  it('does not touch its successor when the landing has other terms', () => {
    const less = { ...refundTransfer(REFUND), amount: 1n };
    given(...released, ...refunded(SUCCESSOR))
      .when(about(REFUND, watcher.landed(UNKNOWN, less)))
      .then(of(REFUND, mismatchedPayment(UNKNOWN, less, 'amount')))
      .showing({ refundedBy: SUCCESSOR });
  });

  it('is linked again when the original has no other refund', () => {
    given(...released)
      .when(late)
      .then(...refundConfirmed(REFUND, REFUNDING, 'expired'), refundLinked(REFUND))
      .showing({ refundedBy: REFUND })
      .when(gateway.refund(SUCCESSOR))
      .thenRefused('intent.already_refunded');
  });

  it('is not linked again when it was never released', () => {
    given(...paid, ...refunded(REFUND), preparedRefund(REFUND, REFUNDING), of(REFUND, expired(true)))
      .when(late)
      .then(...refundConfirmed(REFUND, REFUNDING, 'expired'));
  });

  it('cancels a successor without a submission', () => {
    given(...released, ...refunded(SUCCESSOR))
      .when(late)
      .then(
        ...refundConfirmed(REFUND, REFUNDING, 'expired'),
        of(SUCCESSOR, cancelled('superseded')),
        refundLinked(REFUND),
      )
      .showing({ refundedBy: REFUND })
      .showing({ state: 'cancelled' }, SUCCESSOR);
  });

  it('is finalized before its successor is cancelled when it is first seen as final', () => {
    given(...released, ...refunded(SUCCESSOR))
      .when(about(REFUND, watcher.landedFinal(REFUNDING, refundTransfer(REFUND))))
      .then(
        ...refundConfirmed(REFUND, REFUNDING, 'expired'),
        of(REFUND, finalized(REFUNDING, refundTransfer(REFUND))),
        of(SUCCESSOR, cancelled('superseded')),
        refundLinked(REFUND),
      );
  });

  it('is recorded on the original as an extra payment when its successor was submitted too', () => {
    const twice = lateRefundPaid(REFUND, REFUNDING, refundTransfer(REFUND));
    for (const submitted of [
      [preparedRefund(SUCCESSOR, REFUNDING_AGAIN)],
      [preparedRefund(SUCCESSOR, REFUNDING_AGAIN), pendingRefund(SUCCESSOR, REFUNDING_AGAIN)],
      [pendingRefund(SUCCESSOR, REFUNDING_AGAIN), ...refundConfirmed(SUCCESSOR, REFUNDING_AGAIN)],
      [preparedRefund(SUCCESSOR, REFUNDING_AGAIN), of(SUCCESSOR, expired(true))],
    ]) {
      given(...released, ...refunded(SUCCESSOR), ...submitted)
        .when(late)
        .then(...refundConfirmed(REFUND, REFUNDING, 'expired'), twice)
        .showing({ refundedBy: SUCCESSOR })
        .when(late)
        .thenNothing();
    }
  });

  describe('a late refund beside a submitted successor that is never paid', () => {
    const paidBeside = [
      ...refundConfirmed(REFUND, REFUNDING, 'expired'),
      lateRefundPaid(REFUND, REFUNDING, refundTransfer(REFUND)),
    ];
    const both = [...released, ...refunded(SUCCESSOR), preparedRefund(SUCCESSOR, REFUNDING_AGAIN), ...paidBeside];

    it('becomes the refund when the successor reverts', () => {
      given(...both)
        .when(about(SUCCESSOR, watcher.reverted(REFUNDING_AGAIN)))
        .then(
          pendingRefund(SUCCESSOR, REFUNDING_AGAIN),
          of(SUCCESSOR, failed(REFUNDING_AGAIN)),
          refundReleased(SUCCESSOR),
          refundLinked(REFUND),
        )
        .showing({ refundedBy: REFUND })
        .when(gateway.refund('pi_4third' as IntentId))
        .thenRefused('intent.already_refunded')
        .withOutcome({ details: { refund_intent_id: REFUND } });
    });

    it('becomes the refund when the successor expires and is dropped', () => {
      given(...both, of(SUCCESSOR, expired(true)))
        .when(about(SUCCESSOR, watcher.dropped(REFUNDING_AGAIN)))
        .then(of(SUCCESSOR, dropped(REFUNDING_AGAIN)), refundReleased(SUCCESSOR), refundLinked(REFUND))
        .showing({ refundedBy: REFUND });
    });

    it('does not become the refund after its own payment was lost and proven dead', () => {
      given(...both, of(REFUND, lost(REFUNDING)))
        .when(about(REFUND, watcher.dropped(REFUNDING)))
        .then(of(REFUND, failed(REFUNDING, 'its nonce is used')), refundReleased(REFUND))
        .showing({ refundedBy: SUCCESSOR })
        .when(about(SUCCESSOR, watcher.reverted(REFUNDING_AGAIN)))
        .then(
          pendingRefund(SUCCESSOR, REFUNDING_AGAIN),
          of(SUCCESSOR, failed(REFUNDING_AGAIN)),
          refundReleased(SUCCESSOR),
        )
        .showing({ refundedBy: null });
    });

    it('becomes the refund when it lands again after that', () => {
      given(...both, of(REFUND, lost(REFUNDING)), of(REFUND, failed(REFUNDING)), refundReleased(REFUND))
        .when(late)
        .then(
          ...refundConfirmed(REFUND, REFUNDING, 'failed'),
          lateRefundPaid(REFUND, REFUNDING, refundTransfer(REFUND)),
        )
        .when(about(SUCCESSOR, watcher.reverted(REFUNDING_AGAIN)))
        .showing({ refundedBy: REFUND });
    });
  });

  it('counts once against the original when it is lost and lands again', () => {
    const paidTwice = [
      ...refundConfirmed(REFUND, REFUNDING, 'expired'),
      lateRefundPaid(REFUND, REFUNDING, refundTransfer(REFUND)),
      of(REFUND, lost(REFUNDING)),
      of(REFUND, failed(REFUNDING)),
    ];
    given(
      ...released,
      ...refunded(SUCCESSOR),
      pendingRefund(SUCCESSOR, REFUNDING_AGAIN),
      ...refundConfirmed(SUCCESSOR, REFUNDING_AGAIN),
      ...paidTwice,
    )
      .when(late)
      .then(...refundConfirmed(REFUND, REFUNDING, 'failed'));
  });
});

describe('a refund whose original payment was undone', () => {
  const undone = [...paid, ...refunded(REFUND), lost(FIRST)];
  const build = about(REFUND, gateway.recordBuild({ fulfiller: ALICE }));
  const prepare = about(REFUND, gateway.prepare(REFUNDING, signedRefund(REFUND, REFUNDING)));

  it('can neither be built nor submitted', () => {
    given(...undone)
      .when(build)
      .thenRefused('intent.original_unpaid')
      .withOutcome({ intentId: REFUND, details: { original_intent_id: INTENT } })
      .when(prepare)
      .thenRefused('intent.original_unpaid');
  });

  it('cannot be submitted once more while it is claimed', () => {
    given(...undone.slice(0, -1), preparedRefund(REFUND, REFUNDING), lost(FIRST))
      .when(prepare)
      .thenRefused('intent.original_unpaid');
  });

  it('can be paid again once the payment has landed again', () => {
    given(...undone)
      .when(watcher.landed(UNKNOWN))
      .then(restored(UNKNOWN))
      .when(prepare)
      .then(preparedRefund(REFUND, REFUNDING));
  });

  it('is confirmed when it lands all the same', () => {
    given(...undone.slice(0, -1), preparedRefund(REFUND, REFUNDING), pendingRefund(REFUND, REFUNDING), lost(FIRST))
      .when(about(REFUND, watcher.landed(REFUNDING, refundTransfer(REFUND))))
      .then(...refundConfirmed(REFUND, REFUNDING));
  });

  it('is cancelled and released when the payment is proven dead', () => {
    for (const proof of [watcher.dropped(FIRST), watcher.reverted(FIRST)]) {
      const reason = proof.type === 'dropped' ? 'its nonce is used' : 'it reverted';
      given(...undone)
        .when(proof)
        .then(failed(FIRST, reason), of(REFUND, cancelled('superseded')), refundReleased(REFUND))
        .showing({ state: 'failed', refundedBy: null })
        .showing({ state: 'cancelled' }, REFUND);
    }
  });

  describe('and that is claimed when the payment is proven dead', () => {
    const claimed = [...undone.slice(0, -1), preparedRefund(REFUND, REFUNDING), lost(FIRST)];

    it('keeps its claim', () => {
      given(...claimed)
        .when(watcher.dropped(FIRST))
        .then(failed(FIRST, 'its nonce is used'))
        .when(prepare)
        .thenRefused('intent.original_unpaid');
    });

    it('is cancelled when a node refuses its transaction', () => {
      const claimedNow = given(...claimed).when(watcher.dropped(FIRST));
      claimedNow
        .when(about(REFUND, gateway.release(REFUNDING)))
        .then(of(REFUND, refused(REFUNDING)), of(REFUND, cancelled('superseded')), refundReleased(REFUND));
    });

    it('is cancelled when its transaction is dropped', () => {
      given(...claimed, of(REFUND, pending(REFUNDING, { fulfiller: ALICE })), failed(FIRST))
        .when(about(REFUND, watcher.dropped(REFUNDING)))
        .then(of(REFUND, retryRequired(REFUNDING)), of(REFUND, cancelled('superseded')), refundReleased(REFUND));
    });

    it('is confirmed when its transaction lands', () => {
      given(...claimed, failed(FIRST))
        .when(about(REFUND, watcher.landed(REFUNDING, refundTransfer(REFUND))))
        .then(pendingRefund(REFUND, REFUNDING), ...refundConfirmed(REFUND, REFUNDING));
    });
  });
});
