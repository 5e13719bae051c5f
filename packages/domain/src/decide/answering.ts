import type { IntentId } from '../model/ids.ts';
import type { Answer, Refusal, RefusalCode } from '../model/decision.ts';
import type { Build, PaymentIntent } from '../model/intent.ts';

/** What an accepted command has to say beside which intent it is about. */
interface Extras {
  readonly replayed?: boolean;
  readonly build?: Build;
  readonly attempts?: number;
}

/** The command is done, or there was nothing to do: the present state is the answer. */
export const accept = (intentId: IntentId, extras: Extras = {}): Answer => ({
  kind: 'accepted',
  intentId,
  replayed: false,
  ...extras,
});

/** The command is refused; the intent's state goes with it, for `details.current_state`. */
export const refuse = (
  intent: PaymentIntent,
  code: RefusalCode,
  message: string,
  more: Pick<Refusal, 'param' | 'details'> = {},
): Answer => ({
  kind: 'refused',
  refusal: { code, message, intentId: intent.id, currentState: intent.status, ...more },
});

/** There is no such intent, or it is another account's or of the other mode: who asks must not learn which. */
export const refuseUnknown = (intentId: IntentId): Answer => ({
  kind: 'refused',
  refusal: { code: 'intent.not_found', message: 'There is no such payment intent.', intentId },
});

/** The state does not allow it. */
export const refuseState = (intent: PaymentIntent, what: string): Answer =>
  refuse(intent, 'intent.invalid_state', `A payment intent that is ${intent.status} cannot be ${what}.`);

/** Build, submit and cancel are for `created` only: why they are refused in the other states. */
export const refuseOutsideCreated = (intent: PaymentIntent, what: string): Answer => {
  switch (intent.status) {
    case 'pending':
    case 'confirmed':
    case 'finalized':
      return refuse(
        intent,
        'intent.already_fulfilled',
        `The payment intent is ${intent.status} already, so it cannot be ${what}.`,
      );
    case 'expired':
      return refuse(intent, 'intent.expired', `The payment intent has expired, so it cannot be ${what}.`);
    case 'created':
    case 'failed':
    case 'cancelled':
      return refuseState(intent, what);
    default:
      return intent.status satisfies never;
  }
};

/** A transaction that may still land stands in the way. */
export const refuseInProgress = (intent: PaymentIntent): Answer =>
  refuse(
    intent,
    'intent.submission_in_progress',
    'A transaction was submitted for this payment intent and may still land.',
  );
