import type { InputTopic, LogRecord, NewRecord, Topic } from './port.ts';

/**
 * What the log needs of a broker with Kafka's semantics: single requests, transactions and groups. Everything above it
 * is the same on real Kafka (src/kafka) and on the simulated one.
 *
 * A broker's refusal has the protocol's name of the error as `type`, and `retriable`.
 */
export interface LogTransport {
  /** Partitions of every topic. */
  readonly partitions: number;
  /**
   * Takes the partition's transactional id, which fences the earlier writer and aborts its open transaction. Then no
   * transaction is open in the partition.
   *
   * @param projected the position up to which the partition is projected, for the outcome of one that hangs; 0 without
   */
  openWriter(partition: number, projected?: () => Promise<bigint>): Promise<PartitionWriter>;
  /** Opens connections for single requests. @param name shown in the broker's logs */
  connect(name: string): Promise<LogConnection>;
  member(options: MemberOptions, work: MemberWork): GroupMember;
  /** Connects a producer. */
  openProducer(): Promise<LogProducer>;
}

/** The input that a transaction consumes: all records of the topic's partition below `offset`. */
export interface Consumed {
  readonly topic: InputTopic;
  readonly offset: bigint;
}

/**
 * The only writer of a partition of intent.events. After any error close it, open another, and read the log to learn
 * whether the commit succeeded.
 */
export interface PartitionWriter {
  /**
   * True where the partition ends exactly at the position: every transaction below it has ended, and nothing was
   * appended behind it or cut off before it.
   */
  endsAt(position: bigint): Promise<boolean>;
  /**
   * Appends the records and moves the consumed offset, both or neither.
   *
   * @param at the offset that the first record must get, which the others follow without a gap
   * @throws LogTruncatedError where it gets a lower one; then, and where it gets a higher one, nothing is committed
   * @throws when refused, fenced or without a response; the transaction may still have been committed
   */
  commit(append: readonly NewRecord[], consumed: Consumed | null, at: bigint): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** The response for one partition: its committed records, and the position after all of them. */
export interface Fetched {
  readonly partition: number;
  readonly records: readonly LogRecord[];
  /** The offset with which the response begins, of a record or a marker. */
  readonly from: bigint;
  /** Null: the partition had nothing new, not even a marker. */
  readonly next: bigint | null;
}

/**
 * The first retained offset; the last stable one, below which every transaction has ended; or the high watermark, below
 * which are the records of open transactions, too.
 */
export type OffsetOf = 'start' | 'end' | 'appended';

/** Single requests to the brokers, read_committed. Any failure is thrown as it is: close this and connect again. */
export interface LogConnection {
  /** Partitions by their leader. */
  leaders(topic: Topic, partitions: readonly number[]): Promise<ReadonlyMap<string, readonly number[]>>;
  /**
   * One request to one broker, which responds as soon as the partitions have so many bytes of records, or after
   * `maxWaitMs`.
   * @throws PositionOutOfRangeError
   */
  fetch(
    nodeId: string,
    topic: Topic,
    positions: ReadonlyMap<number, bigint>,
    maxWaitMs: number,
    minBytes: number,
  ): Promise<readonly Fetched[]>;
  offsets(topic: Topic, partitions: readonly number[], which: OffsetOf): Promise<ReadonlyMap<number, bigint>>;
  /** The offset that a group has committed; null where it has committed none. */
  committed(group: string, topic: Topic, partition: number): Promise<bigint | null>;
  /** Requests the leaders again. */
  refresh(): Promise<void>;
  /** Waits for requests in flight, at most as long as one may take. */
  close(): Promise<void>;
}

/** The records of one partition that a group's member has fetched. */
export interface GroupBatch {
  readonly topic: Topic;
  readonly partition: number;
  readonly records: readonly LogRecord[];
  /** The offset with which it begins, of a record or a marker. */
  readonly from: bigint;
  /** The position after the batch, control records included. */
  readonly next: bigint;
  /** Marks everything up to this offset as done; after the last record's, the control records behind it too. */
  readonly resolve: (offset: bigint) => void;
  /** True when the member was moved to another offset since the fetch. */
  readonly isStale: () => boolean;
  /** Sends a heartbeat. Rejects when the member must join the group again. */
  readonly heartbeat: () => Promise<void>;
}

/** The callbacks of a group's member. They must not throw. */
export interface MemberWork {
  /** During the join, so that pausing and seeking take effect before the first fetch. */
  joined(partitions: readonly number[]): void;
  /** After each heartbeat that the group accepted. */
  heartbeat(): void;
  /** One batch of one partition. Batches of several partitions run concurrently and all end before the next fetch. */
  batch(batch: GroupBatch): Promise<void>;
}

export interface MemberOptions {
  /** Shown in the broker's logs. */
  readonly name: string;
  readonly group: string;
  readonly topics: readonly Topic[];
  /** The partitions that the member has now and keeps if possible. */
  readonly claims: () => readonly number[];
  /** The member's loop has ended with an error; it does not restart. */
  readonly onCrash: (error: Error) => void;
}

/** A member of a consumer group that never commits by itself. It gets the same partitions of all its topics. */
export interface GroupMember {
  /** Resolves when joined. @throws LogUnavailableError after half a minute without success */
  start(): Promise<void>;
  /** Milliseconds since the group's coordinator last responded. A join may take 15 s. */
  idleMs(): number;
  pause(topic: Topic, partition: number): void;
  /** Continues from `offset` with the next fetch. */
  resume(topic: Topic, partition: number, offset: bigint): void;
  /** Leaves the group after the batches in progress. */
  stop(): Promise<void>;
}

/** A record and the topic that it is for. */
export interface Addressed {
  readonly topic: Topic;
  readonly record: NewRecord;
}

/** Sends without idempotence: after a lost response the same records may be sent, and be there, twice. */
export interface LogProducer {
  /** One request. Resolves when the brokers have all records, in order, with acks=all. */
  send(records: readonly Addressed[]): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}
