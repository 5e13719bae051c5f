import type { TransactionState } from '@pf/event-log';
import { BrokerError } from './broker-error.ts';
import type { PartitionLog } from './partition-log.ts';

/** The offsets of one group that a transaction commits. */
export interface GroupOffset {
  readonly group: string;
  readonly key: string;
  readonly offset: bigint;
  /** Stored beside it. */
  readonly note?: string | null;
  /** The note alone changes. */
  readonly isMoved?: boolean;
  /** Counts the offsets in the order in which they were appended: of two that are committed the later one stays. */
  readonly order?: number;
}

/** One transactional id, as the coordinator knows it. */
interface Writer {
  readonly id: string;
  epoch: number;
  state: 'empty' | 'ongoing' | 'commit prepared' | 'abort prepared';
  /** Of the transaction that is ongoing or prepared. */
  readonly partitions: Set<PartitionLog>;
  offsets: GroupOffset[];
  /** True virtual time at which the transaction began. */
  since: number;
  /** How the last transaction ended: a repeated request has the same response. */
  lastEnd: 'commit' | 'abort' | null;
  /** The last produce request, whose repetition appends nothing. */
  sequence: number;
  bases: readonly number[];
}

export interface TransactionsHost {
  now(): number;
  /** Runs `work` after a time that the seed decides, unless the broker is down then. */
  soon(work: () => void): void;
  /** True where a partition's marker is never written. */
  skips(): boolean;
  /** A chance of `p`, decided by the seed. */
  chance(p: number): boolean;
  commitOffset(offset: GroupOffset): void;
}

/**
 * The transaction coordinator. The end of a transaction is first prepared, which is the client's response, and some
 * milliseconds later its markers are written, which is what readers see.
 */
export class Transactions {
  readonly #host: TransactionsHost;
  readonly #timeoutMs: number;
  readonly #writers = new Map<string, Writer>();
  #appended = 0;

  constructor(host: TransactionsHost, timeoutMs: number) {
    this.#host = host;
    this.#timeoutMs = timeoutMs;
  }

  /** The next epoch of the id, which fences earlier ones. An open transaction is aborted first. */
  begin(id: string): number {
    const writer = this.#writers.get(id) ?? this.#register(id);
    if (writer.state === 'ongoing') {
      writer.epoch++;
      this.#prepare(writer, 'abort');
    }
    if (writer.state !== 'empty') throw new BrokerError('CONCURRENT_TRANSACTIONS');
    writer.lastEnd = null;
    writer.sequence = -1;
    return ++writer.epoch;
  }

  /** The writer's partition becomes part of its transaction. */
  addPartition(id: string, epoch: number, log: PartitionLog): void {
    this.#ongoing(this.#current(id, epoch)).partitions.add(log);
  }

  /** @returns the offsets of the first records; the same for a repeated `sequence` */
  produce(id: string, epoch: number, sequence: number, append: () => readonly number[]): readonly number[] {
    const writer = this.#current(id, epoch);
    if (writer.sequence === sequence) return writer.bases;
    if (writer.state !== 'ongoing') throw new BrokerError('INVALID_TXN_STATE', { retriable: false });
    writer.sequence = sequence;
    return (writer.bases = append());
  }

  addOffset(id: string, epoch: number, offset: GroupOffset): void {
    const writer = this.#ongoing(this.#current(id, epoch));
    // A request that is repeated takes the place of the first.
    writer.offsets = [
      ...writer.offsets.filter(({ group, key }) => group !== offset.group || key !== offset.key),
      { ...offset, order: ++this.#appended },
    ];
  }

  /** Resolves the client's request; the markers follow. */
  end(id: string, epoch: number, how: 'commit' | 'abort'): void {
    const writer = this.#current(id, epoch);
    if (writer.state === 'ongoing') return this.#prepare(writer, how);
    if (writer.state !== 'empty') throw new BrokerError('CONCURRENT_TRANSACTIONS');
    if (writer.lastEnd !== how) throw new BrokerError('INVALID_TXN_STATE', { retriable: false });
  }

  /** Aborts transactions that are open for too long; their writers are fenced. @returns true while any is open */
  expire(): boolean {
    let open = false;
    for (const writer of this.#writers.values()) {
      if (writer.state !== 'ongoing') continue;
      if (this.#host.now() - writer.since < this.#timeoutMs) {
        open = true;
        continue;
      }
      writer.epoch++;
      this.#prepare(writer, 'abort');
    }
    return open;
  }

  /** After a crash: what was prepared is completed. @param lostMarkers the chance that a partition's marker never is */
  recover(lostMarkers: number): void {
    for (const writer of this.#writers.values())
      if (writer.state === 'commit prepared' || writer.state === 'abort prepared')
        this.#host.soon(() => this.#complete(writer, lostMarkers));
  }

  /** As DescribeTransactions says it; null for an unknown id. A producer has its id's name here. */
  describe(id: string): TransactionState | null {
    const writer = this.#writers.get(id);
    return writer ? { state: stateOf(writer), producerId: id, producerEpoch: writer.epoch } : null;
  }

  /** True where a transaction is open or prepared that may move the group's offset. */
  mayMove(group: string, key: string): boolean {
    return [...this.#writers.values()].some(
      ({ state, offsets }) =>
        state !== 'empty' && offsets.some((offset) => offset.group === group && offset.key === key),
    );
  }

  get ids(): readonly string[] {
    return [...this.#writers.keys()];
  }

  /** True where the coordinator has a transaction of this id, open or prepared. */
  isBusy(id: string): boolean {
    return (this.#writers.get(id)?.state ?? 'empty') !== 'empty';
  }

  #register(id: string): Writer {
    const writer: Writer = {
      id,
      epoch: -1,
      state: 'empty',
      partitions: new Set(),
      offsets: [],
      since: 0,
      lastEnd: null,
      sequence: -1,
      bases: [],
    };
    this.#writers.set(id, writer);
    return writer;
  }

  #current(id: string, epoch: number): Writer {
    const writer = this.#writers.get(id);
    if (writer?.epoch !== epoch) throw new BrokerError('PRODUCER_FENCED', { retriable: false });
    return writer;
  }

  #ongoing(writer: Writer): Writer {
    if (writer.state === 'ongoing') return writer;
    // The markers of the last one are still being written.
    if (writer.state !== 'empty') throw new BrokerError('CONCURRENT_TRANSACTIONS');
    writer.state = 'ongoing';
    writer.since = this.#host.now();
    return writer;
  }

  #prepare(writer: Writer, how: 'commit' | 'abort'): void {
    writer.state = how === 'commit' ? 'commit prepared' : 'abort prepared';
    writer.lastEnd = how;
    this.#host.soon(() => this.#complete(writer, 0));
  }

  #complete(writer: Writer, lostMarkers: number): void {
    const committed = writer.state === 'commit prepared';
    if (!committed && writer.state !== 'abort prepared') return;
    for (const log of writer.partitions)
      if (!this.#host.skips() && !this.#host.chance(lostMarkers)) log.mark(writer.id, committed);
    if (committed) for (const offset of writer.offsets) this.#host.commitOffset(offset);
    writer.partitions.clear();
    writer.offsets = [];
    writer.state = 'empty';
  }
}

function stateOf({ state, lastEnd }: Writer): string {
  if (state === 'ongoing') return 'Ongoing';
  if (state === 'commit prepared') return 'PrepareCommit';
  if (state === 'abort prepared') return 'PrepareAbort';
  return lastEnd === null ? 'Empty' : lastEnd === 'commit' ? 'CompleteCommit' : 'CompleteAbort';
}
