import type { AccountId, Address, Instant, IntentId, TransactionHash } from './ids.ts';
import type { IntentStatus, Landing, Lifetime, Metadata, PreparedTransaction, UnsignedTransaction } from './intent.ts';
import type { CreateData } from './input.ts';

/** Public events, each a webhook (spec.md part 6.2). */
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
] as const;
export type PublicEventType = (typeof PUBLIC_EVENT_TYPES)[number];

/** Private events: in the log only. */
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
] as const;
export type PrivateEventType = (typeof PRIVATE_EVENT_TYPES)[number];
export type EventType = PublicEventType | PrivateEventType;

/** In what a landing can be other than the intent asks for. `sender`: the requestor paid itself. `reference`: it pays something else. */
export const PAYMENT_TERMS = ['token', 'recipient', 'amount', 'sender', 'reference'] as const;
export type PaymentTerm = (typeof PAYMENT_TERMS)[number];

/** What each event carries: enough to fold the state from the events alone. */
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
  submission_prepared: { readonly transaction: PreparedTransaction; readonly attempts: number };
  /** refused: by the node, before anything could have taken it. dropped: it can provably never land. The public state stays. */
  submission_released: {
    readonly hash: TransactionHash;
    readonly outcome: 'refused' | 'dropped';
    readonly reason: string;
  };
  /** Broadcast, or seen on chain without us. `simulated`: by POST /test/…/simulate. */
  'intent.pending': { readonly hash: TransactionHash; readonly fulfiller: Address; readonly simulated: boolean };
  /** `late`: the state it was in, when the money moved after expiry, cancellation or failure. `landing` is null when simulated. */
  'intent.confirmed': {
    readonly hash: TransactionHash;
    readonly fulfiller: Address;
    readonly landing: Landing | null;
    readonly late: Extract<IntentStatus, 'expired' | 'cancelled' | 'failed'> | null;
    readonly simulated: boolean;
  };
  'intent.finalized': { readonly hash: TransactionHash; readonly landing: Landing | null; readonly simulated: boolean };
  'intent.failed': { readonly hash: TransactionHash | null; readonly reason: string; readonly simulated: boolean };
  'intent.expired': { readonly pendingAtExpiry: boolean; readonly simulated: boolean };
  /** superseded: a released refund landed late, so this one, its successor, must not be paid. */
  'intent.cancelled': { readonly cause: 'requested' | 'superseded' | 'simulated' };
  'intent.retry_required': { readonly hash: TransactionHash; readonly proof: string; readonly simulated: boolean };
  refund_linked: { readonly refundIntentId: IntentId };
  refund_released: { readonly refundIntentId: IntentId };
  confirmation_lost: { readonly hash: TransactionHash };
  confirmation_restored: { readonly landing: Landing };
  /** `refundIntentId`: on an original, the late refund whose payment it was, beside the refund that is linked. */
  extra_payment_observed: { readonly landing: Landing; readonly refundIntentId?: IntentId };
  mismatched_payment_observed: { readonly landing: Landing; readonly differs: readonly PaymentTerm[] };
}

/** An event of one intent: the domain's half of what the log holds. */
export type IntentEvent = {
  [Type in EventType]: {
    readonly type: Type;
    readonly intentId: IntentId;
    /** The intent's version after it. */
    readonly version: number;
    readonly at: Instant;
    readonly data: EventData[Type];
  };
}[EventType];

/** True for the events that integrators hear of. */
export const isPublic = (type: EventType): type is PublicEventType =>
  (PUBLIC_EVENT_TYPES as readonly string[]).includes(type);
