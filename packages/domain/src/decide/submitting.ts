import type { TransactionHash } from '../model/ids.ts';
import type { Answer } from '../model/decision.ts';
import type { Command } from '../model/input.ts';
import type { Lifetime, PaymentIntent, PreparedTransaction, Submission } from '../model/intent.ts';
import { accept, refuse, refuseInProgress, refuseOutsideCreated, refuseState } from './answering.ts';
import type { Draft } from './draft.ts';
import { liveSubmission, RELEASE_WITHIN_MS, submissionOf } from '../model/submission.ts';

/** `prepare_submission`: claims the intent for one transaction before anything is broadcast, so that two payers never both do. */
export const prepareSubmission = (
  intent: PaymentIntent,
  command: Extract<Command, { type: 'prepare_submission' }>,
  draft: Draft,
): Answer => {
  const { transaction } = command.data;
  const { hash } = transaction;
  const earlier = submissionOf(intent, hash);
  if (isPast(intent, hash, earlier))
    return accept(intent.id, earlier === undefined ? {} : { attempts: earlier.attempts });
  if (intent.simulated) return refuseState(intent, 'paid on chain once it was simulated');
  if (intent.status !== 'created') return refuseOutsideCreated(intent, 'paid');

  const differs = differences(intent, transaction);
  if (Object.keys(differs).length > 0) {
    return refuse(intent, 'transaction.mismatch', 'The transaction does not pay exactly this payment intent.', {
      details: differs,
    });
  }
  const live = liveSubmission(intent);
  if (live !== undefined && live.hash !== hash && !excludes(live, transaction)) return refuseInProgress(intent);

  // A released one was taken by nobody: it begins anew, and may be released again. One that takes the place of another
  // counts that one's: a node that has it refuses the new one, and the old one may land after all.
  const own = earlier === undefined || earlier.status === 'released' ? 0 : earlier.attempts;
  const attempts = Math.max(own, live?.attempts ?? 0) + 1;
  draft.append(intent.id, 'submission_prepared', { transaction, attempts });
  return accept(intent.id, { attempts });
};

/** `record_broadcast`: a node has the transaction. A released one was sent after all: it counts while no other is live. */
export const recordBroadcast = (
  intent: PaymentIntent,
  command: Extract<Command, { type: 'record_broadcast' }>,
  draft: Draft,
): Answer => {
  const { hash } = command.data;
  const submission = submissionOf(intent, hash);
  const counts =
    submission?.status === 'live' || (submission?.status === 'released' && liveSubmission(intent) === undefined);
  if (intent.status === 'created' && !intent.simulated && submission !== undefined && counts) {
    draft.append(intent.id, 'intent.pending', { hash, fulfiller: submission.sender, simulated: false });
  }
  return accept(intent.id);
};

/** `release_submission`: the node refused it. Prepared more than once, or long ago, another broadcast may have been taken, so the claim stays. */
export const releaseSubmission = (
  intent: PaymentIntent,
  command: Extract<Command, { type: 'release_submission' }>,
  draft: Draft,
): Answer => {
  const { hash, reason } = command.data;
  const submission = submissionOf(intent, hash);
  if (
    intent.status === 'created' &&
    submission?.status === 'live' &&
    submission.attempts === 1 &&
    draft.now - submission.preparedAt < RELEASE_WITHIN_MS
  ) {
    draft.append(intent.id, 'submission_released', { hash, outcome: 'refused', reason });
  }
  return accept(intent.id);
};

/** True for a transaction of this intent about which there is nothing left to claim: the present state is the answer. */
const isPast = (intent: PaymentIntent, hash: TransactionHash, earlier: Submission | undefined): boolean => {
  if (intent.txSignature === hash) return true;
  if (earlier === undefined) return false;
  switch (earlier.status) {
    case 'released':
      return false;
    case 'live':
    case 'replaced':
      return intent.status !== 'created';
    case 'dropped':
    case 'landed':
    case 'reverted':
      return true;
    default:
      return earlier.status satisfies never;
  }
};

/**
 * True when at most one of the two can land (they use up the same nonce of the same sender) and the death of the other
 * is the death of this one too: it may not be over before.
 */
const excludes = (one: PreparedTransaction, other: PreparedTransaction): boolean =>
  one.nonce !== null &&
  one.nonce === other.nonce &&
  one.sender === other.sender &&
  livesAsLongAs(other.lifetime, one.lifetime);

const livesAsLongAs = (one: Lifetime, other: Lifetime): boolean =>
  one.kind !== 'time' || (other.kind === 'time' && one.validBefore >= other.validBefore);

interface Difference {
  readonly expected: string | null;
  readonly actual: string;
}

/** What the transaction was verified to pay, against what the intent asks for now. Shaped as the chains name what differs. */
const differences = (
  intent: PaymentIntent,
  { terms, sender }: PreparedTransaction,
): Readonly<Record<string, Difference>> => {
  const differs: Record<string, Difference> = {};
  const compare = (name: string, expected: string | null, actual: string): void => {
    if (expected !== actual) differs[name] = { expected, actual };
  };
  compare('chain', intent.chain, terms.chain);
  compare('token', intent.tokenAddress, terms.tokenAddress);
  compare('amount', intent.amountBaseUnits.toString(), terms.amount.toString());
  compare('recipient', intent.requestor, terms.requestor);
  compare('reference', intent.reference, terms.reference);
  if (intent.direction === 'send') compare('sender', intent.fulfiller, sender);
  else if (sender === intent.requestor) differs['sender'] = { expected: null, actual: sender };
  return differs;
};
