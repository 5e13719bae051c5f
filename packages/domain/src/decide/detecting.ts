import type { Answer } from '../model/decision.ts';
import type { PaymentIntent } from '../model/intent.ts';
import { accept, refuse, refuseState } from './answering.ts';
import type { Draft } from './draft.ts';

/** `detect`: a payer was found. The first one counts. */
export const detect = (intent: PaymentIntent, draft: Draft): Answer => {
  if (intent.status === 'expired') return refuse(intent, 'intent.expired', 'The payment intent has expired.');
  if (intent.status !== 'created') return refuseState(intent, 'detected');
  if (intent.detectedAt === null) draft.append(intent.id, 'intent.detected', {});
  return accept(intent.id);
};
