import type { Outcome } from '../model/decision.ts';
import type { PaymentIntent } from '../model/intent.ts';
import type { Draft } from './draft.ts';
import { accept, refuse } from './outcome.ts';

/** `detect`: a payer was found. Only the first report counts. */
export const detect = (intent: PaymentIntent, draft: Draft): Outcome => {
  if (intent.status !== 'created')
    return refuse(
      intent,
      intent.status === 'expired' ? 'intent.expired' : 'intent.invalid_state',
      `The payment intent is ${intent.status}, so it cannot be marked as detected.`,
    );
  if (intent.detectedAt === null) draft.append(intent.id, 'intent.detected', {});
  return accept(intent.id);
};
