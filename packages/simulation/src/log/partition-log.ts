import type { LogRecord, NewRecord, OpenTransaction, Topic } from '@pf/event-log';

/** Who has appended: its transactional id, and its epoch then. */
interface Writer {
  readonly id: string;
  readonly epoch: number;
}

/** A transaction's part in one partition. */
interface PartOfTransaction {
  readonly writer: Writer;
  readonly first: number;
  /** The offset of the marker that ended it; null while it is open. */
  marker: number | null;
  committed: boolean;
}

interface Entry {
  /** Null for a marker. */
  readonly record: LogRecord | null;
  /** Null for a record outside of transactions. */
  readonly transaction: PartOfTransaction | null;
}

export interface Read {
  readonly records: readonly LogRecord[];
  /** Null: there was nothing, not even a marker. */
  readonly next: bigint | null;
}

/** The most records in one response. */
const RECORDS_AT_MOST = 500;

/** One partition: records and markers at consecutive offsets. */
export class PartitionLog {
  readonly #topic: Topic;
  readonly #partition: number;
  #entries: Entry[] = [];
  #start = 0;
  /** Open transactions by their writer. */
  readonly #open = new Map<string, PartOfTransaction>();
  readonly #waiting = new Set<() => void>();

  constructor(topic: Topic, partition: number) {
    this.#topic = topic;
    this.#partition = partition;
  }

  get start(): number {
    return this.#start;
  }

  /** The high watermark: everything below is replicated. */
  get end(): number {
    return this.#start + this.#entries.length;
  }

  /** The last stable offset: below it every transaction has ended. */
  get stableEnd(): number {
    let stable = this.end;
    for (const { first } of this.#open.values()) stable = Math.min(stable, first);
    return stable;
  }

  /** @returns the offset of the first record */
  append(records: readonly NewRecord[], timestamp: number, writer: Writer | null): number {
    const base = this.end;
    let transaction: PartOfTransaction | null = null;
    if (writer !== null) {
      // A transaction that hangs goes on with what its writer appends next, as in Kafka.
      transaction = this.#open.get(writer.id) ?? { writer, first: base, marker: null, committed: false };
      this.#open.set(writer.id, transaction);
    }
    let offset = base;
    for (const { key, value, headers = {} } of records) {
      const record: LogRecord = {
        topic: this.#topic,
        partition: this.#partition,
        offset: BigInt(offset++),
        timestamp,
        key,
        value,
        headers,
      };
      this.#entries.push({ record, transaction });
    }
    this.#changed();
    return base;
  }

  /** The transactions without a marker here. */
  open(): readonly OpenTransaction[] {
    return [...this.#open.values()].map(({ writer: { id, epoch }, first }) => ({
      producerId: id,
      producerEpoch: epoch,
      coordinatorEpoch: 0,
      start: BigInt(first),
    }));
  }

  /** Writes the marker that ends the writer's transaction; also where it has none, as Kafka does. */
  mark(writer: string, committed: boolean): void {
    const transaction = this.#open.get(writer);
    if (transaction) {
      transaction.marker = this.end;
      transaction.committed = committed;
      this.#open.delete(writer);
    }
    this.#entries.push({ record: null, transaction: transaction ?? null });
    this.#changed();
  }

  /** True where a position can be read from: within the log, or at its end. */
  contains(position: bigint): boolean {
    return position >= this.#start && position <= this.end;
  }

  /** Committed records from `position` on. */
  read(position: bigint): Read {
    const end = this.stableEnd;
    let offset = Number(position);
    if (offset >= end) return { records: [], next: null };
    const records: LogRecord[] = [];
    for (; offset < end && records.length < RECORDS_AT_MOST; offset++) {
      const entry = this.#entries[offset - this.#start];
      if (entry?.record && (entry.transaction === null || entry.transaction.committed)) records.push(entry.record);
    }
    return { records, next: BigInt(offset) };
  }

  /** Calls `wake` at the next change, once. Returns what takes it back. */
  onChange(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  /** Deletes the records below `start`, as retention does. */
  deleteBelow(start: number): void {
    this.#entries.splice(0, start - this.#start);
    this.#start = start;
  }

  /** Cuts the log off at `end`. A transaction whose marker is cut off is open again, and hangs. */
  truncate(end: number): void {
    this.#entries.length = Math.max(0, end - this.#start);
    for (const [writer, { first }] of this.#open) if (first >= end) this.#open.delete(writer);
    for (const { transaction } of this.#entries)
      if (transaction !== null && transaction.marker !== null && transaction.marker >= end) {
        transaction.marker = null;
        transaction.committed = false;
        this.#open.set(transaction.writer.id, transaction);
      }
  }

  #changed(): void {
    if (this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}
