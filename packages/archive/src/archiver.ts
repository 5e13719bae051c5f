import type { LogReader, LogRecord } from '@pf/event-log';
import { LogTruncatedError } from '@pf/event-log';
import { BackOff, count, inWork, type Logger, pause } from '@pf/runtime';
import { digestOf, GENESIS } from './chain.ts';
import { writePublicKey } from './manifest.ts';
import { publicKeyKey } from './names.ts';
import { type ArchiveTools, ArchiveDamagedError, PartitionArchive, UnmergeableError } from './partition-archive.ts';
import { dayOf, type Row, toRow } from './row.ts';
import { StoreUnfitError } from './store/object-store.ts';
import { observed } from './store/observed.ts';

/** Bytes of events that wait in memory, of all partitions; more are not read before these are archived. */
const WAITING_MAX = 32 * 1024 * 1024;
/** Bytes for which a fetch waits: an event waits for others of its file in any case. */
const FETCHED_MIN = 256 * 1024;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

export interface ArchiverOptions extends ArchiveTools {
  readonly reader: LogReader;
  readonly partitions: number;
  /** How long an event may wait for others of its file. */
  readonly flushMs: number;
  readonly log: Logger;
  readonly now: () => number;
}

/** How often the heads of the partitions are logged, where they have moved. */
const HEADS_TOLD_MS = 60 * 60 * 1_000;

/** The log does not go on where the archive ends: it is another one, and not made of this archive. */
class OtherLogError extends Error {
  override readonly name = 'OtherLogError';
}

/** After a failure: what is wrong with a file or a disk, the next look at once would find again. */
const MERGED_AGAIN_MS = 60 * 60 * 1_000;

interface Waiting {
  readonly rows: Row[];
  /** When the first of them was read, by our clock. */
  readonly since: number;
  /** When the first of them was appended to the log, by the broker's clock. */
  readonly appendedAt: number;
}
const sizeOf = ({ event }: Row): number => event?.length ?? 0;

/**
 * Archives intent.events as it grows. What is archived is read from the store whenever it begins, so that a process
 * can end at any moment and others can run beside it.
 */
export class Archiver {
  readonly #options: ArchiverOptions;
  readonly #stopping = new AbortController();
  readonly #waiting = new Map<number, Waiting>();
  #bytes = 0;
  #loop: Promise<void> = Promise.resolve();
  #archives: ReadonlyMap<number, PartitionArchive> = new Map();
  #isFollowing = false;
  #followedAt: number;
  /** When the oldest event of a partition was appended that is not archived. Stays over a new beginning. */
  readonly #behindSince = new Map<number, number>();
  /** When the files of a partition are merged again, after a failure. */
  readonly #mergedAgainAt = new Map<number, number>();
  /** When the heads were logged last, and what they were. */
  #headsToldAt = -Infinity;
  readonly #headsTold = new Map<number, string>();
  #movedAt = performance.now();
  #turn: Promise<void> = Promise.resolve();

