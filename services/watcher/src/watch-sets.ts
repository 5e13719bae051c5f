import {
  depositEventOf,
  eventOf,
  headOf,
  isDepositEvent,
  isForeign,
  isForeignDeposit,
  type LoggedDepositEvent,
  type LoggedRecord,
  partitionOf,
  readRecord,
} from '@pf/contracts';
import { type RestingTaker, type Shard, UNSPLIT, type WatchedIntentSource } from '@pf/database';
import type { ChainId, DepositEventType, Instant, IntentId, PaymentIntent } from '@pf/domain';
import { type LogReader, type LogRecord, LogTruncatedError } from '@pf/event-log';
import type { TraceContext } from '@pf/runtime';
import { RecentTraces } from './recent-traces.ts';
import { ProjectionSetBackError, RESTS_AFTER_MS, WatchedIntents } from './watched-intents.ts';

const TIDY_EVERY_MS = 60_000;
/** Between two reports of a load that takes long. */
const REPORT_EVERY_MS = 5_000;
/** Intents whose rows are read at once, held ones and those that may come to rest. */
const READ_AT_ONCE = 1_000;
/** Wallets that are stored at once. */
const KEPT_AT_ONCE = 1_000;
/** For this long a log may end before what was read of it: a new leader learns late what is committed. */
const BEHIND_MAX_MS = 10_000;

/** Wallets are forgotten so long after their end: clocks differ. */
const FORGOTTEN_MS = 24 * 3_600_000;

/** A transaction that is open for longer hangs: it ends when the owner of its partition has ended it. */
const HANGING_MS = 2_000;

/** What an account does about a deposit. */
const ACTS: ReadonlySet<string> = new Set([
  'deposit.ignored',
  'deposit.reopened',
  'deposit.assigned',
  'deposit.unassigned',
] satisfies readonly DepositEventType[]);

/** The log cannot be followed: a record cannot be applied, or a position is not in the log. */
export class BrokenLogError extends Error {
  override readonly name = 'BrokenLogError';
}

/** The log ends before what was read of it. Retry: it may pass. */
export class LogBehindError extends Error {
  override readonly name = 'LogBehindError';
}

/** Called for every sign of life while the sets are loaded or the log is read. */
export type OnProgress = () => void;

/** Called while the sets are loaded. */
export interface LoadListener {
  /** An intent is held when it is loaded. */
  onHeld?(id: IntentId): void;
  /** So many intents are loaded, with some time in between; at last all of them. */
  onLoading?(loaded: number, isDone: boolean): void;
}

/** How deposits are looked for. */
interface DepositsAsked {
  /** Of the log. */
  readonly partitions: number;
  /** How long after the last intent of a wallet was closed. */
  readonly watchMs: number;
}

/**
 * The watch sets of all networks of this process: loaded from the projection once, then kept by one reader of the log,
 * however long the log was unavailable in between. Loaded again after a rebuild: what was missing in the projection
 * then, its events in the log being older than the positions, would never be seen.
 */
