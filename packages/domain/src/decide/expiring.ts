import type { Instant } from '../model/ids.ts';
import type { PaymentIntent } from '../model/intent.ts';
import { liveSubmission } from '../model/submission.ts';
import type { Draft } from './draft.ts';

/** True when the intent is open and its time has run out. */
const isDue = (intent: PaymentIntent, clock: Instant): boolean =>
  (intent.status === 'created' || intent.status === 'pending') && clock >= intent.expiresAt;

/** `expire`: only an intent that is due. The caller may have read an earlier state. */
export const expire = (intent: PaymentIntent, draft: Draft): PaymentIntent =>
  isDue(intent, draft.clock) ? expireNow(intent, draft, false) : intent;

/** Expires an open intent. A pending one has its transaction in the mempool, also where that is simulated. */
export const expireNow = (intent: PaymentIntent, draft: Draft, simulated: boolean): PaymentIntent =>
  draft.append(intent.id, 'intent.expired', {
    pendingAtExpiry: intent.status === 'pending' || liveSubmission(intent) !== undefined,
    simulated,
  });
