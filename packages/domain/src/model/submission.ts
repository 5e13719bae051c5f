import type { Instant, TransactionHash } from './ids.ts';
import type { PaymentIntent, Submission } from './intent.ts';

/**
 * How long after its preparation a submission can be released, by the writer's clock. A refusal by a node that comes
 * later does not release it: by then the watcher may have broadcast the same bytes.
 */
export const RELEASE_WITHIN_MS = 7_000;
/**
 * From this age on, by the watcher's clock, the writer no longer releases a submission. With d = CLOCK_TOLERANCE_MS +
 * CLOCK_SLIP_MS, a clock that is proven is never further than d from the references'. When the watcher's clock shows
 * preparedAt + UNRELEASABLE_AFTER_MS, the references show at least that less d, and the writer's clock at least that
 * less 2d. Event time is never before the writer's clock, and 12,000 - 2 * 2,250 = 7,500 is past RELEASE_WITHIN_MS, so
 * whatever is decided from then on is no release.
 */
export const UNRELEASABLE_AFTER_MS = 12_000;

/** The submission that can still land; there is at most one. */
export const liveSubmission = (intent: PaymentIntent): Submission | undefined =>
  intent.submissions.find(({ status }) => status === 'live');

/** The submission of this transaction, whatever its status. */
export const submissionOf = (intent: PaymentIntent, hash: TransactionHash): Submission | undefined =>
  intent.submissions.find((submission) => submission.hash === hash);

/**
 * True for a payment that its wallet has authorized, and that anyone may send: its hash is the authorization's, and its
 * nonce the intent's reference. Two of one wallet exclude each other, like transactions with one nonce.
 */
export const isAuthorization = ({ nonce, terms }: Pick<Submission, 'nonce' | 'terms'>): boolean =>
  nonce === terms.reference;

/** How often this transaction has claimed the intent. */
export const claimsOf = ({ claims, attempts }: Submission): number => claims ?? attempts;

/** True while this transaction is the one that can still land. */
export const isLive = (intent: PaymentIntent, hash: TransactionHash): boolean =>
  submissionOf(intent, hash)?.status === 'live';

/**
 * True for a transaction of this intent that is past its claim: it was broadcast, landed, reverted or was dropped. To
 * submit it again changes nothing, and the response shows the intent as it is now.
 */
export const isPastClaim = (intent: PaymentIntent, hash: TransactionHash): boolean => {
  if (intent.txSignature === hash) return true;
  const submission = submissionOf(intent, hash);
  if (submission === undefined) return false;
  switch (submission.status) {
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
      return submission.status satisfies never;
  }
};

/**
 * When the watcher broadcasts a submission again for the first time. One that can still be released waits until it
 * cannot: the watcher's broadcast could otherwise pay an intent that another payer has claimed meanwhile.
 * @param everyMs the network's interval between broadcasts.
 */
export const rebroadcastAt = (
  { preparedAt, broadcastAt }: Pick<Submission, 'preparedAt' | 'broadcastAt'>,
  everyMs: number,
): Instant => (broadcastAt === null ? preparedAt + Math.max(UNRELEASABLE_AFTER_MS, everyMs) : broadcastAt + everyMs);
