import { BrokenRuleError } from '../model/broken-rule.ts';
import type { Outcome } from '../model/decision.ts';
import type { IntentId } from '../model/ids.ts';
import type { Command } from '../model/input.ts';
import type { IntentStatus, Landing, PaymentIntent } from '../model/intent.ts';
import { paidAmount } from '../model/landing.ts';
import { refusalAtLimit } from '../model/limits.ts';
import { formatAmount } from '../model/money.ts';
import { isPaid, type Refusal, refusalUnlessOriginalPaid, refusalUnlessPaid } from '../model/refusal.ts';
import { liveSubmission } from '../model/submission.ts';
import type { Draft } from './draft.ts';
import { accept, refuse, refuseWith } from './outcome.ts';

/** `refund`: a new intent with requestor and fulfiller swapped, linked with its original in both directions. */
export const refund = (
  original: PaymentIntent,
  command: Extract<Command, { type: 'refund' }>,
  draft: Draft,
): Outcome => {
  const conflict = refusalUnlessPaid(original, 'it cannot be refunded');
  if (conflict !== null) return refuseWith(conflict);
  if (original.refundedBy !== null) {
    const message = `The payment intent already has the refund ${original.refundedBy}.`;
    return refuse(original, 'intent.already_refunded', message, {
      details: { refund_intent_id: original.refundedBy },
    });
  }
  if (!isPaid(original))
    return refuse(
      original,
      'intent.invalid_state',
      'A chain reorganization has undone the payment, so it cannot be refunded. Try again once it has landed again.',
    );
  const { refundIntentId, reference, ttlSeconds, to } = command.data;
  if (original.settlement?.depositId !== undefined && to === undefined)
    return refuse(
      original,
      'intent.invalid_state',
      `The deposit ${original.settlement.depositId} was assigned to the payment intent by hand: its sender may be an ` +
        'exchange or a bridge, which would keep the money. Ask the payer for an address, and pass it as `to`.',
    );

  const requestor = to ?? original.fulfiller;
  if (requestor === null) throw new BrokenRuleError(`${original.id} is ${original.status} without a fulfiller`);

  const limit = refusalAtLimit(original, 'refund');
  if (limit !== null) return refuseWith(limit);

  draft.append(original.id, 'refund_linked', { refundIntentId });
  draft.append(refundIntentId, 'intent.created', {
    accountId: original.accountId,
    livemode: original.livemode,
    idempotencyKey: null,
    chain: original.chain,
    token: original.token,
    tokenAddress: original.tokenAddress,
    decimals: original.decimals,
    ...received(original),
    requestor,
    fulfiller: original.requestor,
    direction: 'send',
    reference,
    ttlSeconds,
    metadata: null,
    refundOf: original.id,
  });
  return accept(refundIntentId);
};

/** A refund returns what has arrived. */
const received = ({ amount, amountBaseUnits, amountReceived = amountBaseUnits, decimals }: PaymentIntent) =>
  amountReceived === amountBaseUnits
    ? { amount, amountBaseUnits }
    : { amount: formatAmount(amountReceived, decimals), amountBaseUnits: amountReceived };

/** Null for any intent but a refund whose original payment has been undone. */
export const refusalOfUndoneRefund = (intent: PaymentIntent, draft: Draft): Refusal | null =>
  intent.refundOf === null ? null : refusalUnlessOriginalPaid(intent, required(intent.refundOf, draft));

/**
 * What a change of one intent means for its refund and its original. Checked after each decision.
 *
 * Where one of the two is held, a refund of a failed payment is not cancelled: it cannot be claimed either way
 * (refusalUnlessOriginalPaid), and it expires. So the other one's transaction is followed. What has to be written on a
 * held original waits: the refund does not end before.
 * @throws HeldIntentError
 */
export const settleRefunds = (intentId: IntentId, draft: Draft): void => {
  const changed = draft.intent(intentId);
  if (changed === undefined) return;
  cancelRefundOfFailed(changed, draft);
  if (changed.refundOf !== null && !draft.isHeld(changed.refundOf))
    cancelRefundOfFailed(required(changed.refundOf, draft), draft);
  releaseEndedRefund(intentId, draft);
};

/**
 * A payment that failed after all has nothing to refund: its refund is cancelled, as long as no transaction of it can
 * land. What is on its way stays what the chain says.
 */
const cancelRefundOfFailed = ({ status, refundedBy }: PaymentIntent, draft: Draft): void => {
  if (status !== 'failed' || refundedBy === null || draft.isHeld(refundedBy)) return;
  const refund = required(refundedBy, draft);
  if (refund.status !== 'created' || liveSubmission(refund) !== undefined) return;
  draft.append(refund.id, 'intent.cancelled', { cause: 'superseded' });
  releaseEndedRefund(refund.id, draft);
};

const ENDED_UNPAID: ReadonlySet<IntentStatus> = new Set(['expired', 'cancelled', 'failed']);

/**
 * Once a refund has ended unpaid and can no longer land, its original may be refunded again, unless an earlier refund
 * was paid late meanwhile: then that one is the refund.
 */
const releaseEndedRefund = (intentId: IntentId, draft: Draft): void => {
  const ended = draft.intent(intentId);
  if (
    ended === undefined ||
    ended.refundOf === null ||
    !ENDED_UNPAID.has(ended.status) ||
    liveSubmission(ended) !== undefined
  )
    return;
  const original = required(ended.refundOf, draft);
  if (original.refundedBy !== ended.id && !original.otherRefunds.includes(ended.id)) return;
  const released = draft.append(original.id, 'refund_released', { refundIntentId: ended.id });
  const paid = released.otherRefunds.at(-1);
  if (released.refundedBy === null && paid !== undefined)
    draft.append(original.id, 'refund_linked', { refundIntentId: paid });
};

/**
 * A refund that had ended was paid after all. Where its original was released, the refund is linked again, and its
 * successor is cancelled if no transaction of it can land, so that it is not paid too. Otherwise the original may be
 * refunded twice: an event says so, and the paid refund is kept in `otherRefunds`.
 */
export const linkLateRefund = (paid: PaymentIntent, landing: Landing, draft: Draft): void => {
  if (paid.refundOf === null) return;
  const original = required(paid.refundOf, draft);
  if (original.refundedBy === paid.id) return;
  if (original.refundedBy !== null) {
    const successor = required(original.refundedBy, draft);
    if (successor.status !== 'created' || liveSubmission(successor) !== undefined) {
      if (!original.otherRefunds.includes(paid.id))
        draft.append(original.id, 'extra_payment_observed', {
          landing,
          refundIntentId: paid.id,
          ...paidAmount(original, landing),
        });
      return;
    }
    draft.append(successor.id, 'intent.cancelled', { cause: 'superseded' });
  }
  draft.append(original.id, 'refund_linked', { refundIntentId: paid.id });
};

const required = (id: IntentId, draft: Draft): PaymentIntent => {
  const intent = draft.intent(id);
  if (intent === undefined) throw new BrokenRuleError(`${id} belongs to a refund and does not exist`);
  return intent;
};
