import type { AccountId, Address, DepositId, Instant, IntentId, TransactionHash } from './ids.ts';
import type { IntentStatus, Landing, Lifetime, Metadata, PreparedTransaction, UnsignedTransaction } from './intent.ts';
import type { CreateData, DepositStanding } from './input.ts';

/** Public events: each is sent as a webhook (docs/reference/contract.md). */
export const PUBLIC_EVENT_TYPES = [
  'intent.created',
  'intent.detected',
  'intent.pending',
  'intent.confirmed',
  'intent.finalized',
  'intent.failed',
  'intent.expired',
  'intent.cancelled',
  'intent.retry_required',
  'intent.extra_payment',
  'intent.mismatched_payment',
  'intent.mismatch_withdrawn',
  'intent.payment_claimed',
  'intent.late_payment',
  'intent.overpaid',
] as const;
export type PublicEventType = (typeof PUBLIC_EVENT_TYPES)[number];

/** Of these events the payment is one that the intent did not ask for. */
export const UNEXPECTED_PAYMENT_TYPES = [
  'intent.extra_payment',
  'intent.mismatched_payment',
  'intent.late_payment',
] as const satisfies readonly PublicEventType[];

/**
 * Private events: they stay in the log. `mismatched_payment_observed` is no longer written, nor is
 * `extra_payment_observed` but for late refunds and for what was told of before a reorg undid it; logs have both.
 */
export const PRIVATE_EVENT_TYPES = [
  'intent.updated',
  'transaction_built',
  'submission_prepared',
  'submission_released',
  'refund_linked',
  'refund_released',
  'confirmation_lost',
  'confirmation_restored',
  'extra_payment_observed',
  'mismatched_payment_observed',
  'deposit_told',
  'personal_data_erased',
] as const;
export type PrivateEventType = (typeof PRIVATE_EVENT_TYPES)[number];
export type EventType = PublicEventType | PrivateEventType;

/**
 * Terms in which a landing can differ. `sender`: the requestor paid itself, or another wallet than the one that a
 * `send` intent names. `reference`: it pays something else.
 */
export const PAYMENT_TERMS = ['token', 'recipient', 'amount', 'sender', 'reference'] as const;
export type PaymentTerm = (typeof PAYMENT_TERMS)[number];

/** The states in which a payment is late. */
export const LATE_STATES = ['expired', 'cancelled', 'failed'] as const satisfies readonly IntentStatus[];
export type LateState = (typeof LATE_STATES)[number];

/** Where a payment has another amount than its intent asks for, and pays it all the same: its amount, as a decimal. */
interface PaidAmount {
  readonly amount?: string;
}

