import type { Outcome } from '../model/decision.ts';
import type { Command } from '../model/input.ts';
import type { Lifetime, PaymentIntent, PreparedTransaction } from '../model/intent.ts';
import { refusalAtClaims } from '../model/limits.ts';
import { refusalInProgress, refusalUnlessCreated } from '../model/refusal.ts';
import { claimsOf, isPastClaim, liveSubmission, RELEASE_WITHIN_MS, submissionOf } from '../model/submission.ts';
import { termsOf } from '../model/terms.ts';
import type { Draft } from './draft.ts';
import { accept, refuse, refuseWith } from './outcome.ts';
import { refusalOfUndoneRefund } from './refunding.ts';

/**
 * `prepare_submission`: claims the intent for one transaction before it is broadcast, so that two payers never both
 * broadcast.
 */
export const prepareSubmission = (
  intent: PaymentIntent,
  command: Extract<Command, { type: 'prepare_submission' }>,
  draft: Draft,
): Outcome => {
  const { transaction } = command.data;
  const { hash } = transaction;
  const earlier = submissionOf(intent, hash);
  if (isPastClaim(intent, hash)) return accept(intent.id, earlier === undefined ? {} : { attempts: earlier.attempts });
  if (intent.simulated)
    return refuse(
      intent,
      'intent.invalid_state',
      'The payment intent has been simulated, so it cannot be paid on chain. Create another one.',
    );
  const conflict = refusalUnlessCreated(intent, 'it cannot be paid');
  if (conflict !== null) return refuseWith(conflict);
  const undone = refusalOfUndoneRefund(intent, draft);
  if (undone !== null) return refuseWith(undone);

  const differs = differences(intent, transaction);
  if (Object.keys(differs).length > 0) {
    const message = `The transaction does not pay this payment intent: ${Object.keys(differs).join(', ')} must match.`;
    return refuse(intent, 'transaction.mismatch', message, { details: differs });
  }
  const live = liveSubmission(intent);
  if (live !== undefined && live.hash !== hash && !excludes(live, transaction))
    return refuseWith(refusalInProgress(intent));

  const limit = refusalAtClaims(intent, transaction.sender);
  if (limit !== null) {
    // A claimed transaction may still land: its payer may submit it again, and is not told to pay elsewhere.
    if (earlier?.status === 'live') return accept(intent.id, { attempts: Math.max(2, earlier.attempts) });
    return refuseWith(live === undefined ? limit : refusalInProgress(intent));
  }

  // No node took a released one: its count starts again, and it may be released again. One that replaces another
  // continues its count: a node that has the old one refuses the new one, and the old one may still land.
  const own = earlier === undefined || earlier.status === 'released' ? 0 : earlier.attempts;
  const attempts = Math.max(own, live?.attempts ?? 0) + 1;
  const claims = earlier === undefined ? 1 : claimsOf(earlier) + 1;
  const counts = claims !== attempts || earlier?.claims !== undefined;
  draft.append(intent.id, 'submission_prepared', { transaction, attempts, ...(counts ? { claims } : {}) });
  return accept(intent.id, { attempts });
};

/** `record_broadcast`: a node has the transaction. A released one was sent after all: it counts if no other is live. */
export const recordBroadcast = (
  intent: PaymentIntent,
  command: Extract<Command, { type: 'record_broadcast' }>,
  draft: Draft,
): Outcome => {
  const { hash } = command.data;
  const submission = submissionOf(intent, hash);
  const counts =
    submission?.status === 'live' || (submission?.status === 'released' && liveSubmission(intent) === undefined);
  if (intent.status === 'created' && !intent.simulated && submission !== undefined && counts) {
    draft.append(intent.id, 'intent.pending', { hash, fulfiller: submission.sender, simulated: false });
  }
  return accept(intent.id);
};

/**
 * `release_submission`: a node refused it. The claim stays where the transaction was prepared more than once, or too
 * long ago: a node may have accepted another broadcast of it.
 */
export const releaseSubmission = (
  intent: PaymentIntent,
  command: Extract<Command, { type: 'release_submission' }>,
  draft: Draft,
): Outcome => {
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

/**
 * True when at most one of the two can land, because they use the same nonce of the same sender, and `other` lives at
 * least as long: once `other` can no longer land, neither can `one`.
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

/** The verified terms against those of the intent now, with the field names of the chain adapters. */
const differences = (
  intent: PaymentIntent,
  { terms, sender }: PreparedTransaction,
): Readonly<Record<string, Difference>> => {
  const differs: Record<string, Difference> = {};
  const compare = (name: string, expected: string | null, actual: string): void => {
    if (expected !== actual) differs[name] = { expected, actual };
  };
  const expected = termsOf(intent);
  compare('chain', expected.chain, terms.chain);
  compare('token', expected.tokenAddress, terms.tokenAddress);
  compare('amount', expected.amount.toString(), terms.amount.toString());
  compare('recipient', expected.requestor, terms.requestor);
  compare('reference', expected.reference, terms.reference);
  if (intent.direction === 'send') compare('sender', intent.fulfiller, sender);
  else if (sender === intent.requestor) differs['sender'] = { expected: null, actual: sender };
  return differs;
};
