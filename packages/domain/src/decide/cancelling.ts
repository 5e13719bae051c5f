import type { Answer } from '../model/decision.ts';
import type { PaymentIntent } from '../model/intent.ts';
import { accept, refuseInProgress, refuseOutsideCreated } from './answering.ts';
import type { Draft } from './draft.ts';
import { liveSubmission } from '../model/submission.ts';

/** `cancel`: while nothing is under way. */
export const cancel = (intent: PaymentIntent, draft: Draft): Answer => {
  if (intent.status !== 'created') return refuseOutsideCreated(intent, 'cancelled');
  if (liveSubmission(intent) !== undefined) return refuseInProgress(intent);
  draft.append(intent.id, 'intent.cancelled', { cause: 'requested' });
  return accept(intent.id);
};
