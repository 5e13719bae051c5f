import type {
  AccountId,
  Address,
  ChainId,
  CommandId,
  DepositId,
  Instant,
  IntentId,
  Reference,
  TokenAddress,
  TransactionHash,
} from '../model/ids.ts';
import type { Place } from '../model/landing.ts';

/**
 * How far it is. `lost`: undone by a reorg, until it lands again. `withdrawn`: it pays an intent, which tells of it
 * from then on. Of one transfer one of the two counts, so neither of these does.
 */
export const DEPOSIT_LEVELS = ['confirmed', 'finalized', 'lost', 'withdrawn'] as const;
export type DepositLevel = (typeof DEPOSIT_LEVELS)[number];

/** What its account did about it. */
export const DEPOSIT_STATES = ['open', 'assigned', 'ignored'] as const;
export type DepositState = (typeof DEPOSIT_STATES)[number];

/** Why a transfer pays no intent. */
export const DEPOSIT_REASONS = [
  'no_reference',
  /** It carries one, and no watched intent has it. */
  'unknown_reference',
  'unlisted_token',
  'native_coin',
  'two_references',
  'several_intents',
  'beyond_limits',
  /** A reference is in its transaction, and nothing shows that it made this transfer. */
  'unproven',
  /** No node could show what its transaction did. */
  'unreadable',
] as const;
export type DepositReason = (typeof DEPOSIT_REASONS)[number];

/** A transfer as the chain recorded it, and its transaction, whether or not it names an intent. */
export interface Arrival extends Place {
  readonly hash: TransactionHash;
  /** As of a transfer that pays an intent. With the hash it names the transfer. */
  readonly index: string;
  /** Null: the chain's own coin. */
  readonly tokenAddress: TokenAddress | null;
  /** Symbol and decimals of a token of the registry; null for any other. */
  readonly token: { readonly symbol: string; readonly decimals: number } | null;
  /** Null where no wallet has sent it: a mint. */
  readonly from: Address | null;
  readonly to: Address;
  /** Base units. */
  readonly amount: bigint;
  readonly reference: Reference | null;
  /** The time of its block; null where that is not known. */
  readonly at: Instant | null;
}

/** Money that has arrived at a wallet which an account's intents name, and that pays none of them. */
export interface Deposit {
  readonly id: DepositId;
  /** The number of its events. */
  readonly version: number;
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly chain: ChainId;
  readonly arrival: Arrival;
  readonly level: DepositLevel;
  readonly state: DepositState;
  readonly reason: DepositReason;
  /** The intent that it names without paying it, that it is assigned to, or, withdrawn, that it pays. */
  readonly intentId: IntentId | null;
  readonly createdAt: Instant;
  /** Grows strictly with every event. */
  readonly updatedAt: Instant;
  /** As of an intent: newer code has changed it from this version on, and nothing may be decided about it here. */
  readonly heldFrom?: number;
}

/** Public events: each is sent as a webhook (docs/reference/contract.md). */
export const DEPOSIT_EVENT_TYPES = [
  'deposit.received',
  'deposit.finalized',
  'deposit.lost',
  'deposit.withdrawn',
  'deposit.ignored',
  'deposit.reopened',
  'deposit.assigned',
  'deposit.unassigned',
] as const;
export type DepositEventType = (typeof DEPOSIT_EVENT_TYPES)[number];

/** False for a type that only newer code has. */
export const isDepositEventType = (type: string): type is DepositEventType =>
  (DEPOSIT_EVENT_TYPES as readonly string[]).includes(type);

/** What is known of a deposit when it is seen. */
export interface Received {
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly chain: ChainId;
  readonly level: Exclude<DepositLevel, 'lost' | 'withdrawn'>;
  readonly reason: DepositReason;
  readonly intentId: IntentId | null;
  readonly arrival: Arrival;
}

export interface DepositEventData {
  /** First, and again when it has landed again, perhaps in another block. */
  'deposit.received': Received;
  'deposit.finalized': Record<never, never>;
  'deposit.lost': Record<never, never>;
  /** Judged again, it pays this intent. */
  'deposit.withdrawn': { readonly intentId: IntentId };
  /** Its account need do nothing about it. */
  'deposit.ignored': Record<never, never>;
  /** Its account has undone that. */
  'deposit.reopened': Record<never, never>;
  /** Its account says that it pays this intent. */
  'deposit.assigned': { readonly intentId: IntentId };
  /** Its account has undone that: what it had paid is unpaid. */
  'deposit.unassigned': { readonly intentId: IntentId };
}

export type DepositEvent = {
  [Type in DepositEventType]: {
    readonly type: Type;
    readonly depositId: DepositId;
    /** The deposit's version after the event. */
    readonly version: number;
    readonly at: Instant;
    readonly data: DepositEventData[Type];
  };
}[DepositEventType];

/** What a watcher saw of a deposit. */
export interface DepositObservationData {
  deposit_landed: Received;
  /** Orphaned by a reorg, in this block. */
  deposit_lost: { readonly hash: TransactionHash; readonly place: Place };
  /** In this block it is the payment of an intent; `claimed`: as a payer says, which proves nothing. */
  deposit_withdrawn: {
    readonly hash: TransactionHash;
    readonly place: Place;
    readonly intentId: IntentId;
    readonly claimed?: true;
  };
}
export type DepositObservationType = keyof DepositObservationData;

export type DepositObservation = {
  [Type in DepositObservationType]: {
    readonly kind: 'deposit';
    readonly type: Type;
    readonly depositId: DepositId;
    readonly data: DepositObservationData[Type];
  };
}[DepositObservationType];

/** What an account does about a deposit. */
export const DEPOSIT_COMMAND_TYPES = [
  'ignore_deposit',
  'reopen_deposit',
  'assign_deposit',
  'unassign_deposit',
] as const;
export type DepositCommandType = (typeof DEPOSIT_COMMAND_TYPES)[number];

/** The intent is one of the account and mode whose terms the transfer has: refusalOfAssignment() was asked. */
export type DepositCommandData =
  | { readonly type: Exclude<DepositCommandType, 'assign_deposit'> }
  | { readonly type: 'assign_deposit'; readonly intentId: IntentId };

export type DepositCommand = DepositCommandData & {
  readonly kind: 'deposit_command';
  readonly commandId: CommandId;
  readonly depositId: DepositId;
  readonly accountId: AccountId;
  readonly livemode: boolean;
};

/** Why a command is refused: error codes of the API (docs/reference/errors.md). */
export const DEPOSIT_REFUSAL_CODES = [
  'deposit.not_found',
  'deposit.invalid_state',
  /** Newer code has changed the deposit in a way that this code does not understand. */
  'deposit.unavailable',
] as const;
export type DepositRefusalCode = (typeof DEPOSIT_REFUSAL_CODES)[number];

export interface DepositRefusal {
  readonly code: DepositRefusalCode;
  /** Read by integrators. */
  readonly message: string;
  readonly depositId: DepositId;
  /** Of `deposit.invalid_state`: what it is instead. */
  readonly current?: Pick<Deposit, 'state' | 'level'>;
}
