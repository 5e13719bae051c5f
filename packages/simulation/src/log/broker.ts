import {
  type LogRecord,
  type NewRecord,
  type OffsetOf,
  type OpenTransaction,
  PositionOutOfRangeError,
  type Topic,
  type TransactionState,
} from '@pf/event-log';
import type { Kernel } from '@pf/simulation/kernel';
import { BrokerError } from './broker-error.ts';
import { Group, type Membership } from './group.ts';
import { PartitionLog, type Read } from './partition-log.ts';
import { type GroupOffset, Transactions } from './transactions.ts';

export interface BrokerOptions {
  readonly partitions: number;
  /** The server's name in the kernel. Default: kafka. */
  readonly name?: string;
  readonly sessionTimeoutMs?: number;
  readonly rebalanceTimeoutMs?: number;
  readonly transactionTimeoutMs?: number;
}

/** What may go wrong in the broker itself. The world may change it at any time. */
export interface BrokerFaults {
  /** The chance that a transaction which was prepared at a crash never gets its marker in a partition: it hangs. */
  lostMarkers: number;
  /** The same for any transaction: the partition has no leader when its marker is due, and no connection is lost. */
  skippedMarkers: number;
  /** Replicas are missing: nothing is appended by a client, and everything can be read. */
  tooFewReplicas: boolean;
  /** Added to true time in the append time of records, in milliseconds. */
  clockSkewMs: number;
  /** How long the coordinators load after a start, in milliseconds. */
  loadingMs: readonly [least: number, most: number];
  /** The time from the end of a transaction until its markers are written, in milliseconds. */
  markerMs: readonly [least: number, most: number];
}

export interface FetchPosition {
  readonly topic: Topic;
  readonly partition: number;
  readonly position: bigint;
}

/** The records of one partition, from the requested position on. */
export type Fetched = Read & { readonly topic: Topic; readonly partition: number; readonly from: bigint };

const TOPICS: readonly Topic[] = ['intent.commands', 'chain.observations', 'intent.events', 'intent.dead'];
/** How often the coordinator looks for transactions that are open for too long, as Kafka does. */
const EXPIRY_MS = 10_000;

/**
 * A Kafka broker with our topics: its state, and what requests do to it, each at once. Requests reach it through
 * SimulatedTransport. The log, the groups and the transactions survive a crash; requests in flight do not.
 */
export class SimulatedBroker {
  readonly name: string;
  readonly partitions: number;
  readonly faults: BrokerFaults = {
    lostMarkers: 0,
    skippedMarkers: 0,
    tooFewReplicas: false,
    clockSkewMs: 0,
    loadingMs: [20, 500],
    markerMs: [0, 18],
  };
  /** Called when a transaction has ended at its coordinator, before its markers are written. */
  onEnd: (() => void) | null = null;
  /** Called when a transaction moves an offset of a group from `before`. */
  onOffset: ((moved: GroupOffset, before: bigint) => void) | null = null;
  readonly #kernel: Kernel;
  readonly #logs: ReadonlyMap<Topic, readonly PartitionLog[]>;
  readonly #groups = new Map<string, Group>();
  readonly #transactions: Transactions;
  readonly #options: BrokerOptions;
  /** Until then the coordinators refuse. */
  #loadedAt = 0;
  #expiring = false;
  #crashes = 0;
  #names = 0;

