import type { TransactionHash } from './ids.ts';
import type { PaymentIntent, Submission } from './intent.ts';

/** The submission that can still land, if there is one: there is never more than one. */
export const liveSubmission = (intent: PaymentIntent): Submission | undefined => intent.submissions.find(({ status }) => status === 'live');

/** The submission of this transaction, whatever became of it. */
export const submissionOf = (intent: PaymentIntent, hash: TransactionHash): Submission | undefined =>
  intent.submissions.find((submission) => submission.hash === hash);

/** True while this transaction is the one that can still land. */
export const isLive = (intent: PaymentIntent, hash: TransactionHash): boolean => submissionOf(intent, hash)?.status === 'live';