  constructor(options: ArchiverOptions) {
    // A slow store is no reason to begin again: to open many partitions may take minutes.
    const store = observed(options.store, () => (this.#movedAt = performance.now()));
    this.#options = { ...options, store };
    this.#followedAt = options.now();
  }

  /** @param onCrash an error that a retry does not fix */
  start(onCrash: (error: Error) => void): void {
    this.#loop = inWork('archive', () => this.#run()).catch((error: unknown) => onCrash(error as Error));
  }

  /** Archives what was read, as far as the store takes it. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  /** It knows what is archived, and follows the log. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /**
   * Milliseconds for which the oldest event has waited to be archived: since it was appended to the log, or since the
   * log could last be followed.
   */
  get lagMs(): number {
    const since = [...this.#behindSince.values(), ...(this.#isFollowing ? [] : [this.#followedAt])];
    return since.length === 0 ? 0 : Math.max(0, this.#options.now() - Math.min(...since));
  }

  /** Milliseconds since it last came round, to look at what is due or to begin again, or since the store responded. */
  get idleMs(): number {
    return performance.now() - this.#movedAt;
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    while (!this.#stopping.signal.aborted) {
      this.#movedAt = performance.now();
      try {
        await this.#session(() => backOff.reset());
      } catch (error) {
        if (error instanceof StoreUnfitError) throw error;
        if (error instanceof LogTruncatedError || error instanceof OtherLogError) {
          count('payments.alarms', { alarm: 'archive_diverged' });
          throw error;
        }
        // The store or the brokers do not respond, or another process was first: begin again from what is archived.
        log.warn({ err: error }, 'archiving starts again after the last archived event');
      }
      if (this.#isFollowing) this.#followedAt = this.#options.now();
      this.#isFollowing = false;
      await backOff.wait(this.#stopping.signal);
    }
  }

  /** Follows the log until it is told to stop, or something fails. */
  async #session(onProgress: () => void): Promise<void> {
    const { store, signer, reader, partitions, flushMs } = this.#options;
    this.#waiting.clear();
    this.#bytes = 0;
    this.#turn = Promise.resolve();
    await store.create(publicKeyKey(signer.id), writePublicKey(signer));
    const archives = new Map<number, PartitionArchive>();
    const positions = new Map<number, bigint>();
    for (let partition = 0; partition < partitions; partition++) {
      const archive = await PartitionArchive.open(partition, this.#options);
      archives.set(partition, archive);
      positions.set(partition, await this.#positionAfter(archive));
    }
    this.#archives = archives;
    this.#isFollowing = true;

    const ended = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, ended.signal]);
    const failures: Error[] = [];
    // A flush is due by the clock, whether or not the log goes on.
    const flushing = (async () => {
      while (!signal.aborted) {
        await pause(this.#dueInMs(), signal);
        await this.#flush((waiting) => this.#options.now() - waiting.since >= flushMs);
        await this.#compact();
        this.#tellHeads();
        this.#movedAt = performance.now();
        onProgress();
      }
    })().catch((error: unknown) => {
      failures.push(error as Error);
      ended.abort();
    });
    try {
      for await (const { partition, records } of reader.follow('intent.events', positions, signal, FETCHED_MIN)) {
        this.#take(partition, records);
        while (this.#bytes > WAITING_MAX && !signal.aborted) await this.#flush(() => true);
      }
    } finally {
      ended.abort();
      await flushing;
    }
    for (const failure of failures) throw failure;
    await this.#flush(() => true);
  }

  /** Milliseconds until something is due. What is read meanwhile is due later. */
  #dueInMs(): number {
    const { flushMs, now } = this.#options;
    const waited = [...this.#waiting.values()].map(({ since }) => now() - since);
    return Math.max(0, flushMs - Math.max(0, ...waited));
  }

  #take(partition: number, records: readonly LogRecord[]): void {
    const [first] = records;
    if (first === undefined) return;
    const waiting = this.#waiting.get(partition) ?? {
      rows: [],
      since: this.#options.now(),
      appendedAt: first.timestamp,
    };
    for (const record of records) {
      const row = toRow(record);
      waiting.rows.push(row);
      this.#bytes += sizeOf(row);
    }
    this.#waiting.set(partition, waiting);
    if (!this.#behindSince.has(partition)) this.#behindSince.set(partition, waiting.appendedAt);
  }

  /** Archives what waits in the partitions that are due. */
  #flush(isDue: (waiting: Waiting) => boolean): Promise<void> {
    return this.#inTurn(async () => {
      for (const [partition, waiting] of [...this.#waiting]) {
        if (!isDue(waiting)) continue;
        // What is read while they are archived begins a file of its own.
        this.#waiting.delete(partition);
        await this.#archives.get(partition)?.append(waiting.rows);
        this.#bytes -= waiting.rows.reduce((sum, row) => sum + sizeOf(row), 0);
        const next = this.#waiting.get(partition);
        if (next === undefined) this.#behindSince.delete(partition);
        else this.#behindSince.set(partition, next.appendedAt);
      }
    });
  }

  /** So that they leave the store: whoever can write there could put older ones back (docs/operations/archive.md). */
  #tellHeads(): void {
    const { log, now } = this.#options;
    if (now() < this.#headsToldAt + HEADS_TOLD_MS) return;
    this.#headsToldAt = now();
    for (const [partition, { next: events, last }] of this.#archives) {
      const head = last?.chain.after ?? GENESIS;
      if (head === (this.#headsTold.get(partition) ?? GENESIS)) continue;
      this.#headsTold.set(partition, head);
      log.info({ partition, events, head }, 'the head of the archive');
    }
  }

  /** Damage to old files is told, and what cannot be merged stays. Neither keeps new events from the archive. */
  #compact(): Promise<void> {
    const { log, now } = this.#options;
    return this.#inTurn(async () => {
      for (const [partition, archive] of this.#archives) {
        if (now() < (this.#mergedAgainAt.get(partition) ?? 0)) continue;
        try {
          await archive.compact(dayOf(now()));
        } catch (error) {
          if (error instanceof UnmergeableError)
            log.warn({ err: error, partition }, 'files stay small: they are merged again in an hour');
          else if (error instanceof ArchiveDamagedError) {
            count('payments.alarms', { alarm: 'archive_damaged' });
            log.error({ err: error, alarm: 'archive_damaged', partition }, 'the archive is damaged');
          } else throw error;
          this.#mergedAgainAt.set(partition, now() + MERGED_AGAIN_MS);
        }
      }
    });
  }

  /** One thing at a time changes the archive, and nothing after a failure: what follows would leave a gap. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work);
    return this.#turn;
  }

  /**
   * Where the log goes on after the last event that is archived. That event is looked for by what it is: in a log that
   * was made of the archive it lies elsewhere.
   * @throws OtherLogError, LogTruncatedError
   */
  async #positionAfter({ partition, last }: PartitionArchive): Promise<bigint> {
    const { reader, log } = this.#options;
    if (last === null) return 0n;
    const isLast = ({ value }: LogRecord): boolean => digestOf(Buffer.from(value ?? '')) === last.lastEvent.sha256;
    const expected = BigInt(last.offsets.last);
    const end = await reader.endOffset('intent.events', partition);
    if (expected < end) {
      for await (const { records } of reader.read('intent.events', partition, expected, expected + 1n)) {
        const found = records.find(({ offset }) => offset === expected);
        if (found !== undefined && isLast(found)) return expected + 1n;
        break;
      }
    }
    log.warn({ partition, offset: last.offsets.last }, 'the log has another event where the last archived one was');
    const start = await reader.startOffset('intent.events', partition);
    for await (const { records } of reader.read('intent.events', partition, start, end)) {
      const found = records.find(isLast);
      if (found !== undefined) return found.offset + 1n;
    }
    throw new OtherLogError(
      `intent.events-${partition} does not have the last event that is archived: ` +
        `${last.lastEvent.intentId ?? 'unreadable'} version ${last.lastEvent.version ?? '?'} ` +
        '(docs/operations/runbooks/archive-diverged.md).',
    );
  }
}
