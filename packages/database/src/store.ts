import type { Outcome } from '@pf/contracts';
import type {
  ChainId,
  CommandId,
  Deposit,
  DepositId,
  Instant,
  IntentId,
  Landing,
  PaymentIntent,
  TransactionHash,
} from '@pf/domain';
import {
  type AmountMatch,
  hasRival,
  postponeMatch,
  releaseAmount,
  reserveAmount,
  settleMatch,
  takeDueMatches,
  type WantedAmount,
} from './amounts/reserved-amounts.ts';
import { type Checkpoint, readCheckpoint, readCheckpoints } from './ledger/checkpoints.ts';
import { findDeposit } from './ledger/deposits.ts';
import { type Found, IntentStates, type Overdue, type Wanted } from './ledger/intent-states.ts';
import { findIntent, findIntentByKey, findOutcomes, findReported, type IntentOwner } from './ledger/intents.ts';
import { type ProjectionBatch, ProjectionWriter } from './ledger/projection.ts';
import type { Database } from './postgres/database.ts';
import { SqlNetworkWatches, type WatchCursor, type WatchLease } from './watching/network-watches.ts';
import type { Shard } from './watching/shards.ts';
import { SqlSignedTransactions, type StoredTransaction } from './watching/signed-transactions.ts';
import { countRebuilds, loadOpenDeposits, loadWatchedIntents, type RestingTaker } from './watching/watched-intents.ts';
import {
  forgetWatchedWallets,
  keepWatchedWallets,
  loadWatchedWallets,
  type WatchedWallet,
} from './watching/watched-wallets.ts';
import { type DeliveryBatch, recordDeliveries, type RecordedDeliveries } from './webhooks/deliveries.ts';
import { webhookPositions } from './webhooks/positions.ts';

/**
 * The part of the database on which it depends that nothing is lost: what the writer, expiry, the gateway's commands,
 * the watchers and the webhook service's reader of the log need. Every method rejects if the database is unavailable;
 * it is then unknown whether a write has happened.
 */
export interface Store {
  readonly ledger: LedgerStore;
  readonly intents: IntentQueries;
  readonly amounts: ReservedAmounts;
  readonly signedTransactions: SignedTransactions;
  readonly watches: NetworkWatches;
  readonly watchedIntents: WatchedIntentSource;
  readonly webhooks: WebhookStore;
}

/** The projection, as the owner of a partition reads and writes it. */
export interface LedgerStore {
  /** The checkpoint of a partition; one that has never been projected begins at 0. */
  checkpoint(partition: number): Promise<Checkpoint>;
  /** The same for several partitions, in their order. */
  checkpointAll(partitions: readonly number[]): Promise<readonly Checkpoint[]>;
  /**
   * Reads one snapshot: the checkpoint of the partition; the intents with these ids, and the refund that each names;
   * for each refund its original, and the refund that the original names now; the newest intent of each key, of any
   * age; the known outcomes of the commands; and which of these intents have left for the archive.
   */
  lookUp(wanted: Wanted): Promise<Found>;
  /** The same for several partitions, each of them once, in their order and from one snapshot. */
  lookUpAll(wanted: readonly Wanted[]): Promise<readonly Found[]>;
  /**
   * Open intents that have expired at `now`, the longest overdue first, at most `limit` of each partition.
   * @param after by partition: where to go on, if not from the beginning
   */
  overdue(
    partitions: readonly number[],
    now: Instant,
    limit: number,
    after: ReadonlyMap<number, Overdue>,
  ): Promise<ReadonlyMap<number, readonly Overdue[]>>;
  /**
   * Writes the batch and moves the checkpoint from `from` to `next`, all or nothing.
   * Rejects, as if the database were unavailable, while another transaction holds the checkpoint.
   * @returns false, and nothing is written, if the checkpoint is not at `from`: another writer has moved it
   * @throws ProjectionGapError if an intent is not at its version before the batch; nothing is written
   */
  project(batch: ProjectionBatch): Promise<boolean>;
  /**
   * The same for batches of several partitions, each of them once, in one transaction. Where it throws, nothing of any
   * batch is written.
   * @returns the partitions that were written; the checkpoint of the others was not at `from`
   */
  projectAll(batches: readonly ProjectionBatch[]): Promise<ReadonlySet<number>>;
}

