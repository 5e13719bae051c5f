import type { IntentId } from './ids.ts';
import type { IntentStatus, PaymentIntent } from './intent.ts';

/** Why the writer refuses a command. All but the last are error codes of the API (docs/reference/errors.md). */
export type RefusalCode =
  | 'intent.not_found'
  | 'intent.invalid_state'
  | 'intent.already_fulfilled'
  | 'intent.expired'
  | 'intent.stale_update'
  | 'intent.submission_in_progress'
  | 'intent.already_refunded'
  | 'intent.original_unpaid'
  | 'intent.limit_reached'
  /** Newer code has changed the intent in a way that this code does not understand. */
  | 'intent.unavailable'
  | 'transaction.mismatch'
  | 'deposit.mismatch'
  | 'request.validation_failed'
  | 'api_key.test_mode_required'
  /** Internal: a build for another fulfiller was recorded first. The gateway reads the intent again and retries. */
  | 'build.superseded';

/** A refusal that the business expects: a value, never thrown. */
export interface Refusal {
  readonly code: RefusalCode;
  /** Read by integrators: what is wrong, then what to do. */
  readonly message: string;
  /** The field at fault, for validation errors. */
  readonly param?: string;
  readonly intentId: IntentId;
  readonly currentState?: IntentStatus;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A refusal that carries the intent's state, for `details.current_state`. */
export const refusalOf = (
  intent: PaymentIntent,
  code: RefusalCode,
  message: string,
  more: Pick<Refusal, 'param' | 'details'> = {},
): Refusal => ({ code, message, intentId: intent.id, currentState: intent.status, ...more });

/** An unknown id, another account's intent or the other mode's: the three look the same to the sender. */
export const refusalOfUnknown = (intentId: IntentId): Refusal => ({
  code: 'intent.not_found',
  message: 'There is no payment intent with this id.',
  intentId,
});

/** An intent that this code must not touch, because newer code wrote what it does not understand. */
export const refusalOfUnavailable = (intentId: IntentId): Refusal => ({
  code: 'intent.unavailable',
  message: 'The payment intent cannot be processed at the moment. Nothing was changed.',
  intentId,
});

const NOT_CREATED: Readonly<Record<Exclude<IntentStatus, 'created'>, RefusalCode>> = {
  pending: 'intent.already_fulfilled',
  confirmed: 'intent.already_fulfilled',
  finalized: 'intent.already_fulfilled',
  expired: 'intent.expired',
  failed: 'intent.invalid_state',
  cancelled: 'intent.invalid_state',
};

/**
 * Build, submit and cancel need a `created` intent.
 * @param consequence `it cannot be paid`
 */
export const refusalUnlessCreated = (intent: PaymentIntent, consequence: string): Refusal | null =>
  intent.status === 'created' ? null : refusalOf(intent, NOT_CREATED[intent.status], because(intent, consequence));

/**
 * A refund needs a paid intent: `confirmed` or `finalized`.
 * @param consequence `it cannot be refunded`
 */
export const refusalUnlessPaid = (intent: PaymentIntent, consequence: string): Refusal | null =>
  intent.status === 'confirmed' || intent.status === 'finalized'
    ? null
    : refusalOf(intent, 'intent.invalid_state', because(intent, consequence));

/** While a submitted transaction can still land, another payment could pay the intent twice. */
export const refusalInProgress = (intent: PaymentIntent): Refusal =>
  refusalOf(
    intent,
    'intent.submission_in_progress',
    'A transaction submitted for this payment intent can still land. Try again once it has landed or was dropped.',
  );

/**
 * A refund returns a payment, so it can be paid only while that payment stands: a chain reorganization may have undone
 * it after the refund was created.
 * @param original the intent that the refund names in `refundOf`
 */
export const refusalUnlessOriginalPaid = (refund: PaymentIntent, original: PaymentIntent): Refusal | null => {
  const details = { original_intent_id: original.id };
  if (!isPaid(original))
    return refusalOf(
      refund,
      'intent.original_unpaid',
      `A chain reorganization has undone the payment of ${original.id}, so its refund cannot be paid. ` +
        'Try again once that payment has landed again.',
      { details },
    );
  const { amountReceived } = original;
  return amountReceived !== undefined && refund.amountBaseUnits > amountReceived
    ? refusalOf(
        refund,
        'intent.original_unpaid',
        `${original.id} has received less than this refund would return. ` +
          'Cancel the refund, and create another one or lower its amount.',
        { details },
      )
    : null;
};

/** True while the payment stands: it was confirmed, and no reorganization has undone it since. */
export const isPaid = ({ status, settlement }: Pick<PaymentIntent, 'status' | 'settlement'>): boolean =>
  (status === 'confirmed' || status === 'finalized') && settlement?.lost !== true;

const because = ({ status }: PaymentIntent, consequence: string): string =>
  `The payment intent is ${status}, so ${consequence}.`;