  constructor(kernel: Kernel, options: BrokerOptions) {
    this.#kernel = kernel;
    this.#options = options;
    this.name = options.name ?? 'kafka';
    this.partitions = options.partitions;
    this.#logs = new Map(
      TOPICS.map((topic) => [
        topic,
        Array.from({ length: options.partitions }, (_, partition) => new PartitionLog(topic, partition)),
      ]),
    );
    this.#transactions = new Transactions(
      {
        now: () => kernel.now(),
        soon: (work) => {
          const crashes = this.#crashes;
          kernel.schedule(kernel.random.between(...this.faults.markerMs), () => {
            // After a crash recover() does it.
            if (crashes === this.#crashes) work();
          });
        },
        skips: () => this.#chance(this.faults.skippedMarkers),
        chance: (p) => this.#chance(p),
        commitOffset: (moved) => {
          const { offsets, notes, orders, consumed } = this.group(moved.group);
          if (moved.isMoved !== false) {
            this.onOffset?.(moved, consumed.get(moved.key) ?? 0n);
            consumed.set(moved.key, moved.offset);
          }
          const order = moved.order ?? 0;
          if (order < (orders.get(moved.key) ?? 0)) return;
          orders.set(moved.key, order);
          offsets.set(moved.key, moved.offset);
          notes.set(moved.key, moved.note ?? null);
        },
      },
      options.transactionTimeoutMs ?? 15_000,
    );
  }

  // -- faults -------------------------------------------------------------------------------------------------------

  /** kill -9: whether requests in flight were served is unknown. */
  crash(): void {
    this.#crashes++;
    this.#kernel.shutDown(this.name);
  }

  restart(): void {
    if (this.#kernel.isUp(this.name)) return;
    this.#kernel.startUp(this.name);
    this.#loadedAt = this.#kernel.now() + this.#kernel.random.between(...this.faults.loadingMs);
    for (const group of this.#groups.values()) group.reload();
    const crashes = this.#crashes;
    this.#kernel.schedule(this.#loadedAt - this.#kernel.now(), () => {
      if (crashes === this.#crashes) this.#transactions.recover(this.faults.lostMarkers);
    });
  }

  /** An unclean election: the partition's last records are gone, acknowledged or not. */
  truncate(topic: Topic, partition: number, end: bigint): void {
    this.#kernel.note(this.name, `${topic}-${partition} is truncated to ${end}`);
    this.log(topic, partition).truncate(Number(end));
  }

  /** Retention: the partition's first records are gone. */
  deleteBelow(topic: Topic, partition: number, start: bigint): void {
    this.log(topic, partition).deleteBelow(Number(start));
  }

  /** What `kafka-consumer-groups --reset-offsets` does. */
  resetOffset(group: string, key: string, offset: bigint): void {
    const { offsets, consumed } = this.group(group);
    offsets.set(key, offset);
    consumed.set(key, offset);
  }

  /** The committed offsets of a group are gone, as after its topic was truncated. */
  forgetOffsets(group: string): void {
    this.#kernel.note(this.name, `the offsets of group ${group} are lost`);
    this.group(group).offsets.clear();
    this.group(group).notes.clear();
    this.group(group).consumed.clear();
  }

  // -- what checks read, at once ------------------------------------------------------------------------------------

  /** Every committed record of a partition. */
  committedRecords(topic: Topic, partition: number): readonly LogRecord[] {
    const log = this.log(topic, partition);
    const records: LogRecord[] = [];
    for (let position: bigint | null = BigInt(log.start); position !== null;) {
      const read: Read = log.read(position);
      records.push(...read.records);
      position = read.next;
    }
    return records;
  }

  log(topic: Topic, partition: number): PartitionLog {
    const log = this.#logs.get(topic)?.[partition];
    if (!log) throw new BrokerError('UNKNOWN_TOPIC_OR_PARTITION');
    return log;
  }

  group(name: string): Group {
    const known = this.#groups.get(name);
    if (known) return known;
    const { partitions, sessionTimeoutMs = 6_000, rebalanceTimeoutMs = 15_000 } = this.#options;
    const group = new Group(
      {
        now: () => this.#kernel.now(),
        schedule: (ms, work) =>
          void this.#kernel.schedule(ms, () => {
            // While it is down no session ends; reload() begins them again.
            if (this.#kernel.isUp(this.name)) work();
            else this.#kernel.schedule(ms, work);
          }),
      },
      { partitions, sessionTimeoutMs, rebalanceTimeoutMs },
    );
    this.#groups.set(name, group);
    return group;
  }

  // -- requests -----------------------------------------------------------------------------------------------------

  /** Appends records outside of transactions; all records of a topic and partition in their order. */
  produce(records: readonly { readonly topic: Topic; readonly record: NewRecord }[]): void {
    this.#requireReplicas();
    const timestamp = this.time();
    for (const { topic, record } of records) this.log(topic, record.partition).append([record], timestamp, null);
  }

  /** Responds as soon as a partition has something, or after `maxWaitMs`. */
  fetch(positions: readonly FetchPosition[], maxWaitMs: number): readonly Fetched[] | Promise<readonly Fetched[]> {
    const read = (): readonly Fetched[] =>
      positions.flatMap(({ topic, partition, position }) => {
        const log = this.log(topic, partition);
        if (!log.contains(position)) throw new PositionOutOfRangeError(topic, partition, position);
        const found = log.read(position);
        return found.next === null ? [] : [{ topic, partition, from: position, ...found }];
      });
    const found = read();
    if (found.length > 0 || maxWaitMs === 0) return found;
    return new Promise((resolve, reject) => {
      let undo: (() => void)[] = [];
      let over = false;
      const answer = (fetched: readonly Fetched[]): void => {
        over = true;
        timer.canceled = true;
        for (const step of undo) step();
        resolve(fetched);
      };
      const look = (): void => {
        if (over) return;
        try {
          const now = read();
          if (now.length > 0) return answer(now);
        } catch (error) {
          over = true;
          return reject(error instanceof Error ? error : new Error(String(error)));
        }
        wait();
      };
      const wait = (): void => {
        for (const step of undo) step();
        undo = positions.map(({ topic, partition }) => this.log(topic, partition).onChange(look));
      };
      const timer = this.#kernel.schedule(maxWaitMs, () => answer([]));
      wait();
    });
  }

  offset(topic: Topic, partition: number, which: OffsetOf): bigint {
    const log = this.log(topic, partition);
    return BigInt({ start: log.start, end: log.stableEnd, appended: log.end }[which]);
  }

  committed(group: string, topic: Topic, partition: number): bigint | null {
    this.#requireLoaded();
    return this.group(group).offsets.get(offsetKey(topic, partition)) ?? null;
  }

  /** The same, and the note beside it; with `stable`, null while a transaction may change it. */
  noted(
    group: string,
    topic: Topic,
    partition: number,
    stable: boolean,
  ): { readonly offset: bigint | null; readonly to: string | null } | null {
    this.#requireLoaded();
    const key = offsetKey(topic, partition);
    if (stable && this.#transactions.mayMove(group, key)) return null;
    const { offsets, notes } = this.group(group);
    return { offset: offsets.get(key) ?? null, to: notes.get(key) ?? null };
  }

  /** For a transactional id that no other process has. */
  newName(): string {
    return String(++this.#names);
  }

  /** Every transactional id that was ever taken. */
  transactionalIds(): readonly string[] {
    this.#requireLoaded();
    return this.#transactions.ids;
  }

  join(group: string, memberId: string | null, claims: readonly number[]): Promise<Membership> {
    this.#requireLoaded();
    return this.group(group).join(memberId, claims);
  }

  heartbeat(group: string, memberId: string, generation: number): void {
    this.#requireLoaded();
    this.group(group).heartbeat(memberId, generation);
  }

  leave(group: string, memberId: string): void {
    this.group(group).leave(memberId);
  }

  /** What the coordinator of a transactional id knows of it. */
  transaction(id: string): TransactionState | null {
    this.#requireLoaded();
    return this.#transactions.describe(id);
  }

  /** The transactions that have no marker in the partition's events. */
  openTransactions(partition: number): readonly OpenTransaction[] {
    return this.log('intent.events', partition).open();
  }

  /** WriteTxnMarkers: the coordinator is not asked. */
  writeMarker(partition: number, producerId: string, committed: boolean): void {
    this.log('intent.events', partition).mark(producerId, committed);
  }

  /** How often it has started: connections from before are lost. */
  get starts(): number {
    return this.#crashes;
  }

  /** @returns the epoch, which fences the earlier writers of the id */
  beginWriter(id: string): number {
    this.#requireLoaded();
    return this.#transactions.begin(id);
  }

  addPartition(id: string, epoch: number, partition: number): void {
    this.#requireLoaded();
    this.#transactions.addPartition(id, epoch, this.log('intent.events', partition));
    if (this.#expiring) return;
    this.#expiring = true;
    this.#kernel.schedule(EXPIRY_MS, () => this.#expire());
  }

  append(id: string, epoch: number, sequence: number, partition: number, records: readonly NewRecord[]): bigint {
    const [base] = this.appendAll(id, epoch, sequence, [{ partition, records }]);
    return base ?? -1n;
  }

  /** @param sequence counts the writer's requests, so that a repeated one appends nothing */
  appendAll(
    id: string,
    epoch: number,
    sequence: number,
    parts: readonly { readonly partition: number; readonly records: readonly NewRecord[] }[],
  ): readonly bigint[] {
    this.#requireReplicas();
    const append = (): readonly number[] =>
      parts.map(({ partition, records }) =>
        this.log('intent.events', partition).append(records, this.time(), { id, epoch }),
      );
    return this.#transactions.produce(id, epoch, sequence, append).map(BigInt);
  }

  addOffset(id: string, epoch: number, offset: GroupOffset): void {
    this.#requireLoaded();
    this.#transactions.addOffset(id, epoch, offset);
  }

  endTransaction(id: string, epoch: number, how: 'commit' | 'abort'): void {
    this.#requireLoaded();
    this.#transactions.end(id, epoch, how);
    this.onEnd?.();
  }

  /** True where the coordinator has a transaction of this id, open or prepared. */
  isBusy(id: string): boolean {
    return this.#transactions.isBusy(id);
  }

  /** What the broker's clock shows, in ms since 1970. */
  time(): number {
    return Math.floor(this.#kernel.now() + this.faults.clockSkewMs);
  }

  #chance(p: number): boolean {
    return p > 0 && this.#kernel.random.chance(p);
  }

  #requireLoaded(): void {
    if (this.#kernel.now() < this.#loadedAt) throw new BrokerError('COORDINATOR_LOAD_IN_PROGRESS');
  }

  /** With acks=all and min.insync.replicas. */
  #requireReplicas(): void {
    if (this.faults.tooFewReplicas) throw new BrokerError('NOT_ENOUGH_REPLICAS');
  }

  #expire(): void {
    this.#expiring = this.#kernel.isUp(this.name) ? this.#transactions.expire() : true;
    if (this.#expiring) this.#kernel.schedule(EXPIRY_MS, () => this.#expire());
  }
}

export const offsetKey = (topic: Topic, partition: number): string => `${topic}/${partition}`;
