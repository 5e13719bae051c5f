import type {
  AccountId,
  Address,
  ChainId,
  Instant,
  IntentId,
  Reference,
  TokenAddress,
  TransactionHash,
} from './ids.ts';

/** The public states of spec.md part 2.2. */
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
export type TransactionFormat = 'solana_v0_message' | 'evm_rlp' | 'tempo_tip20';
export type Metadata = Readonly<Record<string, string>>;

/**
 * How long a transaction can land by itself. Base: `unlimited`, it lives until its nonce is used. Solana: up to a block
 * height. Tempo: up to a time of the chain, in seconds.
 */
export type Lifetime =
  | { readonly kind: 'unlimited' }
  | { readonly kind: 'block_height'; readonly lastValid: bigint }
  | { readonly kind: 'time'; readonly validBefore: bigint };

/** The unsigned transaction as `build` answers it (spec.md part 2.3). */
export interface UnsignedTransaction {
  readonly blob: string;
  readonly format: TransactionFormat;
  readonly ataRentLamports: number | null;
  readonly estimatedFeeLamports: number | null;
  readonly estimatedFeeUsdc: string | null;
  readonly estimatedFeeEth: string | null;
}

/** The current build. `version` is the intent's version at which it was recorded: that is its name. */
export interface Build {
  readonly version: number;
  readonly fulfiller: Address;
  readonly transaction: UnsignedTransaction;
  readonly lifetime: Lifetime;
}

/** What a transaction was verified to pay. The writer compares it with what the intent asks for. */
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
  /** What only one transaction of this sender can use up; null where there is no such thing (Solana, expiring Tempo). */
  readonly nonce: string | null;
  readonly lifetime: Lifetime;
  readonly terms: PaymentTerms;
}

/**
 * live: it can still land. released: the node refused it before any broadcast could have taken it. replaced: another of
 * the same sender and nonce was prepared. dropped: it can provably never land. landed, reverted: it is in a block.
 */
export type SubmissionStatus = 'live' | 'released' | 'replaced' | 'dropped' | 'landed' | 'reverted';

export interface Submission extends PreparedTransaction {
  readonly status: SubmissionStatus;
  /** How often it was prepared: 1 the first time. */
  readonly attempts: number;
  readonly preparedAt: Instant;
  /** When a node had taken it, as far as we know. */
  readonly broadcastAt: Instant | null;
}

/** A transfer as the chain recorded it: token, from, to, amount, reference and place. */
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
  /** Log index, or instruction index (outer, or `outer.inner`). With the hash it names the transfer. */
  readonly index: string;
}

/** A payment as the chain has it: the evidence. */
export interface Landing {
  readonly hash: TransactionHash;
  readonly transfer: Transfer;
}

/** The transaction that paid the intent. */
export interface Settlement extends Landing {
  readonly finalized: boolean;
  /** True after a reorganisation orphaned it, until it lands again. */
  readonly lost: boolean;
}

/** Everything the domain knows of one intent: the fold of its events. */
export interface PaymentIntent {
  readonly id: IntentId;
  /** How many events made it: 1 after `intent.created`. */
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
  /** When it reached finalized, failed, expired or cancelled: watching goes on for some time after. Moves with each of them. */
  readonly closedAt: Instant | null;

  // Private from here on.
  readonly simulated: boolean;
  readonly build: Build | null;
  /** Every submission ever prepared, oldest first; at most one is live. */
  readonly submissions: readonly Submission[];
  readonly settlement: Settlement | null;
  /** `hash:index` of every transfer ever counted for this intent, whatever it was judged to be. */
  readonly transfers: readonly string[];
  /** Payments of the right terms beside the settling one, as far as they are known to stand, oldest first: each can take its place. */
  readonly extraPayments: readonly Landing[];
  /** Refunds that were paid late, while another was linked: `refundedBy` falls back on them. Oldest first. */
  readonly otherRefunds: readonly IntentId[];
}
