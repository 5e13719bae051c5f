import { BackOff } from '@pf/runtime';
import type { Consumer, EachBatchPayload, Kafka, PartitionAssigner } from 'kafkajs';
import { asError } from '../errors.ts';
import { LogUnavailableError } from '../port.ts';

/** A graceful leave or join is noticed by the others at their next heartbeat. */
const HEARTBEAT_MS = 300;
/** How long the others wait for a member that is in the middle of something when the group changes. */
const REBALANCE_MS = 15_000;
/** An idle request is held by the broker so long; a consumer whose partitions are all paused looks again after it. */
const FETCH_WAIT_MS = 50;
/** Of one partition of one topic at a time: a batch keeps the others of this process waiting. */
const PARTITION_FETCH_BYTES = 256 * 1024;
/** While a cluster comes up, coordinators are not there yet or load their groups. */
const START_PATIENCE_MS = 30_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

/** What a member of a group does with its partitions. Nothing here may throw. */
export interface MemberWork {
  /** Within the join, so that pausing and seeking here take effect before anything is fetched. */
  joined(partitions: readonly number[]): void;
  /** After each sign that the group still counts on this member. */
  heartbeat(): void;
  /** One batch of one partition; several partitions' batches run at once, and all end before the next fetch. */
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
 * A member of a consumer group that never commits by itself. When the library's loop ends, this says so once: it does
 * not restart, because a restart from inside can go round for ever.
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
            `The group ${this.#options.group} cannot be joined: ${asError(error).message}`,
            { cause: error },
          );
        await backOff.wait(this.#stopping.signal);
      }
    }
  }

  /** Milliseconds since the group's coordinator has last answered. Grows to the session time-out and beyond when stuck; a join may take 15 s. */
  idleMs(): number {
    return performance.now() - this.#lastSign;
  }

  pause(topic: string, partition: number): void {
    this.#steer((consumer) => consumer.pause([{ topic, partitions: [partition] }]));
  }

  /** Goes on from `offset`, with the next fetch. */
  resume(topic: string, partition: number, offset: bigint): void {
    this.#steer((consumer) => {
      consumer.seek({ topic, partition, offset: String(offset) });
      consumer.resume([{ topic, partitions: [partition] }]);
    });
  }

  /** Leaves the group, after the batches that are being worked on. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    // Disconnected in the middle of its first join, a member does not leave, and its partitions wait for the session to time out.
    await this.#joining.catch(() => undefined);
    const consumer = this.#consumer;
    this.#consumer = null;
    await consumer?.disconnect();
  }

  #steer(how: (consumer: Consumer) => void): void {
    try {
      if (this.#consumer) how(this.#consumer);
    } catch {
      // The library throws where it has stopped: it fetches nothing more, and a new member starts from scratch.
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
      // The library reports a join that failed as a crash and resolves all the same.
      const [crash] = crashes;
      if (crash) throw crash;
      joined = true;
    } catch (error) {
      // What has crashed may not be able to say goodbye; the reason for it is the error to tell.
      await consumer.disconnect().catch(() => undefined);
      throw error;
    }
  }
}
