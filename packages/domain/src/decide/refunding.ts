import type { IntentId } from '../model/ids.ts';
import type { Answer } from '../model/decision.ts';
import type { Command } from '../model/input.ts';
import type { IntentStatus, Landing, PaymentIntent } from '../model/intent.ts';
import { accept, refuse, refuseState } from './answering.ts';
import { BrokenRuleError } from '../model/broken-rule.ts';
import type { Draft } from './draft.ts';
import { liveSubmission } from '../model/submission.ts';

/** `refund`: a new intent, the other way round, linked with its original in both directions. */
export const refund = (
  original: PaymentIntent,
  command: Extract<Command, { type: 'refund' }>,
  draft: Draft,
): Answer => {
  if (original.status !== 'confirmed' && original.status !== 'finalized') return refuseState(original, 'refunded');
  if (original.refundedBy !== null) {
    return refuse(original, 'intent.already_refunded', 'The payment intent has a refund already.', {
      details: { refund_intent_id: original.refundedBy },
    });
  }
  if (original.settlement?.lost === true)
    return refuseState(original, 'refunded while a reorganisation has undone its payment');
  if (original.fulfiller === null)
    throw new BrokenRuleError(`${original.id} is ${original.status} and nobody has paid it`);

  const { refundIntentId, reference, ttlSeconds } = command.data;
  draft.append(original.id, 'refund_linked', { refundIntentId });
  draft.append(refundIntentId, 'intent.created', {
    accountId: original.accountId,
    livemode: original.livemode,
    idempotencyKey: null,
    chain: original.chain,
    token: original.token,
    tokenAddress: original.tokenAddress,
    decimals: original.decimals,
    amount: original.amount,
    amountBaseUnits: original.amountBaseUnits,
    requestor: original.fulfiller,
    fulfiller: original.requestor,
    direction: 'send',
    reference,
    ttlSeconds,
    metadata: null,
    refundOf: original.id,
  });
  return accept(refundIntentId);
};

const ENDED_UNPAID: ReadonlySet<IntentStatus> = new Set(['expired', 'cancelled', 'failed']);

/**
 * Once a refund has ended unpaid and can no longer land, its original may be refunded anew, unless an earlier refund was
 * paid late meanwhile: then that is the refund. Looked at after each decision.
 */
export const releaseEndedRefund = (intentId: IntentId, draft: Draft): void => {
  const ended = draft.intent(intentId);
  if (
    ended === undefined ||
    ended.refundOf === null ||
    !ENDED_UNPAID.has(ended.status) ||
    liveSubmission(ended) !== undefined
  )
    return;
  const original = present(ended.refundOf, draft);
  if (original.refundedBy !== ended.id && !original.otherRefunds.includes(ended.id)) return;
  const released = draft.append(original.id, 'refund_released', { refundIntentId: ended.id });
  const paid = released.otherRefunds.at(-1);
  if (released.refundedBy === null && paid !== undefined)
    draft.append(original.id, 'refund_linked', { refundIntentId: paid });
};

/**
 * A refund that had ended was paid after all. Had its original been given free, it is linked again, and a successor for
 * which nothing is under way is cancelled, so that nobody pays twice; else the original may be refunded twice, says so, and
 * remembers the one that was paid.
 */
export const linkLateRefund = (paid: PaymentIntent, landing: Landing, draft: Draft): void => {
  if (paid.refundOf === null) return;
  const original = present(paid.refundOf, draft);
  if (original.refundedBy === paid.id) return;
  if (original.refundedBy !== null) {
    const successor = present(original.refundedBy, draft);
    if (successor.status !== 'created' || liveSubmission(successor) !== undefined) {
      if (!original.otherRefunds.includes(paid.id))
        draft.append(original.id, 'extra_payment_observed', { landing, refundIntentId: paid.id });
      return;
    }
    draft.append(successor.id, 'intent.cancelled', { cause: 'superseded' });
  }
  draft.append(original.id, 'refund_linked', { refundIntentId: paid.id });
};

const present = (id: IntentId, draft: Draft): PaymentIntent => {
  const intent = draft.intent(id);
  if (intent === undefined) throw new BrokenRuleError(`${id} belongs to a refund and is not there`);
  return intent;
};
