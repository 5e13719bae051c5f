/**
 * The log as the services see it. No Kafka type leaves this package.
 * Offsets are bigint; a partition is an index below `partitions`.
 */
export type Topic = 'intent.commands' | 'chain.observations' | 'intent.events' | 'intent.dead';
export type InputTopic = 'intent.commands' | 'chain.observations';

export interface NewRecord {
  readonly partition: number;
  /** The intent's id, so that tools which look at keys see what belongs together. */
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
  /** Null for a tombstone, which none of our writers makes: a reader treats it as a message that does not parse. */
  readonly value: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends records, acks=all. Resolves when the broker has them; rejects with LogUnavailableError when it may not. */
export interface Publisher {
  /**
   * Batched by back-pressure: while one request is in flight the next records queue and go together, at most
   * 512 KiB a request. No timer, so an idle publisher adds no latency.
   */
  publish(topic: Exclude<Topic, 'intent.events'>, record: NewRecord, deadline?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface RecordBatch {
  readonly records: readonly LogRecord[];
  /** The position after this batch: past control records too. */
  readonly next: bigint;
}

/** A reader without a consumer group, always read_committed. */
export interface LogReader {
  /** Committed records of a partition from `from` until position >= `end`; ends there. */
  read(topic: Topic, partition: number, from: bigint, end: bigint, signal?: AbortSignal): AsyncIterable<RecordBatch>;
  /** The last stable offset: everything below is decided. */
  endOffset(topic: Topic, partition: number): Promise<bigint>;
  /** The same for all partitions of a topic in one request. */
  endOffsets(topic: Topic): Promise<readonly bigint[]>;
  /** Follows all the given partitions for ever, from the given positions, until the signal aborts. */
  follow(
    topic: Topic,
    from: ReadonlyMap<number, bigint>,
    signal: AbortSignal,
  ): AsyncIterable<RecordBatch & { readonly partition: number }>;
  /** The offset a group has committed; 0 where it has committed none. */
  committed(group: string, topic: Topic, partition: number): Promise<bigint>;
  close(): Promise<void>;
}

/** What one slice of input led to. */
export interface BatchResult<Context> {
  /** Records to append to intent.events, in order. Empty: only the offsets move. */
  readonly append: readonly NewRecord[];
  /** Handed back to `project` after the commit. */
  readonly context: Context;
}

/** The business of a partition's owner. Everything of one partition is called strictly one after another. */
export interface PartitionWork<Context> {
  /** The position in intent.events up to which the partition is projected. */
  checkpoint(partition: number): Promise<bigint>;
  /**
   * Projects records that a former owner appended, and moves the checkpoint from `from` to `next`, in one database
   * transaction. False: the checkpoint was not at `from` (another owner moved it), nothing was written.
   */
  catchUp(partition: number, from: bigint, records: readonly LogRecord[], next: bigint): Promise<boolean>;
  /** Called when the partition is owned, before the first slice: whatever was remembered of it is stale. */
  acquired(partition: number): Promise<void>;
  /** Called when the partition is lost: by now another may own it. */
  lost(partition: number): void;
  /** Decides a slice of one topic. Must not throw for a bad message: those are its own business (dead letters). */
  decide(partition: number, records: readonly LogRecord[]): Promise<BatchResult<Context>>;
  /**
   * As catchUp, for what this owner has just appended: the records of `append` lie at `from`, `from` + 1 and so on, and
   * `next` behind the commit's marker. With an empty `append` only offsets were committed, and `from` is `next`.
   */
  project(partition: number, from: bigint, next: bigint, context: Context): Promise<boolean>;
  /** After the projection: replies and notices. Must not throw; nothing waits for it. */
  published(partition: number, context: Context): void;
}

export interface PartitionOwner<Context> {
  /** Joins the group; resolves when joined. */
  start(): Promise<void>;
  /** Partitions in state `owning` now. */
  owned(): readonly number[];
  /**
   * Puts work of the owner's own (expiry) into the partition's chain, once the input `after` has been consumed up to
   * that offset. Resolves when projected; resolves too, without having run, when the partition is lost meanwhile, and
   * when `work` fails, which loses the partition like any other error. An empty slice ends there: nothing is projected.
   */
  run(
    partition: number,
    after: { readonly topic: InputTopic; readonly offset: bigint } | null,
    work: () => Promise<BatchResult<Context>>,
  ): Promise<void>;
  /** Milliseconds since the group's coordinator last answered: feeds the liveness probe. A join may take 15 s. */
  idleMs(): number;
  /** Stop taking, finish what is begun, leave the group. */
  stop(): Promise<void>;
}

/** A consumer group whose offsets lie with the consumer's own rows (webhooks): the log gives partitions, the consumer says where it stands. */
export interface GroupWork {
  /** Where to go on, for each partition just assigned. */
  positions(partitions: readonly number[]): Promise<ReadonlyMap<number, bigint>>;
  /** One batch of one partition, in order. False: the stored offset was not at `from`; the partition is taken up anew from positions(). */
  handle(partition: number, from: bigint, batch: RecordBatch): Promise<boolean>;
}

export interface GroupConsumer {
  start(): Promise<void>;
  idleMs(): number;
  stop(): Promise<void>;
}

export interface EventLog {
  readonly partitions: number;
  publisher(): Promise<Publisher>;
  reader(name: string): Promise<LogReader>;
  partitionOwner<Context>(work: PartitionWork<Context>, onCrash: (error: Error) => void): PartitionOwner<Context>;
  group(name: string, topic: Topic, work: GroupWork, onCrash: (error: Error) => void): GroupConsumer;
  /** Creates what is missing, safe to repeat. */
  createTopics(): Promise<void>;
  /** Deletes the topics with all that is in them. For tests and throw-away stacks: refused where the names have no prefix. */
  deleteTopics(): Promise<void>;
  /** Throws, naming the difference, where the cluster's topics are not as `partitions` says. */
  verifyTopics(): Promise<void>;
  /** True when a broker answers within the time given. */
  ready(timeoutMs: number): Promise<boolean>;
}

/** The broker did not answer in time or refused: it is unknown whether the record was taken. */
export class LogUnavailableError extends Error {
  override readonly name = 'LogUnavailableError';
}