/** The data of each event: enough to fold the state from the events alone. */
export interface EventData {
  'intent.created': CreateData & {
    readonly accountId: AccountId;
    readonly livemode: boolean;
    readonly refundOf: IntentId | null;
  };
  'intent.detected': Record<never, never>;
  /** Only what changed; `metadata` is the whole map after the merge. */
  'intent.updated': {
    readonly metadata?: Metadata | null;
    readonly amount?: string;
    readonly amountBaseUnits?: bigint;
    readonly ttlSeconds?: number;
  };
  transaction_built: {
    readonly fulfiller: Address;
    readonly transaction: UnsignedTransaction;
    readonly lifetime: Lifetime;
  };
  /** `claims`: how often this transaction was prepared, where that is not `attempts`. Earlier versions lack it. */
  submission_prepared: {
    readonly transaction: PreparedTransaction;
    readonly attempts: number;
    readonly claims?: number;
  };
  /** refused: no node has it. dropped: it can provably never land. The public state does not change. */
  submission_released: {
    readonly hash: TransactionHash;
    readonly outcome: 'refused' | 'dropped';
    readonly reason: string;
  };
  /** Broadcast, or found on chain without our broadcast. `simulated`: by POST /test/…/simulate. */
  'intent.pending': { readonly hash: TransactionHash; readonly fulfiller: Address; readonly simulated: boolean };
  /** `late`: the state before, when paid after expiry, cancellation or failure. `landing` is null when simulated. */
  'intent.confirmed': PaidAmount & {
    readonly hash: TransactionHash;
    readonly fulfiller: Address;
    readonly landing: Landing | null;
    readonly late: LateState | null;
    readonly simulated: boolean;
  };
  'intent.finalized': { readonly hash: TransactionHash; readonly landing: Landing | null; readonly simulated: boolean };
  'intent.failed': { readonly hash: TransactionHash | null; readonly reason: string; readonly simulated: boolean };
  'intent.expired': { readonly pendingAtExpiry: boolean; readonly simulated: boolean };
  /**
   * superseded: a refund that must not be paid, because an earlier one landed late or because the payment that it
   * returns has failed.
   */
  'intent.cancelled': { readonly cause: 'requested' | 'superseded' | 'simulated' };
  'intent.retry_required': { readonly hash: TransactionHash; readonly proof: string; readonly simulated: boolean };
  refund_linked: { readonly refundIntentId: IntentId };
  refund_released: { readonly refundIntentId: IntentId };
  confirmation_lost: { readonly hash: TransactionHash };
  confirmation_restored: PaidAmount & { readonly landing: Landing };
  /** A second payment with the terms of the intent. */
  'intent.extra_payment': PaidAmount & { readonly landing: Landing };
  /**
   * `amount` as a decimal; null where the token is another one, whose decimals the intent does not know. `claimed`: the
   * chain does not show that the transfer was for this intent; whoever submitted its hash says so.
   */
  'intent.mismatched_payment': {
    readonly landing: Landing;
    readonly amount: string | null;
    readonly differs: readonly PaymentTerm[];
    readonly claimed?: true;
  };
  /**
   * The report of a mismatched payment was wrong: read again, the transfer has the terms of the intent. `landing` is
   * what is known now; what it does to the intent is said by the events after this one. With `differs`, as of a
   * mismatched payment: it carries another reference, and does nothing to this intent.
   */
  'intent.mismatch_withdrawn': {
    readonly landing: Landing;
    readonly amount?: string | null;
    readonly differs?: readonly PaymentTerm[];
  };
  /**
   * Payers claim a payment that was reported for this intent for others of the account, too. `intentIds`: all of these
   * so far, oldest first. No new payment.
   */
  'intent.payment_claimed': { readonly hash: TransactionHash; readonly intentIds: readonly IntentId[] };
  /** Follows the `intent.confirmed` of a payment after expiry, cancellation or failure: `late`, the state before. */
  'intent.late_payment': PaidAmount & { readonly landing: Landing; readonly late: LateState };
  /** Follows the `intent.finalized` of a payment of more than was asked for, with what it was more. */
  'intent.overpaid': { readonly hash: TransactionHash; readonly amount: string; readonly amountBaseUnits: bigint };
  /**
   * `refundIntentId`: on an original, the refund that was paid late, beside the linked one. Without it: an extra
   * payment has landed again that was told of before a reorg undid or moved it.
   */
  extra_payment_observed: PaidAmount & { readonly landing: Landing; readonly refundIntentId?: IntentId };
  mismatched_payment_observed: { readonly landing: Landing; readonly differs: readonly PaymentTerm[] };
  /** A change of a deposit that is or was assigned to the intent. The next events say what it does to the intent. */
  deposit_told: {
    readonly depositId: DepositId;
    readonly version: number;
    readonly standing: DepositStanding;
    readonly landing: Landing;
  };
  /** What the account had told of a person is gone, in every event before this one too. */
  personal_data_erased: Record<never, never>;
}

/** An event of one intent. The log holds it in an envelope (packages/contracts/src/messages.ts). */
export type IntentEvent = {
  [Type in EventType]: {
    readonly type: Type;
    readonly intentId: IntentId;
    /** The intent's version after the event. */
    readonly version: number;
    readonly at: Instant;
    readonly data: EventData[Type];
  };
}[EventType];

const EVENT_TYPES: readonly string[] = [...PUBLIC_EVENT_TYPES, ...PRIVATE_EVENT_TYPES];

/** False for a type that only newer code has. */
export const isEventType = (type: string): type is EventType => EVENT_TYPES.includes(type);

/** True for the events that tell of a payment beside the intent: what it did not ask for, and what takes that back. */
export const hasPayment = (type: string): boolean => isUnexpectedPayment(type) || type === 'intent.mismatch_withdrawn';

/** True for the events of payments that the intent did not ask for. */
export const isUnexpectedPayment = (type: string): boolean =>
  (UNEXPECTED_PAYMENT_TYPES as readonly string[]).includes(type);

/** True for the events that are sent to integrators. */
export const isPublicType = (type: string): type is PublicEventType =>
  (PUBLIC_EVENT_TYPES as readonly string[]).includes(type);
