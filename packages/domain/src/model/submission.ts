import type { TransactionHash } from './ids.ts';
import type { PaymentIntent, Submission } from './intent.ts';

/**
 * For so long after it was prepared a submission can be released, by the writer's clock. A refusal that comes later may be
 * overtaken: by then somebody else may have broadcast the same bytes.
 */
export const RELEASE_WITHIN_MS = 7_000;
/** So long after it was prepared whoever prepared a submission has forgotten it: it cannot be released any more, whatever clocks differ by. */
export const FORGOTTEN_AFTER_MS = 12_000;

/** The submission that can still land, if there is one: there is never more than one. */
export const liveSubmission = (intent: PaymentIntent): Submission | undefined =>
  intent.submissions.find(({ status }) => status === 'live');

/** The submission of this transaction, whatever became of it. */
export const submissionOf = (intent: PaymentIntent, hash: TransactionHash): Submission | undefined =>
  intent.submissions.find((submission) => submission.hash === hash);

/** True while this transaction is the one that can still land. */
export const isLive = (intent: PaymentIntent, hash: TransactionHash): boolean =>
  submissionOf(intent, hash)?.status === 'live';