/** What the gateway reads for its commands. */
export interface IntentQueries {
  /** The intent as it is projected, or null if this owner has none with this id. */
  findIntent(id: IntentId, owner: IntentOwner): Promise<PaymentIntent | null>;
  /** The newest intent that this idempotency key made at or after `since`, or null. */
  findIntentByKey(idempotencyKey: string, owner: IntentOwner, since: Instant): Promise<PaymentIntent | null>;
  /**
   * The intent of this owner, another than this one, for which this transfer was reported at or after `since` as one
   * with other terms; null without one.
   */
  findReported(landing: Landing, owner: IntentOwner, than: IntentId, since: Instant): Promise<IntentId | null>;
  /** The deposit, or null if this owner has none with this id. */
  findDeposit(id: DepositId, owner: IntentOwner): Promise<Deposit | null>;
  /** The known outcomes of these commands. */
  findOutcomes(commandIds: readonly CommandId[]): Promise<readonly Outcome[]>;
}

/**
 * The amounts of intents that plain transfers pay, and which deposits have paid them: no two of one account, mode,
 * wallet and token are the same. They are in no log: without them deposits stay deposits.
 */
export interface ReservedAmounts {
  /**
   * Reserves the smallest amount that is not round and that no other account has, either, for the wallet; where these
   * have all, one of theirs. An intent that has one keeps it, so that a create can be sent again.
   * @returns it, in base units; null where all are reserved
   */
  reserve(wanted: WantedAmount): Promise<bigint | null>;
  /** Gives up what was reserved for an intent that was not created. */
  release(intentId: IntentId): Promise<void>;
  /**
   * Takes matches that are due: they are due again after a while, until they are settled. Several processes may do so
   * at once, each with others.
   */
  takeDue(now: Instant, limit: number): Promise<readonly AmountMatch[]>;
  /** Ends a match. @param isAssigned false: the next transfer of the amount, come or to come, may pay the intent */
  settle(match: Pick<AmountMatch, 'intentId' | 'depositId'>, isAssigned: boolean): Promise<void>;
  /** Has a match that is not settled be due at this time. */
  postpone(match: Pick<AmountMatch, 'intentId' | 'depositId'>, until: Instant): Promise<void>;
  /**
   * Whether another intent asks for the same, as far as the newest 100,000 of the account in the token are looked at:
   * one that is unpaid, and open or closed after this time.
   */
  hasRival(intent: PaymentIntent, closedAfter: Instant): Promise<boolean>;
}

/** The signed bytes of transactions that may have to be broadcast again. They are never in the event log. */
export interface SignedTransactions {
  /**
   * Stores the bytes, before the submission is prepared: a reader of the log that finds the submission finds them too.
   * Storing them again renews their age.
   */
  keep(transaction: StoredTransaction): Promise<void>;
  /** The bytes of those of these transactions that are stored. */
  find(chain: ChainId, hashes: readonly TransactionHash[]): Promise<ReadonlyMap<TransactionHash, Uint8Array>>;
  /**
   * Deletes a network's transactions that were stored before a time, except those still needed, and all of intents of
   * which it is not known what they need. Where the network is split, only those of the shard's recipients.
   * @returns how many were deleted
   */
  forget(
    chain: ChainId,
    shard: Shard,
    keptBefore: Instant,
    needed: readonly TransactionHash[],
    unknown: readonly IntentId[],
  ): Promise<number>;
}

/**
 * The lease and the cursor of each watched network, or of each shard where it is split. Times are the database's: the
 * holders' clocks need not agree.
 */
export interface NetworkWatches {
  /**
   * Acquires the lease if it is free, has expired, or is held by this holder already.
   * @param holder unique to a process
   * @returns null while another holds it, or the network is split into another number of shards
   */
  acquire(chain: ChainId, shard: Shard, holder: string, ttlMs: number): Promise<WatchLease | null>;
  /** Into how many shards the network is split: 1 where it is not. */
  shards(chain: ChainId): Promise<number>;
  /** @returns false if another holder has acquired the lease since */
  renew(lease: WatchLease, ttlMs: number): Promise<boolean>;
  /**
   * Moves the cursor, by compare-and-set on the epoch, and stores bookmarks with it, all or nothing.
   * @param bookmarks by recipient, those that changed; null for one that is no longer needed
   * @returns false, and nothing is written, if another holder has acquired the lease since
   */
  moveCursor(lease: WatchLease, cursor: WatchCursor, bookmarks?: ReadonlyMap<string, string | null>): Promise<boolean>;
  /** The stored bookmarks of a shard of a network, by recipient. */
  bookmarks(chain: ChainId, shard: Shard): Promise<ReadonlyMap<string, string>>;
  /**
   * Releases the lease, so that a standby need not wait until it expires. Does nothing if another holder has acquired
   * it.
   */
  release(lease: WatchLease): Promise<void>;
}

