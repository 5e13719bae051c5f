import { type EventEnvelope, eventOf, parseEvent } from '@pf/contracts';
import { type Database, loadWatchedIntents } from '@pf/database';
import type { ChainId, IntentId } from '@pf/domain';
import type { LogReader, LogRecord } from '@pf/event-log';
import type { TraceContext } from '@pf/runtime';
import { RecentTraces } from './recent-traces.ts';
import { WatchedIntents } from './watched-intents.ts';

/**
 * After this long without reading the log, the projection is loaded again: that is faster than reading all events
 * since.
 */
const STALE_AFTER_MS = 60_000;
const PRUNE_EVERY_MS = 60_000;

/** The log has a record that cannot be applied: raises the alarm and ends this process. */
export class BrokenLogError extends Error {
  override readonly name = 'BrokenLogError';
}

/** The watch sets of all networks of this process: loaded from the projection, then kept by one reader of the log. */
export class WatchSets {
  readonly #database: Database;
  readonly #reader: LogReader;
  readonly #chains: readonly ChainId[];
  readonly #watchMs: number;
  readonly #traces = new RecentTraces();
  /** By chain id. */
  #sets = new Map<string, WatchedIntents>();
  #positions = new Map<number, bigint>();
  #readAt = Number.NEGATIVE_INFINITY;
  #prunedAt = Number.NEGATIVE_INFINITY;
  /** The last reading of the log, settled or running, and the one that waits for it. */
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(database: Database, reader: LogReader, chains: readonly ChainId[], watchMs: number) {
    this.#database = database;
    this.#reader = reader;
    this.#chains = chains;
    this.#watchMs = watchMs;
  }

  /**
   * Brings the sets up to the current end of the log, and holds the one of this network until its release().
   * @throws LogUnavailableError, or the database's error when it is unavailable: retry. BrokenLogError: do not retry.
   */
  async synchronize(chain: ChainId): Promise<WatchedIntents> {
    await this.#upToDate();
    const set = this.#sets.get(chain);
    if (!set) throw new Error(`${chain} is not among the networks of this process`);
    set.hold();
    return set;
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
      return this.#read();
    });
    const run = this.#next;
    // Callers that wait for this reading get its failure; the next one begins either way.
    this.#last = run.catch(() => undefined);
    return run;
  }

  async #read(): Promise<void> {
    if (performance.now() - this.#readAt > STALE_AFTER_MS) await this.#load();
    const ends = await this.#reader.endOffsets('intent.events');
    for (const [partition, end] of ends.entries()) await this.#readPartition(partition, end);
    const now = performance.now();
    this.#readAt = now;
    if (now - this.#prunedAt < PRUNE_EVERY_MS) return;
    this.#prunedAt = now;
    for (const set of this.#sets.values()) set.prune(Date.now());
  }

  /**
   * The sets and the positions they are complete up to, from one snapshot of the projection. Sets in use stay as they
   * are: a step has its own.
   */
  async #load(): Promise<void> {
    const now = Date.now();
    const sets = new Map<string, WatchedIntents>(
      this.#chains.map((chain) => [chain, new WatchedIntents(this.#watchMs)]),
    );
    const positions = await loadWatchedIntents(this.#database, this.#chains, now - this.#watchMs, (intent) =>
      sets.get(intent.chain)?.put(intent, now),
    );
    this.#sets = sets;
    this.#positions = new Map(positions);
  }

  async #readPartition(partition: number, end: bigint): Promise<void> {
    const from = this.#positions.get(partition) ?? 0n;
    if (from >= end) return;
    for await (const batch of this.#reader.read('intent.events', partition, from, end)) {
      for (const record of batch.records) this.#apply(record);
      this.#positions.set(partition, batch.next);
    }
  }

  #apply(record: LogRecord): void {
    try {
      const event = envelopeOf(record);
      const set = this.#sets.get(event.intent.chain);
      if (!set) return;
      this.#traces.note(event);
      set.apply(eventOf(event));
    } catch (cause) {
      throw new BrokenLogError(
        `Record ${record.offset} of partition ${record.partition} of intent.events cannot be applied`,
        { cause },
      );
    }
  }
}

function envelopeOf(record: LogRecord): EventEnvelope {
  if (record.value === null) throw new Error('The record has no value');
  return parseEvent(record.value);
}
