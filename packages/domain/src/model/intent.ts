import type { TransactionFormat } from './chain-family.ts';
import type {
  AccountId,
  Address,
  ChainId,
  DepositId,
  Instant,
  IntentId,
  Reference,
  TokenAddress,
  TransactionHash,
} from './ids.ts';

/** The public states (docs/reference/contract.md). */
export const INTENT_STATUSES = [
  'created',
  'pending',
  'confirmed',
  'finalized',
  'failed',
  'expired',
  'cancelled',
] as const;
export type IntentStatus = (typeof INTENT_STATUSES)[number];

export type Direction = 'request' | 'send';
export type Metadata = Readonly<Record<string, string>>;

/**
 * How long a transaction can land by itself. Base: `unlimited`, it lives until its nonce is used. Solana: up to a block
 * height. Tempo, and authorizations on Base: up to a time of the chain, in seconds.
 */
export type Lifetime =
  | { readonly kind: 'unlimited' }
  | { readonly kind: 'block_height'; readonly lastValid: bigint }
  | { readonly kind: 'time'; readonly validBefore: bigint };

/** The unsigned transaction in the response of `build` (docs/reference/contract.md). */
export interface UnsignedTransaction {
  readonly blob: string;
  readonly format: TransactionFormat;
  readonly ataRentLamports: number | null;
  readonly estimatedFeeLamports: number | null;
  readonly estimatedFeeUsdc: string | null;
  readonly estimatedFeeEth: string | null;
}

/** The current build, identified by the intent's version when it was recorded. */
export interface Build {
  readonly version: number;
  readonly fulfiller: Address;
  readonly transaction: UnsignedTransaction;
  readonly lifetime: Lifetime;
}

/** What a transaction was verified to pay. The writer compares it with the intent. */
export interface PaymentTerms {
  readonly chain: ChainId;
  readonly tokenAddress: TokenAddress;
  /** Base units. */
  readonly amount: bigint;
  readonly requestor: Address;
  readonly reference: Reference;
}

/** What is known of a signed transaction before it is broadcast. */
export interface PreparedTransaction {
  readonly hash: TransactionHash;
  /** The signer whose funds move: the fulfiller. */
  readonly sender: Address;
  /**
   * Only one transaction of a sender can use a nonce. Null where there is none (Solana, expiring Tempo nonces); an
   * authorization's is the intent's reference.
   */
  readonly nonce: string | null;
  readonly lifetime: Lifetime;
  readonly terms: PaymentTerms;
}

/**
 * live: it can still land. released: a node refused it, and no other broadcast can have succeeded. replaced: another
 * with the same sender and nonce was prepared. dropped: it can provably never land. landed, reverted: it is in a block.
 */
export type SubmissionStatus = 'live' | 'released' | 'replaced' | 'dropped' | 'landed' | 'reverted';

export interface Submission extends PreparedTransaction {
  readonly status: SubmissionStatus;
  /** How often it was prepared since it was last released: 1 at first. One that replaces another goes on. */
  readonly attempts: number;
  readonly preparedAt: Instant;
  /** When a broadcast was recorded or it was found on chain; null before. */
  readonly broadcastAt: Instant | null;
  /** How often it was prepared, where that is not `attempts`. */
  readonly claims?: number;
}

/** A transfer as the chain recorded it. */
export interface Transfer {
  readonly tokenAddress: TokenAddress;
  readonly from: Address;
  readonly to: Address;
  /** Base units. */
  readonly amount: bigint;
  readonly reference: Reference;
  /** Block number or slot. */
  readonly block: bigint;
  readonly blockHash: string | null;
  /** Log index, or instruction index (outer, or `outer.inner`). With the hash it identifies the transfer. */
  readonly index: string;
}

/** What the network charged for a transaction, and whom. Of the whole transaction, which may pay several intents. */
export interface NetworkFee {
  readonly payer: Address;
  /** Base units; of the chain's own coin wei or lamports. */
  readonly amount: bigint;
  /** Null: the chain's own coin. */
  readonly tokenAddress: TokenAddress | null;
}