export interface WatchedIntentSource {
  /**
   * Reads the intents of these networks that are open or were closed after `closedAfter`, and whose recipient is of the
   * shard, and for each partition the position in intent.events up to which they are complete: one snapshot of the
   * projection.
   * @param each called with every intent, so that the caller keeps only what it needs; with a held one for a row that
   * cannot be decoded
   * @param resting called instead for those that are at rest since then; `each` may get some of them
   * @returns positions by partition; a missing partition is not projected yet, so its log is to be read from 0
   */
  load(
    chains: readonly ChainId[],
    closedAfter: Instant,
    each: (intent: PaymentIntent) => void,
    shard: Shard,
    resting?: RestingTaker,
  ): Promise<ReadonlyMap<number, bigint>>;
  /**
   * The deposits of these networks that are confirmed and not final, to recipients of the shard: as of a time after the
   * last load().
   */
  openDeposits(chains: readonly ChainId[], shard: Shard): Promise<readonly Deposit[]>;
  /** How often partitions were rebuilt. Another number than at the load: rows may be there now that were missing. */
  rebuilds(): Promise<number>;
  /** Hands over the wallets of these networks, of the shard, that are watched for deposits beyond this time. */
  wallets(
    chains: readonly ChainId[],
    after: Instant,
    shard: Shard,
    each: (wallet: WatchedWallet) => void,
  ): Promise<void>;
  /** Stores them; of a known one the earlier beginning and the later end. */
  keepWallets(wallets: readonly WatchedWallet[]): Promise<void>;
  /** Deletes those of these networks whose end was before this time: some of them, where there are many. */
  forgetWallets(chains: readonly ChainId[], before: Instant): Promise<void>;
  /** These intents as they are projected now; one whose row cannot be decoded is held. */
  find(ids: readonly IntentId[]): Promise<readonly PaymentIntent[]>;
}

/** The webhook service's positions in the log, and the deliveries that it makes of the log's events. */
export interface WebhookStore {
  /** The position in each of these partitions of intent.events; a new one begins at 0. */
  positions(partitions: readonly number[]): Promise<ReadonlyMap<number, bigint>>;
  /**
   * Writes a delivery, due at once, for each event and each enabled URL of its account and mode, and moves the
   * positions in the log, all or nothing. An event and URL that have a delivery already get no other.
   * @param batches of different partitions; one whose position is not at `from` is left out
   */
  recordDeliveries(batches: readonly DeliveryBatch[], at: Date): Promise<RecordedDeliveries>;
}

/** The store in Postgres. */
export function createStore(database: Database): Store {
  const states = new IntentStates(database.sql);
  const projection = new ProjectionWriter(database.sql);
  return {
    ledger: {
      checkpoint: (partition) => readCheckpoint(database, partition),
      checkpointAll: (partitions) => readCheckpoints(database, partitions),
      lookUp: (wanted) => states.lookUp(wanted),
      lookUpAll: (wanted) => states.lookUpAll(wanted),
      overdue: (partitions, now, limit, after) => states.overdue(partitions, now, limit, after),
      project: (batch) => projection.project(batch),
      projectAll: (batches) => projection.projectAll(batches),
    },
    intents: {
      findIntent: (id, owner) => findIntent(database, id, owner),
      findIntentByKey: (key, owner, since) => findIntentByKey(database, key, owner, since),
      findReported: (landing, owner, than, since) => findReported(database, landing, owner, than, since),
      findDeposit: (id, owner) => findDeposit(database, id, owner),
      findOutcomes: (commandIds) => findOutcomes(database, commandIds),
    },
    amounts: {
      reserve: (wanted) => reserveAmount(database, wanted),
      release: (intentId) => releaseAmount(database, intentId),
      takeDue: (now, limit) => takeDueMatches(database, now, limit),
      settle: (match, isAssigned) => settleMatch(database, match, isAssigned),
      postpone: (match, until) => postponeMatch(database, match, until),
      hasRival: (intent, closedAfter) => hasRival(database, intent, closedAfter),
    },
    signedTransactions: new SqlSignedTransactions(database),
    watches: new SqlNetworkWatches(database),
    watchedIntents: {
      load: (...asked) => loadWatchedIntents(database, ...asked),
      openDeposits: (chains, shard) => loadOpenDeposits(database, chains, shard),
      rebuilds: () => countRebuilds(database),
      wallets: (...asked) => loadWatchedWallets(database, ...asked),
      keepWallets: (wallets) => keepWatchedWallets(database, wallets),
      forgetWallets: (chains, before) => forgetWatchedWallets(database, chains, before),
      find: (ids) => states.find(ids),
    },
    webhooks: {
      positions: (partitions) => webhookPositions(database, partitions),
      recordDeliveries: (batches, at) => recordDeliveries(database, batches, at),
    },
  };
}
