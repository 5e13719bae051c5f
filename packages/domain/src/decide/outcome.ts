import type { Outcome } from '../model/decision.ts';
import type { IntentId } from '../model/ids.ts';
import type { Build, PaymentIntent } from '../model/intent.ts';
import { type Refusal, type RefusalCode, refusalOf } from '../model/refusal.ts';

interface AcceptedExtras {
  readonly replayed?: boolean;
  readonly build?: Build;
  readonly attempts?: number;
}

/** The command is done, or there was nothing to do: the response shows the intent as it is now. */
export const accept = (intentId: IntentId, extras: AcceptedExtras = {}): Outcome => ({
  kind: 'accepted',
  intentId,
  replayed: false,
  ...extras,
});

export const refuseWith = (refusal: Refusal): Outcome => ({ kind: 'refused', refusal });

export const refuse = (
  intent: PaymentIntent,
  code: RefusalCode,
  message: string,
  more: Pick<Refusal, 'param' | 'details'> = {},
): Outcome => refuseWith(refusalOf(intent, code, message, more));