export class WatchSets {
  readonly #intents: WatchedIntentSource;
  readonly #reader: LogReader;
  readonly #chains: readonly ChainId[];
  readonly #watchMs: number;
  readonly #shard: Shard;
  readonly #restsAfterMs: number;
  readonly #now: () => Instant;
  readonly #deposits: DepositsAsked | null;
  readonly #listener: LoadListener;
  readonly #traces = new RecentTraces();
  /** By chain id. */
  #sets = new Map<string, WatchedIntents>();
  /** Those that are being loaded. */
  #loading: ReadonlyMap<string, WatchedIntents> | null = null;
  #wasLoaded = false;
  /** Up to where the sets are complete; null before they are loaded. */
  #positions: Map<number, bigint> | null = null;
  /** By partition: when everything that was in the log then is in the sets, by performance.now(). */
  readonly #knownAt = new Map<number, number>();
  /** By partition: where the log ended then, with open transactions, for the earliest time that is not yet known. */
  readonly #openAt = new Map<number, { readonly end: bigint; readonly at: number }>();
  /** When the log was last read, by performance.now(). */
  #readAt = Number.NEGATIVE_INFINITY;
  /** Since when the log of a partition has ended before our position. */
  readonly #behindSince = new Map<number, number>();
  readonly #waiting = new Set<OnProgress>();
  #tidiedAt = Number.NEGATIVE_INFINITY;
  /** How often partitions had been rebuilt before the sets were loaded. */
  #rebuilds = 0;
  /** The last reading of the log, settled or running, and the one that waits for it. */
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  /**
   * @param watchMs how long an intent is watched after it was closed
   * @param now milliseconds since 1970
   * @param shard whose recipients' intents are loaded, of each network
   * @param restsAfterMs how long after its end an intent stays in memory
   * @param deposits null: they are not asked for
   */
  constructor(
    intents: WatchedIntentSource,
    reader: LogReader,
    chains: readonly ChainId[],
    watchMs: number,
    now: () => Instant = Date.now,
    listener: LoadListener = {},
    shard = UNSPLIT,
    restsAfterMs = RESTS_AFTER_MS,
    deposits: DepositsAsked | null = null,
  ) {
    this.#deposits = deposits;
    this.#restsAfterMs = restsAfterMs;
    this.#shard = shard;
    this.#listener = listener;
    this.#intents = intents;
    this.#reader = reader;
    this.#chains = chains;
    this.#watchMs = watchMs;
    this.#now = now;
  }

  /**
   * Brings the sets up to the current end of the log, and holds the one of this network until its release().
   * @throws LogUnavailableError, LogBehindError, or the database's error when it is unavailable: retry. BrokenLogError
   * or VersionGapError: the log cannot be followed; the next call begins with the projection again.
   */
  async synchronize(chain: ChainId, onProgress: OnProgress = () => undefined): Promise<WatchedIntents> {
    if (!this.#chains.includes(chain)) throw new Error(`${chain} is not among the networks of this process`);
    let set: WatchedIntents | undefined;
    do {
      await this.follow(onProgress);
      // Absent where another network's step has found the log broken meanwhile.
      set = this.#sets.get(chain);
    } while (!set);
    try {
      set.hold();
    } catch (error) {
      // An event that waited while the last step held it.
      this.drop();
      throw error;
    }
    return set;
  }

  /** Brings the sets up to the current end of the log. @throws as synchronize() */
  async follow(onProgress: OnProgress = () => undefined): Promise<void> {
    this.#waiting.add(onProgress);
    try {
      await this.#upToDate();
    } finally {
      this.#waiting.delete(onProgress);
    }
  }

  /** Forgets the sets, because the log could not be followed: they are loaded again. Sets in use stay as they are. */
  drop(): void {
    this.#sets = new Map();
    this.#positions = null;
    this.#behindSince.clear();
    this.#knownAt.clear();
    this.#openAt.clear();
  }

  /**
   * Up to when the set has all that was written about this intent, by performance.now(). What was in a transaction then
   * that had not ended is known only once it has.
   */
  knownAt(id: IntentId): number {
    return this.#knownAt.get(partitionOf(id)) ?? Number.NEGATIVE_INFINITY;
  }

  /**
   * False while a transaction of the log hangs: the intents in it are not in the sets, although payers may know them,
   * as they are in the projection.
   */
  get isWhole(): boolean {
    return [...this.#openAt.values()].every(({ at }) => this.#readAt - at < HANGING_MS);
  }

  /** Whether this process has had the sets: from then on it can take over at once. */
  get wasLoaded(): boolean {
    return this.#wasLoaded;
  }

  /** How many intents of a network are watched; while they are loaded, how many are so far. */
  sizeOf(chain: ChainId): number {
    return (this.#loading ?? this.#sets).get(chain)?.size ?? 0;
  }

  /** What is watched of a network; null before it was loaded. */
  setOf(chain: ChainId): Pick<WatchedIntents, 'recipients' | 'ownersSince'> | null {
    return this.#sets.get(chain) ?? null;
  }

  /** The trace in which an intent was last processed, where it is known and sampled. */
  traceOf(id: IntentId): TraceContext | null {
    return this.#traces.of(id);
  }

  /**
   * A running reading may have learned the log's end before this caller learned the chain's head: callers share the
   * next one.
   */
  #upToDate(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = null;
      return this.#readOrDrop();
    });
    const run = this.#next;
    // Callers that wait for this reading get its failure; the next one begins either way.
    this.#last = run.catch(() => undefined);
    return run;
  }

