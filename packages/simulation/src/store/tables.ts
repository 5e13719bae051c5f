import type { Outcome } from '@pf/contracts';
import type {
  AmountMatch,
  Checkpoint,
  DeliverableEvent,
  ProjectedEvent,
  StoredTransaction,
  WatchCursor,
  WantedAmount,
  WatchedWallet,
} from '@pf/database';
import type { ChainId, CommandId, Deposit, DepositId, Instant, IntentId, PaymentIntent } from '@pf/domain';
import { type Journal, Table } from './journal.ts';

export interface IntentRow {
  readonly partition: number;
  readonly intent: PaymentIntent;
}

interface DepositRow {
  readonly partition: number;
  readonly deposit: Deposit;
}

export interface EndpointRow {
  readonly id: string;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly disabled: boolean;
}

export interface DeliveryRow extends DeliverableEvent {
  readonly id: string;
  readonly endpointId: string;
  readonly nextAttemptAt: Date;
}

/** A reserved amount: all that a match has once a deposit has paid it. */
export interface ReservedRow extends Omit<WantedAmount, 'asked' | 'step' | 'max' | 'round'> {
  /** Base units. */
  readonly amount: bigint;
  readonly match:
    (Pick<AmountMatch, 'depositId' | 'depositVersion' | 'tries'> & { readonly dueAt: Instant | null }) | null;
  /** The first other deposit of the amount. */
  readonly next: Pick<AmountMatch, 'depositId' | 'depositVersion'> | null;
}

interface WatchRow {
  readonly holder: string | null;
  readonly epoch: bigint;
  readonly expiresAt: Instant | null;
  readonly cursor: WatchCursor | null;
}

/** The tables that the store uses (packages/database/prisma/schema.prisma). */
export class Tables {
  readonly intents: Table<IntentId, IntentRow>;
  /** By account, mode and key: the ids of the intents that it made, oldest first. */
  readonly intentsByKey: Table<string, readonly IntentId[]>;
  readonly deposits: Table<DepositId, DepositRow>;
  /** By intent or deposit, and version. */
  readonly events: Table<string, ProjectedEvent>;
  readonly checkpoints: Table<number, Checkpoint>;
  /** By partition. */
  readonly rebuilds: Table<number, number>;
  readonly outcomes: Table<CommandId, Outcome>;
  /** By intent and hash. */
  readonly signedTransactions: Table<string, StoredTransaction & { readonly createdAt: Instant }>;
  /** By chain: no simulated network is split. */
  readonly watches: Table<string, WatchRow>;
  /** By chain and recipient. */
  readonly bookmarks: Table<string, { readonly chain: ChainId; readonly recipient: string; readonly bookmark: string }>;
  /** By chain, recipient and account. */
  readonly wallets: Table<string, WatchedWallet>;
  readonly reservedAmounts: Table<IntentId, ReservedRow>;
  readonly endpoints: Table<string, EndpointRow>;
  /** By event and endpoint. */
  readonly deliveries: Table<string, DeliveryRow>;
  readonly webhookPositions: Table<number, bigint>;

  constructor(journal: Journal) {
    this.intents = new Table(journal);
    this.intentsByKey = new Table(journal);
    this.deposits = new Table(journal);
    this.events = new Table(journal);
    this.checkpoints = new Table(journal);
    this.rebuilds = new Table(journal);
    this.outcomes = new Table(journal);
    this.signedTransactions = new Table(journal);
    this.watches = new Table(journal);
    this.bookmarks = new Table(journal);
    this.wallets = new Table(journal);
    this.reservedAmounts = new Table(journal);
    this.endpoints = new Table(journal);
    this.deliveries = new Table(journal);
    this.webhookPositions = new Table(journal);
  }
}
