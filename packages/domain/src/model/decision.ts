import type { AccountId, Instant, IntentId } from './ids.ts';
import type { Build, IntentStatus, PaymentIntent } from './intent.ts';
import type { IntentEvent } from './event.ts';

/** Why a command was refused: the codes of decisions.md, and one that stays inside. */
export type RefusalCode =
  | 'intent.not_found'
  | 'intent.invalid_state'
  | 'intent.already_fulfilled'
  | 'intent.expired'
  | 'intent.stale_update'
  | 'intent.submission_in_progress'
  | 'intent.already_refunded'
  | 'transaction.mismatch'
  | 'request.validation_failed'
  | 'api_key.test_mode_required'
  /** Another build, for another fulfiller, was first: the gateway looks again and builds against it. Never shown to a client. */
  | 'build.superseded';

/** A refusal that the business expects: a value, never thrown. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  /** The field at fault, for validation errors. */
  readonly param?: string;
  readonly intentId: IntentId;
  readonly currentState?: IntentStatus;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What the sender of a command is told. Observations and expiries are told nothing. */
export type Answer =
  | {
      readonly kind: 'accepted';
      /** The intent to answer with: the refund for `refund`, the earlier one for a replayed `create`. */
      readonly intentId: IntentId;
      /** True when a create found the intent of its idempotency key. */
      readonly replayed: boolean;
      /** For record_build: the build that counts. */
      readonly build?: Build;
      /** For prepare_submission: how often it has been prepared now. */
      readonly attempts?: number;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Events, of one intent or of an original and its refund, and the answer. No events: nothing changes. */
export interface Decision {
  readonly events: readonly IntentEvent[];
  readonly answer: Answer;
}

/**
 * The intents a decision may look at: the one the input names, for a refund also its original and the refund that
 * `refundedBy` of the original names; and the intent that an idempotency key of an account and mode made within 24 h.
 */
export interface World {
  intent(id: IntentId): PaymentIntent | undefined;
  withKey(accountId: AccountId, livemode: boolean, idempotencyKey: string, now: Instant): PaymentIntent | undefined;
}

/** An observation or expiry for an intent that does not exist: the caller sends it to the dead letters. */
export class UnknownIntentError extends Error {
  override readonly name = 'UnknownIntentError';
}
