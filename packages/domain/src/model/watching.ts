import type { Instant } from './ids.ts';
import type { PaymentIntent } from './intent.ts';
import { liveSubmission } from './submission.ts';

/**
 * Until when the chain is watched for payments with this intent's reference.
 * @param watchMs how long watching goes on after settlement, failure, expiry or cancellation (default: 30 days).
 * @returns null while there is no end: the intent is open, or its settling transaction is not final or was lost.
 */
export const watchedUntil = (intent: PaymentIntent, watchMs: number): Instant | null => {
  if (intent.closedAt === null || (intent.status === 'finalized' && intent.settlement?.lost === true)) return null;
  return intent.closedAt + watchMs;
};

/** True while a watcher looks for this intent's payments. A simulated one has nothing on chain. */
export const isWatched = (intent: PaymentIntent, now: Instant, watchMs: number): boolean => {
  if (intent.simulated) return false;
  const until = watchedUntil(intent, watchMs);
  return until === null || now < until;
};

/**
 * True while a watcher follows the settling transaction: it is not final yet, or a reorg orphaned it. An intent that
 * failed after that is proven unpaid, and there is nothing left to follow.
 */
export const isSettlementFollowed = ({ status, settlement }: Pick<PaymentIntent, 'status' | 'settlement'>): boolean =>
  settlement !== null && status !== 'failed' && (!settlement.finalized || settlement.lost);

/**
 * True for an intent that ended before a time and has not changed since, and that no transaction which is known can
 * change any more: what is asked about it is its past.
 */
export const isAtRest = (intent: PaymentIntent, since: Instant): boolean =>
  intent.heldFrom === undefined &&
  intent.closedAt !== null &&
  intent.closedAt < since &&
  intent.updatedAt < since &&
  watchedUntil(intent, 0) !== null &&
  liveSubmission(intent) === undefined;
