import type { Outcome } from '../model/decision.ts';
import type { PaymentIntent } from '../model/intent.ts';
import { refusalInProgress, refusalUnlessCreated } from '../model/refusal.ts';
import { liveSubmission } from '../model/submission.ts';
import type { Draft } from './draft.ts';
import { accept, refuseWith } from './outcome.ts';

/** `cancel`: only while no submitted transaction can land. */
export const cancel = (intent: PaymentIntent, draft: Draft): Outcome => {
  const conflict = refusalUnlessCreated(intent, 'it cannot be cancelled');
  if (conflict !== null) return refuseWith(conflict);
  if (liveSubmission(intent) !== undefined) return refuseWith(refusalInProgress(intent));
  draft.append(intent.id, 'intent.cancelled', { cause: 'requested' });
  return accept(intent.id);
};
