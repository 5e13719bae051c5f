/**
 * The log as the services see it. No Kafka type leaves this package.
 * Offsets are bigint; a partition is an index below `partitions`.
 */
export type Topic = 'intent.commands' | 'chain.observations' | 'intent.events' | 'intent.dead';
export type InputTopic = 'intent.commands' | 'chain.observations';

export interface NewRecord {
  readonly partition: number;
  /** The intent's id, so that tools that show keys show what belongs together. */
  readonly key: string;
  readonly value: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LogRecord {
  readonly topic: Topic;
  readonly partition: number;
  readonly offset: bigint;
  /** LogAppendTime of the broker, milliseconds since 1970. */
  readonly timestamp: number;
  readonly key: string | null;
  /** Null for a tombstone, which our writers never make: readers treat it as a message that does not parse. */
  readonly value: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends records, acks=all. Resolves when the broker has them; rejects with LogUnavailableError when it may not. */
export interface Publisher {
  /**
   * Batched by back-pressure: while one request is in flight, further records queue and go together in the next, with
   * at most 512 KiB. There is no timer, so an idle publisher adds no latency.
   */
  publish(topic: Exclude<Topic, 'intent.events'>, record: NewRecord, deadline?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface RecordBatch {
  readonly records: readonly LogRecord[];
  /** The position after this batch, control records included. */
  readonly next: bigint;
}

/** A reader without a consumer group, always read_committed. */
export interface LogReader {
  /**
   * Reads the committed records of a partition from `from` up to the position `end`. It ends, whatever it finds.
   * @throws LogTruncatedError where records are missing, also at the end: the log ends before `end`, for seconds
   * @throws LogUnavailableError
   */
  read(topic: Topic, partition: number, from: bigint, end: bigint, signal?: AbortSignal): AsyncIterable<RecordBatch>;
  /** The first retained offset: what was before it is deleted. */
  startOffset(topic: Topic, partition: number): Promise<bigint>;
  /** The last stable offset: every transaction below it has ended. */
  endOffset(topic: Topic, partition: number): Promise<bigint>;
  /** The same for all partitions of a topic in one request. */
  endOffsets(topic: Topic): Promise<readonly bigint[]>;
  /** The high watermarks of all partitions: below them are the records of open transactions, too. */
  appendedOffsets(topic: Topic): Promise<readonly bigint[]>;
  /**
   * Follows the given partitions from the given positions until the signal aborts.
   * @param minBytes what a broker gathers, for half a second at most, before it responds: for readers that are in no
   *   hurry. Default: whatever there is
   * @throws LogTruncatedError where records are missing
   */
  follow(
    topic: Topic,
    from: ReadonlyMap<number, bigint>,
    signal: AbortSignal,
    minBytes?: number,
  ): AsyncIterable<RecordBatch & { readonly partition: number }>;
  /** The offset that a group has committed; 0 where it has committed none. */
  committed(group: string, topic: Topic, partition: number): Promise<bigint>;
  close(): Promise<void>;
}

/** The result of one batch of input. */
export interface BatchResult<Context> {
  /** Records to append to intent.events, in order. Empty: only the offsets move. */
  readonly append: readonly NewRecord[];
  /**
   * The checkpoint in the snapshot of the projection that was decided on; null if nothing of it was read. The batch is
   * committed only if the owner has projected exactly up to there.
   */
  readonly position: bigint | null;
  /** Handed back to `project` after the commit. */
  readonly context: Context;
}

/** The work of a partition's owner. Calls for one partition never overlap. */
export interface PartitionWork<Context> {
  /** The position in intent.events up to which the partition is projected. */
  checkpoint(partition: number): Promise<bigint>;
  /**
   * Projects records that an earlier owner appended and moves the checkpoint from `from` to `next`, in one database
   * transaction. False: another owner has moved the checkpoint from `from`, and nothing was written.
   */
  catchUp(partition: number, from: bigint, records: readonly LogRecord[], next: bigint): Promise<boolean>;
  /** Called when the partition was acquired, before the first batch: drop what is remembered of it. */
  acquired(partition: number): Promise<void>;
  /** Called when the partition was lost: another process may own it. */
  lost(partition: number): void;
  /** Decides a batch of one topic. Must not throw for a bad message, which becomes a dead letter. */
  decide(partition: number, records: readonly LogRecord[]): Promise<BatchResult<Context>>;
  /**
   * Like catchUp, for the records that this owner has just appended: those of `append` are at `from`, `from` + 1, …,
   * and `next` is after the commit's marker. With an empty `append` only offsets were committed, and `from` is `next`.
   */
  project(partition: number, from: bigint, next: bigint, context: Context): Promise<boolean>;
  /** Called after the projection, to publish replies and notices. Must not throw; the owner does not wait for it. */
  published(partition: number, context: Context): void;
}

export interface PartitionOwner<Context> {
  /** Joins the group; resolves when joined. */
  start(): Promise<void>;
  /** The partitions that are owned now. */
  owned(): readonly number[];
  /**
   * Queues the owner's own work (expiry) in the partition, after the input `after` has been consumed up to that offset.
   * Resolves when projected; resolves without having run when the partition is lost meanwhile; and resolves when `work`
   * fails, which loses the partition like any other error. An empty batch is not projected.
   */
  run(
    partition: number,
    after: { readonly topic: InputTopic; readonly offset: bigint } | null,
    work: () => Promise<BatchResult<Context>>,
  ): Promise<void>;
  /**
   * Compares what the owner has projected with the projection and with the end of the log, behind the work in progress.
   * A partition in which they differ is lost like by any error, and reacquired.
   */
  check(partition: number): Promise<void>;
  /** Milliseconds since the group's coordinator last responded, for the liveness probe. A join may take 15 s. */
  idleMs(): number;
  /** Stops fetching, finishes the batches in progress, and leaves the group. */
  stop(): Promise<void>;
}

/** A consumer group whose offsets are stored with the consumer's own rows (webhooks). */
export interface GroupWork {
  /** The stored position of each partition that was just assigned. */
  positions(partitions: readonly number[]): Promise<ReadonlyMap<number, bigint>>;
  /** Handles one batch of a partition. False: the stored position was not `from`; positions() is asked again. */
  handle(partition: number, from: bigint, batch: RecordBatch): Promise<boolean>;
}

export interface GroupConsumer {
  start(): Promise<void>;
  idleMs(): number;
  stop(): Promise<void>;
}

/** Appends to a partition of intent.events in its owner's place, to restore what another log had. */
export interface LogAppender {
  /**
   * In one transaction. After a failure close it, open another, and read the log to learn whether this succeeded.
   * @throws when refused, without a response, or when an owner has taken the partition since
   */
  append(records: readonly Omit<NewRecord, 'partition'>[]): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** The log as its readers and writers use it. */
export interface LogClients {
  readonly partitions: number;
  publisher(): Promise<Publisher>;
  reader(name: string): Promise<LogReader>;
  partitionOwner<Context>(work: PartitionWork<Context>, onCrash: (error: Error) => void): PartitionOwner<Context>;
  group(name: string, topic: Topic, work: GroupWork, onCrash: (error: Error) => void): GroupConsumer;
  /** Takes the partition from its owner. */
  appender(partition: number): Promise<LogAppender>;
}

/** The brokers' clocks, as they stamp records. */
export interface BrokerClock {
  /**
   * The time at which a broker appended a record just now, in ms since 1970; each call asks another partition's leader.
   * Rejects if no broker appends it.
   */
  read(): Promise<number>;
  close(): Promise<void>;
}

/** The log of a cluster, with its topics. */
export interface EventLog extends LogClients {
  /** Connects with its first reading. */
  brokerClock(): BrokerClock;
  /** Creates missing topics; safe to repeat. */
  createTopics(): Promise<void>;
  /** Deletes the topics and their records. For tests and throw-away stacks: throws where the names have no prefix. */
  deleteTopics(): Promise<void>;
  /** @throws Error with the differences between the cluster's topics and the options */
  verifyTopics(): Promise<void>;
  /** True when a broker responds within `timeoutMs`. */
  ready(timeoutMs: number): Promise<boolean>;
}

/** The broker did not respond in time or refused: it is unknown whether it has the record. */
export class LogUnavailableError extends Error {
  override readonly name = 'LogUnavailableError';
}

/**
 * The log lacks records that it had: it was truncated or deleted there, or a position is of another log. A retry does
 * not help, and no position may be moved back for it.
 */
export class LogTruncatedError extends Error {
  override readonly name: string = 'LogTruncatedError';
}

/** The requested position is not in the log. */
export class PositionOutOfRangeError extends LogTruncatedError {
  override readonly name = 'PositionOutOfRangeError';
  readonly topic: Topic;
  readonly partition: number;
  readonly position: bigint;

  constructor(topic: Topic, partition: number, position: bigint, options?: ErrorOptions) {
    super(`Position ${position} is not within the range of ${topic}-${partition}.`, options);
    this.topic = topic;
    this.partition = partition;
    this.position = position;
  }
}

/** Receives log lines; a pino logger fits. */
export interface LogSink {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const SILENT: LogSink = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