/** A transfer found in a block, and its transaction: the evidence of a payment. */
export interface Landing {
  readonly hash: TransactionHash;
  readonly transfer: Transfer;
  /** Where it was seen. For the books only: events have it, the state of an intent does not. */
  readonly fee?: NetworkFee;
  /**
   * Only of a deposit that its account has assigned to the intent. The chain shows no reference of it, so the deposit
   * tells of the transfer, and watchers do not follow it for the intent.
   */
  readonly depositId?: DepositId;
}

/** The transaction that paid the intent. */
export interface Settlement extends Landing {
  readonly finalized: boolean;
  /** True after a reorg orphaned it, until it lands again. */
  readonly lost: boolean;
}

/** A transaction whose payment was reported for one intent, and the other intents for which it is claimed. */
export interface OtherClaims {
  readonly hash: TransactionHash;
  readonly intentIds: readonly IntentId[];
}

/** The state of one intent: the fold of its events. */
export interface PaymentIntent {
  readonly id: IntentId;
  /** The number of its events: 1 after `intent.created`. */
  readonly version: number;
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly idempotencyKey: string | null;
  readonly chain: ChainId;
  /** Canonical symbol. */
  readonly token: string;
  readonly tokenAddress: TokenAddress;
  readonly decimals: number;
  /** As the client wrote it. */
  readonly amount: string;
  readonly amountBaseUnits: bigint;
  readonly requestor: Address;
  readonly fulfiller: Address | null;
  readonly direction: Direction;
  /** A plain transfer of exactly the amount pays it, too. Absent: only what carries the reference does. */
  readonly attribution?: 'amount';
  /** One transfer of the amount or more pays it. Absent: exactly the amount. */
  readonly accept?: 'at_least';
  readonly status: IntentStatus;
  readonly retryRequired: boolean;
  readonly pendingAtExpiry: boolean;
  readonly reference: Reference;
  readonly txSignature: TransactionHash | null;
  readonly ataRentLamports: number | null;
  readonly ttlSeconds: number;
  readonly metadata: Metadata | null;
  readonly refundedBy: IntentId | null;
  readonly refundOf: IntentId | null;
  readonly createdAt: Instant;
  /** Grows strictly with every public change: the concurrency token of PATCH. */
  readonly updatedAt: Instant;
  readonly expiresAt: Instant;
  readonly detectedAt: Instant | null;
  readonly confirmedAt: Instant | null;
  readonly finalizedAt: Instant | null;
  /** When it last became finalized, failed, expired or cancelled. Watching goes on for some time after. */
  readonly closedAt: Instant | null;
  /** Only with `accept`, while it is confirmed or finalized: what the transfer that pays it has brought. Base units. */
  readonly amountReceived?: bigint;
  /** Only where it was erased: when `metadata` and `idempotencyKey` were. */
  readonly erasedAt?: Instant;

  // Private from here on.
  readonly simulated: boolean;
  readonly build: Build | null;
  /** Every submission ever prepared, oldest first; at most one is live. */
  readonly submissions: readonly Submission[];
  readonly settlement: Settlement | null;
  /** `hash:index` of every transfer ever counted for this intent, with matching or other terms. */
  readonly transfers: readonly string[];
  /** Payments with matching terms beside the settlement that stand on chain, oldest first: each can replace it. */
  readonly extraPayments: readonly Landing[];
  /** Refunds that were paid late while another was linked, oldest first: `refundedBy` falls back to the newest. */
  readonly otherRefunds: readonly IntentId[];
  /** Only where payers claim a reported payment for other intents of the account, too. */
  readonly otherClaims?: readonly OtherClaims[];
  /**
   * Only while a reorg has undone extra payments: the transaction of each, with `:amount` in base units where that is
   * not the intent's, oldest first. Their account was told of them, and is not told again when they land again.
   */
  readonly undoneExtras?: readonly string[];
  /**
   * Only where reports were withdrawn as their transfers carry the references of other intents: `hash:index` of each,
   * oldest first. An observation of before that comes late reports none of them again.
   */
  readonly disproved?: readonly string[];
  /** Only on an intent that has had some: of each deposit assigned to it, the version that told of it last. */
  readonly deposits?: readonly { readonly id: DepositId; readonly version: number }[];
  /**
   * Only on an intent in whose history newer code has appended an event that this code does not understand: the version
   * of that event. What the public sees of the intent is current, the rest is not: nothing may be decided about it.
   */
  readonly heldFrom?: number;
}
