import type { IntentEvent } from './event.ts';
import type { AccountId, Instant, IntentId } from './ids.ts';
import type { Build, PaymentIntent } from './intent.ts';
import type { Refusal } from './refusal.ts';

/** The outcome of a command. Observations and expiries are always accepted. */
export type Outcome =
  | {
      readonly kind: 'accepted';
      /** The intent that the response shows: the refund for `refund`, the earlier one for a replayed `create`. */
      readonly intentId: IntentId;
      /** True when a create found the intent of its idempotency key. */
      readonly replayed: boolean;
      /** For record_build: the build that counts. */
      readonly build?: Build;
      /** For prepare_submission: how often the transaction has been prepared, this time included. */
      readonly attempts?: number;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** An event and the intent after it, so that a decision need not be folded a second time. */
export interface Transition {
  readonly event: IntentEvent;
  readonly intent: PaymentIntent;
}

/** What an input leads to. No transitions: nothing changes. */
export interface Decision {
  /** Of one intent or of an original and its refunds; appended together and in this order. */
  readonly transitions: readonly Transition[];
  readonly outcome: Outcome;
}

/**
 * The intents a decision may read: the one the input names, and the refund that its `refundedBy` names; for a refund
 * also its original, and the refund that `refundedBy` of the original names; and the intent that an
 * idempotency key of an account and mode made within 24 h.
 */
export interface World {
  intent(id: IntentId): PaymentIntent | undefined;
  withKey(accountId: AccountId, livemode: boolean, idempotencyKey: string, now: Instant): PaymentIntent | undefined;
}

/** A decision needs an intent that is held: commands are refused, observations go to the dead letters. */
export class HeldIntentError extends Error {
  override readonly name = 'HeldIntentError';
}

/** An observation or expiry of an intent that does not exist: the caller sends it to the dead letters. */
export class UnknownIntentError extends Error {
  override readonly name = 'UnknownIntentError';
}
