import { count, registerGauge } from '@pf/runtime';
import { raiseBrokenLog } from '../broken-log.ts';
import { behind, type Lag, LagWatch } from '../reading/lag.ts';
import { INPUT_TOPICS, isInputTopic, OWNER_GROUP } from '../names.ts';
import { OwnedPartition, type PartitionFeed } from './owned-partition.ts';
import {
  type InputTopic,
  type LogSink,
  type PartitionOwner,
  type PartitionWork,
  type BatchResult,
  PositionOutOfRangeError,
  type Topic,
} from '../port.ts';
import { FetchingReader } from '../reading/reader.ts';
import type { GroupBatch, GroupMember, LogTransport, MemberWork } from '../transport.ts';

/** The partitions of one process: a member of the owners' group, and a state machine per partition. */
export class GroupedPartitionOwner<Context> implements PartitionOwner<Context>, MemberWork {
  readonly #member: GroupMember;
  readonly #reader: FetchingReader;
  readonly #log: LogSink;
  readonly #partitions: readonly OwnedPartition<Context>[];
  readonly #lag: LagWatch;
  readonly #unlook: () => void;
  #stopped = false;
  /** Aborted when the current generation of the group ends. */
  #assignment = new AbortController();

  constructor(transport: LogTransport, work: PartitionWork<Context>, onCrash: (error: Error) => void, log: LogSink) {
    this.#log = log;
    this.#reader = new FetchingReader(transport, 'owner-reader');
    this.#partitions = Array.from({ length: transport.partitions }, (_, partition) => {
      return new OwnedPartition<Context>(partition, {
        work,
        feed: this.#feed(),
        reader: this.#reader,
        openWriter: (...asked) => transport.openWriter(...asked),
        committed: () => this.#committed(partition),
        log,
      });
    });
    this.#lag = new LagWatch(
      new FetchingReader(transport, 'lag'),
      [...INPUT_TOPICS, 'intent.events'],
      (ends) => this.#lags(ends),
      log,
    );
    this.#unlook = registerGauge('payments.partitions.owned', () => [[this.owned().length, {}]]);
    this.#member = transport.member(
      {
        name: 'owner',
        group: OWNER_GROUP,
        topics: INPUT_TOPICS,
        claims: () => this.owned(),
        onCrash: (error) => {
          this.joined([]);
          onCrash(error);
        },
      },
      this,
    );
  }

  async start(): Promise<void> {
    await this.#member.start();
    if (!this.#stopped) this.#lag.start();
  }

  owned(): readonly number[] {
    return [...this.#partitions.keys()].filter((partition) => this.#partitions[partition]?.owning);
  }

  run(
    partition: number,
    after: { readonly topic: InputTopic; readonly offset: bigint } | null,
    work: () => Promise<BatchResult<Context>>,
  ): Promise<void> {
    const owned = this.#partitions[partition];
    if (!owned) return Promise.reject(new RangeError(`There is no partition ${partition}.`));
    return owned.run(after, work);
  }

  async check(partition: number): Promise<void> {
    await this.#partitions[partition]?.check();
  }

  idleMs(): number {
    return this.#member.idleMs();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#assignment.abort();
    this.#unlook();
    const measured = this.#lag.stop();
    // Finished before the process leaves the group: the next owner would fence work in progress.
    await Promise.all(this.#partitions.map((partition) => partition.stop()));
    await this.#member.stop();
    this.joined([]);
    await Promise.all(this.#partitions.map((partition) => partition.release()));
    await this.#reader.close();
    await measured;
  }

  joined(assigned: readonly number[]): void {
    this.#assignment.abort();
    this.#assignment = new AbortController();
    this.#partitions.forEach((owned, partition) => {
      if (assigned.includes(partition)) owned.assign(this.#assignment.signal);
      else owned.revoke();
    });
  }

  heartbeat(): void {
    for (const partition of this.#partitions) partition.heartbeat();
  }

  async batch(batch: GroupBatch): Promise<void> {
    const { topic } = batch;
    if (!isInputTopic(topic)) return;
    count(
      'messaging.client.consumed.messages',
      { 'messaging.system': 'kafka', 'messaging.operation.name': 'poll', 'messaging.destination.name': topic },
      batch.records.length,
    );
    await this.#partitions[batch.partition]?.consume({ ...batch, topic });
  }

  #feed(): PartitionFeed {
    return {
      pause: (partition) => {
        for (const topic of INPUT_TOPICS) this.#member.pause(topic, partition);
      },
      resume: (partition, next) => {
        for (const [topic, offset] of next) this.#member.resume(topic, partition, offset);
      },
    };
  }

  /** Lag of the owned partitions. A partition without an owner is missing from payments.partitions.owned. */
  #lags(ends: ReadonlyMap<Topic, readonly bigint[]>): Lag[] {
    return this.#partitions.flatMap((owned, partition): Lag[] => {
      const standing = owned.standing();
      if (!standing) return [];
      const at = String(partition);
      return [
        ...[...standing.next].map(([topic, next]): Lag => [
          'payments.consumer.lag',
          behind(ends.get(topic)?.[partition], next),
          { 'messaging.consumer.group.name': 'intent', 'messaging.destination.name': topic, partition: at },
        ]),
        [
          'payments.projection.lag',
          behind(ends.get('intent.events')?.[partition], standing.position),
          { partition: at },
        ],
      ];
    });
  }

  async #committed(partition: number): Promise<Map<InputTopic, bigint>> {
    return new Map(
      await Promise.all(
        INPUT_TOPICS.map(async (topic) => [topic, await this.#resumePosition(topic, partition)] as const),
      ),
    );
  }

  /**
   * The committed offset. The beginning of the log where there is none or where it is not in the log: what is decided
   * again has no effect, and what is passed over would be lost.
   */
  async #resumePosition(topic: InputTopic, partition: number): Promise<bigint> {
    const [committed, { start, end }] = await Promise.all([
      this.#reader.committedOrNone(OWNER_GROUP, topic, partition),
      this.#reader.range(topic, partition),
    ]);
    if (committed !== null && committed >= start && committed <= end) return committed;
    if (committed !== null)
      raiseBrokenLog(this.#log, new PositionOutOfRangeError(topic, partition, committed), partition);
    else if (end > 0n)
      this.#log.warn(
        { partition, topic, start: String(start) },
        'the group has no offset: input is read from the start',
      );
    return start;
  }
}
