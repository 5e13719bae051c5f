import type {
  AccountId,
  Address,
  ChainId,
  CommandId,
  DepositId,
  IntentId,
  Reference,
  TokenAddress,
  TransactionHash,
} from './ids.ts';
import type {
  Direction,
  IntentStatus,
  Landing,
  Lifetime,
  Metadata,
  PreparedTransaction,
  Transfer,
  UnsignedTransaction,
} from './intent.ts';

import type { Place } from './landing.ts';

/** The data of a new intent, resolved and in canonical form. */
export interface CreateData {
  readonly idempotencyKey: string | null;
  readonly chain: ChainId;
  readonly token: string;
  readonly tokenAddress: TokenAddress;
  readonly decimals: number;
  readonly amount: string;
  readonly amountBaseUnits: bigint;
  readonly requestor: Address;
  readonly fulfiller: Address | null;
  readonly direction: Direction;
  /** A plain transfer of exactly the amount pays it, too. Absent: only what carries the reference does. */
  readonly attribution?: 'amount';
  /** Absent: exactly the amount. */
  readonly accept?: 'at_least';
  readonly reference: Reference;
  readonly ttlSeconds: number;
  readonly metadata: Metadata | null;
}

/** A command's type and its data. */
export interface CommandData {
  create: CreateData;
  update: {
    /** The concurrency token: the `updatedAt` that the client read, in milliseconds. */
    readonly updatedAt: number;
    /** Merged key by key; a null value removes the key; null clears all; absent leaves all. */
    readonly metadata?: Readonly<Record<string, string | null>> | null;
    readonly amount?: string;
    readonly amountBaseUnits?: bigint;
    readonly ttlSeconds?: number;
  };
  detect: Record<never, never>;
  record_build: {
    readonly fulfiller: Address;
    readonly transaction: UnsignedTransaction;
    readonly lifetime: Lifetime;
    /** The version of the build that is dead or for another fulfiller; null where the gateway read none. */
    readonly replaces: number | null;
  };
  prepare_submission: { readonly transaction: PreparedTransaction };
  record_broadcast: { readonly hash: TransactionHash };
  release_submission: { readonly hash: TransactionHash; readonly reason: string };
  /** A transfer without a reference, which a payer says was to pay the intent. */
  report_transfer: {
    readonly landing: Landing;
    /** Another intent of the account, for which it is claimed, where it was reported for this one. */
    readonly alsoFor?: IntentId;
  };
  cancel: Record<never, never>;
  refund: {
    readonly refundIntentId: IntentId;
    readonly reference: Reference;
    readonly ttlSeconds: number;
    /** Who gets the money. Absent: the wallet that paid. */
    readonly to?: Address;
  };
  simulate: {
    readonly targetState: IntentStatus;
    /** A well-formed hash and address of the chain, made by its adapter. */
    readonly hash: TransactionHash;
    readonly fulfiller: Address;
  };
}
export type CommandType = keyof CommandData;

/** A request of an account. `intentId` of `create` is the new intent's. */
export type Command = {
  [Type in CommandType]: {
    readonly kind: 'command';
    readonly type: Type;
    readonly commandId: CommandId;
    readonly intentId: IntentId;
    readonly accountId: AccountId;
    readonly livemode: boolean;
    readonly data: CommandData[Type];
  };
}[CommandType];

/**
 * How a deposit stands for its intent. `unassigned`: its account has undone it. `withdrawn`: the transfer pays
 * another intent by itself; `proven`: this one.
 */
export const DEPOSIT_STANDINGS = ['confirmed', 'finalized', 'lost', 'unassigned', 'withdrawn', 'proven'] as const;
export type DepositStanding = (typeof DEPOSIT_STANDINGS)[number];

/** A deposit, as the intent has to know it. */
export interface AssignedDeposit extends Pick<Landing, 'hash'> {
  readonly depositId: DepositId;
  /** The deposit's own: what an earlier one tells is passed over. */
  readonly version: number;
  readonly standing: DepositStanding;
  readonly transfer: Omit<Transfer, 'reference'>;
}

/** An observation's type and its data: what a watcher saw on chain. */
export interface ObservationData {
  landed: Landing & { readonly level: 'confirmed' | 'finalized' };
  reverted: { readonly hash: TransactionHash; readonly reason: string };
  /** It can provably never land; `proof` is the reason, as text. */
  dropped: { readonly hash: TransactionHash; readonly proof: string };
  /**
   * The transfer turns out to carry another reference, that of `transfer`: what was reported of it for this intent,
   * while nothing showed its reference, was wrong.
   */
  disproved: Landing;
  /**
   * Orphaned by a reorg. `place`: the landing that was undone, so that an observation that comes again, late, does not
   * undo the next one. Older watchers do not name it.
   */
  lost: { readonly hash: TransactionHash; readonly place?: Place };
  /** No watcher saw it: the writer of a deposit tells the intent that the deposit is, or was, assigned to. */
  assigned: AssignedDeposit;
}
export type ObservationType = keyof ObservationData;

export type Observation = {
  [Type in ObservationType]: {
    readonly kind: 'observation';
    readonly type: Type;
    readonly intentId: IntentId;
    readonly data: ObservationData[Type];
  };
}[ObservationType];

/** The time of an intent has run out: the partition owner's own input. */
export interface Expire {
  readonly kind: 'expire';
  readonly intentId: IntentId;
}

/** The personal data of an intent is to be erased, at the request of an operator or because of its age. */
export interface Erase {
  readonly kind: 'erase';
  readonly intentId: IntentId;
}

export type Input = Command | Observation | Expire | Erase;