  async #readOrDrop(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      if (error instanceof BrokenLogError || error instanceof ProjectionSetBackError) this.drop();
      throw error;
    }
  }

  async #read(): Promise<void> {
    const isTidy = performance.now() - this.#tidiedAt < TIDY_EVERY_MS;
    if (this.#positions && !isTidy && (await this.#intents.rebuilds()) !== this.#rebuilds) this.drop();
    const positions = this.#positions ?? (await this.#load());
    const at = performance.now();
    const appended = await this.#reader.appendedOffsets('intent.events');
    const ends = await this.#reader.endOffsets('intent.events');
    for (const [partition, end] of ends.entries()) await this.#readPartition(positions, partition, end);
    for (const [partition, end] of appended.entries()) this.#know(partition, positions.get(partition) ?? 0n, end, at);
    for (const set of this.#sets.values()) await set.readWoken();
    this.#readAt = at;
    if (isTidy) return;
    this.#tidiedAt = at;
    for (const set of this.#sets.values()) {
      set.prune(this.#now());
      await this.#repair(set);
      await this.#rest(set);
      await this.#keepWallets(set);
    }
    if (this.#deposits !== null) await this.#intents.forgetWallets(this.#chains, this.#now() - FORGOTTEN_MS);
  }

  /** @param end where the log ended at that time, with open transactions */
  #know(partition: number, position: bigint, end: bigint, at: number): void {
    if (position >= end) {
      this.#knownAt.set(partition, at);
      this.#openAt.delete(partition);
      return;
    }
    const earliest = this.#openAt.get(partition);
    if (earliest && position < earliest.end) return;
    if (earliest) this.#knownAt.set(partition, earliest.at);
    this.#openAt.set(partition, { end, at });
  }

  /** Newer code may have folded held intents meanwhile, or a rebuild may have repaired their rows. */
  async #repair(set: WatchedIntents): Promise<void> {
    for await (const row of this.#rows(set.held())) set.repair(row, this.#now());
  }

  /** An intent rests once the projection has it as it is in memory: there it is looked up when a payment names it. */
  async #rest(set: WatchedIntents): Promise<void> {
    for await (const row of this.#rows(set.tired(this.#now()))) set.rest(row, this.#now());
  }

  /** Wallets are watched for longer than the projection has their intents. Where there are many, some at a time. */
  async #keepWallets(set: WatchedIntents): Promise<void> {
    const wallets = set.unkeptWallets(KEPT_AT_ONCE);
    if (wallets.length === 0) return;
    await this.#intents.keepWallets(wallets);
    set.keptWallets(wallets);
    this.#progress();
  }

  async *#rows(wanted: Iterable<IntentId>): AsyncGenerator<PaymentIntent> {
    const ids = [...wanted];
    for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
      yield* await this.#intents.find(ids.slice(at, at + READ_AT_ONCE));
      this.#progress();
    }
  }

  /** Loads the sets, and the positions they are complete up to, from one snapshot of the projection. */
  async #load(): Promise<Map<number, bigint>> {
    const now = this.#now();
    // Before the load: one that is rebuilt during it is loaded again.
    this.#rebuilds = await this.#intents.rebuilds();
    const sets = new Map<string, WatchedIntents>(
      this.#chains.map((chain) => [
        chain,
        new WatchedIntents(
          this.#watchMs,
          this.#shard,
          (ids) => this.#intents.find(ids),
          this.#now,
          this.#restsAfterMs,
          this.#deposits && { chain, ...this.#deposits },
        ),
      ]),
    );
    let loaded = 0;
    let reportedAt = performance.now();
    this.#loading = sets;
    try {
      const count = (): void => {
        loaded += 1;
        if (performance.now() - reportedAt >= REPORT_EVERY_MS) {
          this.#listener.onLoading?.(loaded, false);
          reportedAt = performance.now();
        }
        this.#progress();
      };
      const each = (intent: PaymentIntent): void => {
        if (intent.heldFrom !== undefined) this.#listener.onHeld?.(intent.id);
        sets.get(intent.chain)?.put(intent, now);
        count();
      };
      const resting: RestingTaker = {
        since: now - this.#restsAfterMs,
        each: (intent) => {
          sets.get(intent.chain)?.putAtRest(intent);
          count();
        },
      };
      // First: an account's wallets that are stored have their places before those of its newer intents.
      if (this.#deposits !== null)
        await this.#intents.wallets(this.#chains, now, this.#shard, (wallet) => {
          sets.get(wallet.chain)?.putWallet(wallet);
          this.#progress();
        });
      const positions = await this.#intents.load(this.#chains, now - this.#watchMs, each, this.#shard, resting);
      // Later than the positions: what the log tells again of them comes to the same.
      for (const deposit of await this.#intents.openDeposits(this.#chains, this.#shard))
        sets.get(deposit.chain)?.putDeposit(deposit);
      this.#listener.onLoading?.(loaded, true);
      this.#sets = sets;
      this.#wasLoaded = true;
      return (this.#positions = new Map(positions));
    } finally {
      this.#loading = null;
    }
  }

  async #readPartition(positions: Map<number, bigint>, partition: number, end: bigint): Promise<void> {
    const from = positions.get(partition) ?? 0n;
    if (from > end) this.#behind(partition, from, end);
    this.#behindSince.delete(partition);
    if (from === end) return;
    try {
      for await (const batch of this.#reader.read('intent.events', partition, from, end)) {
        for (const record of batch.records) this.#apply(record);
        positions.set(partition, batch.next);
        this.#progress();
      }
    } catch (error) {
      if (!(error instanceof LogTruncatedError)) throw error;
      throw new BrokenLogError(`Partition ${partition} of intent.events cannot be read from ${from}`, { cause: error });
    }
  }

  /** @throws LogBehindError; BrokenLogError once it has lasted too long to be a new leader's delay */
  #behind(partition: number, position: bigint, end: bigint): never {
    const now = performance.now();
    const since = this.#behindSince.get(partition) ?? now;
    this.#behindSince.set(partition, since);
    const text = `Partition ${partition} of intent.events ends at ${end}, before the position ${position}`;
    throw now - since < BEHIND_MAX_MS ? new LogBehindError(text) : new BrokenLogError(text);
  }

  #progress(): void {
    for (const onProgress of this.#waiting) onProgress();
  }

  #applyDeposit(logged: LoggedDepositEvent): void {
    const set = this.#sets.get(logged.deposit.chain);
    const event = isForeignDeposit(logged) ? null : depositEventOf(logged);
    // What its account does about it changes nothing on chain: it is still to become final.
    if (event !== null && ACTS.has(event.type)) return;
    if (event?.type === 'deposit.received') set?.putDeposit({ id: event.depositId, ...event.data });
    else set?.dropDeposit(logged.depositId);
  }

  #apply(record: LogRecord): void {
    try {
      const event = eventIn(record);
      if (isDepositEvent(event)) {
        this.#applyDeposit(event);
        return;
      }
      const set = this.#sets.get(event.intent.chain);
      if (!set) return;
      this.#traces.note(event);
      set.apply(isForeign(event) ? headOf(event) : eventOf(event), event.intent.reference);
    } catch (cause) {
      throw new BrokenLogError(
        `Record ${record.offset} of partition ${record.partition} of intent.events cannot be applied`,
        { cause },
      );
    }
  }
}

function eventIn(record: LogRecord): LoggedRecord {
  if (record.value === null) throw new Error('The record has no value');
  return readRecord(record.value);
}
