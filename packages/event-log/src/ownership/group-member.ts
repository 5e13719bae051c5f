import { BackOff } from '@pf/runtime';
import type { Consumer, EachBatchPayload, Kafka, PartitionAssigner } from 'kafkajs';
import { asError } from '../errors.ts';
import { LogUnavailableError } from '../port.ts';

/** The other members learn of a leave or join at their next heartbeat. */
const HEARTBEAT_MS = 300;
/** How long a rebalance waits for a member that is still processing a batch. */
const REBALANCE_MS = 15_000;
/** How long the broker holds an idle request; a consumer whose partitions are all paused polls again after it. */
const FETCH_WAIT_MS = 50;
/** Bytes of one partition per fetch: a batch makes the other partitions of this process wait. */
const PARTITION_FETCH_BYTES = 256 * 1024;
/** While a cluster starts, coordinators are missing or still load their groups. */
const START_PATIENCE_MS = 30_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

/** The callbacks of a group's member. They must not throw. */
export interface MemberWork {
  /** During the join, so that pausing and seeking take effect before the first fetch. */
  joined(partitions: readonly number[]): void;
  /** After each heartbeat that the group accepted. */
  heartbeat(): void;
  /** One batch of one partition. Batches of several partitions run concurrently and all end before the next fetch. */
  batch(payload: EachBatchPayload): Promise<void>;
}

export interface MemberOptions {
  readonly createClient: () => Kafka;
  readonly group: string;
  readonly topics: readonly string[];
  readonly partitions: number;
  readonly sessionTimeoutMs: number;
  readonly assigner: PartitionAssigner;
  readonly onCrash: (error: Error) => void;
}

/**
 * A member of a consumer group that never commits by itself. When the library's loop ends, it reports that once and
 * does not restart, because a restart inside the process could repeat forever.
 */
export class GroupMember {
  readonly #options: MemberOptions;
  readonly #work: MemberWork;
  readonly #stopping = new AbortController();
  #consumer: Consumer | null = null;
  #joining: Promise<void> = Promise.resolve();
  #lastSign = performance.now();

  constructor(options: MemberOptions, work: MemberWork) {
    this.#options = options;
    this.#work = work;
  }

  /** Resolves when joined. @throws LogUnavailableError after half a minute without success */
  async start(): Promise<void> {
    const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    const giveUp = performance.now() + START_PATIENCE_MS;
    while (!this.#stopping.signal.aborted) {
      this.#joining = this.#join();
      try {
        return await this.#joining;
      } catch (error) {
        if (performance.now() > giveUp)
          throw new LogUnavailableError(
            `The group ${this.#options.group} could not be joined: ${asError(error).message}`,
            { cause: error },
          );
        await backOff.wait(this.#stopping.signal);
      }
    }
  }

  /** Milliseconds since the group's coordinator last responded. A join may take 15 s. */
  idleMs(): number {
    return performance.now() - this.#lastSign;
  }

  pause(topic: string, partition: number): void {
    this.#steer((consumer) => consumer.pause([{ topic, partitions: [partition] }]));
  }

  /** Continues from `offset` with the next fetch. */
  resume(topic: string, partition: number, offset: bigint): void {
    this.#steer((consumer) => {
      consumer.seek({ topic, partition, offset: String(offset) });
      consumer.resume([{ topic, partitions: [partition] }]);
    });
  }

  /** Leaves the group after the batches in progress. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    // A member disconnected during its first join does not leave, and its partitions wait for the session's time-out.
    await this.#joining.catch(() => undefined);
    const consumer = this.#consumer;
    this.#consumer = null;
    await consumer?.disconnect();
  }

  #steer(how: (consumer: Consumer) => void): void {
    try {
      if (this.#consumer) how(this.#consumer);
    } catch {
      // The library throws after it has stopped: it fetches no more, and a new member starts from the beginning.
    }
  }

  async #join(): Promise<void> {
    const { createClient, group, topics, partitions, sessionTimeoutMs, assigner, onCrash } = this.#options;
    const consumer = createClient().consumer({
      groupId: group,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: HEARTBEAT_MS,
      rebalanceTimeout: REBALANCE_MS,
      minBytes: 1,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      maxBytesPerPartition: PARTITION_FETCH_BYTES,
      allowAutoTopicCreation: false,
      partitionAssigners: [assigner],
      retry: { restartOnFailure: async () => false },
    });
    let joined = false;
    const crashes: Error[] = [];
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      this.#lastSign = performance.now();
      this.#work.joined(topics[0] === undefined ? [] : (payload.memberAssignment[topics[0]] ?? []));
    });
    consumer.on(consumer.events.HEARTBEAT, () => {
      this.#lastSign = performance.now();
      this.#work.heartbeat();
    });
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      crashes.push(payload.error);
      if (joined) onCrash(payload.error);
    });
    this.#consumer = consumer;
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [...topics], fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: partitions * topics.length,
        eachBatch: (payload) => this.#work.batch(payload),
      });
      // The library reports a failed join as a crash, and still resolves.
      const [crash] = crashes;
      if (crash) throw crash;
      joined = true;
    } catch (error) {
      // A crashed consumer may fail to disconnect; the cause of the crash is the error to report.
      await consumer.disconnect().catch(() => undefined);
      throw error;
    }
  }
}
