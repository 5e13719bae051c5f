import { BackOff, within } from '@pf/runtime';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { MEMBER_RETRY } from './client.ts';
import { toLogRecord } from './record.ts';
import { DELEGATING, stickyAssigner } from './sticky-assigner.ts';
import { asError } from '../errors.ts';
import type { Names } from '../names.ts';
import { LogUnavailableError, type Topic } from '../port.ts';
import type { GroupMember, MemberOptions, MemberWork } from '../transport.ts';

/** The other members learn of a leave or join at their next heartbeat. */
const HEARTBEAT_MS = 300;
/** How long a rebalance waits for a member that is still processing a batch. */
const REBALANCE_MS = 15_000;
/**
 * How long the broker holds an idle request: no longer than a heartbeat, which waits for it. While a partition is
 * paused, our patch of the library asks again sooner.
 */
const FETCH_WAIT_MS = HEARTBEAT_MS;
/** Bytes of one partition per fetch: a batch makes the other partitions of this process wait. */
const PARTITION_FETCH_BYTES = 256 * 1024;
/** While a cluster starts, coordinators are missing or still load their groups. */
const START_PATIENCE_MS = 30_000;
/** How long a member that stops waits for its join. A broker that hangs may take many times as long. */
const STOP_PATIENCE_MS = 3_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

export interface KafkaMemberOptions extends MemberOptions {
  readonly createClient: () => Kafka;
  readonly names: Names;
  readonly partitions: number;
  readonly sessionTimeoutMs: number;
  /** For the owners' group: called with each generation, with true where every member knows delegations. */
  readonly onDelegating: ((all: boolean) => void) | null;
}

/**
 * The library's consumer. While brokers are unavailable it stays a member and tries on: `idleMs` tells for how long.
 * When its loop ends for another reason, that is reported once and not restarted, because a restart inside the process
 * could repeat forever.
 */
export class KafkaGroupMember implements GroupMember {
  readonly #options: KafkaMemberOptions;
  readonly #work: MemberWork;
  readonly #stopping = new AbortController();
  #consumer: Consumer | null = null;
  #joining: Promise<void> = Promise.resolve();
  #lastSign = performance.now();

  constructor(options: KafkaMemberOptions, work: MemberWork) {
    this.#options = options;
    this.#work = work;
  }

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

  idleMs(): number {
    return performance.now() - this.#lastSign;
  }

  pause(topic: Topic, partition: number): void {
    const name = this.#options.names.topic(topic);
    this.#steer((consumer) => consumer.pause([{ topic: name, partitions: [partition] }]));
  }

  resume(topic: Topic, partition: number, offset: bigint): void {
    const name = this.#options.names.topic(topic);
    this.#steer((consumer) => {
      consumer.seek({ topic: name, partition, offset: String(offset) });
      consumer.resume([{ topic: name, partitions: [partition] }]);
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    // A member disconnected during its first join does not leave, and its partitions wait for the session's time-out.
    const joined = this.#joining.then(
      () => true,
      () => true,
    );
    const isOver = (await within(STOP_PATIENCE_MS, joined)) ?? false;
    const consumer = this.#consumer;
    this.#consumer = null;
    const leaving = consumer?.disconnect();
    if (isOver) await leaving;
    // Its connections wait for responses to the join.
    else leaving?.catch(() => undefined);
  }

  async #batch(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    const topic = this.#options.topics.find((one) => this.#options.names.topic(one) === batch.topic);
    if (!topic) return;
    await this.#work.batch({
      topic,
      partition: batch.partition,
      records: batch.messages.map((message) => toLogRecord(topic, batch.partition, message)),
      from: BigInt(batch.firstOffset() ?? batch.lastOffset()),
      // The library counts the markers after the last record as part of the batch.
      next: BigInt(batch.lastOffset()) + 1n,
      resolve: (offset) => payload.resolveOffset(String(offset)),
      isStale: () => payload.isStale(),
      heartbeat: () => payload.heartbeat(),
    });
  }

  #steer(how: (consumer: Consumer) => void): void {
    try {
      if (this.#consumer) how(this.#consumer);
    } catch {
      // The library throws after it has stopped: it fetches no more, and a new member starts from the beginning.
    }
  }

  async #join(): Promise<void> {
    const { createClient, names, group, partitions, sessionTimeoutMs, claims, onCrash, onDelegating } = this.#options;
    const topics = this.#options.topics.map((topic) => names.topic(topic));
    const consumer = createClient().consumer({
      groupId: names.group(group),
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: HEARTBEAT_MS,
      rebalanceTimeout: REBALANCE_MS,
      minBytes: 1,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      maxBytesPerPartition: PARTITION_FETCH_BYTES,
      allowAutoTopicCreation: false,
      // The first that all members have is the group's.
      partitionAssigners: [...(onDelegating ? [stickyAssigner(claims, DELEGATING)] : []), stickyAssigner(claims)],
      retry: { ...MEMBER_RETRY, restartOnFailure: async () => false },
    });
    let joined = false;
    const crashes: Error[] = [];
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      this.#lastSign = performance.now();
      onDelegating?.(payload.groupProtocol === DELEGATING);
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
      await consumer.subscribe({ topics, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: partitions * topics.length,
        eachBatch: (payload) => this.#batch(payload),
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
