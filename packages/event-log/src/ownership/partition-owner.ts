import { count, registerGauge } from '@pf/runtime';
import type { EachBatchPayload } from 'kafkajs';
import { stickyAssigner } from './assigner.ts';
import { BRIEF_RETRY, createClient, PATIENT_RETRY, QUICK_RETRY } from '../kafka/client.ts';
import { GroupMember, type MemberWork } from './group-member.ts';
import { behind, type Lag, LagWatch } from '../reading/lag.ts';
import { INPUT_TOPICS, type Names, OWNER_GROUP } from '../names.ts';
import { type EventLogOptions, SESSION_TIMEOUT_MS, SILENT } from '../kafka/options.ts';
import { OwnedPartition, type PartitionFeed } from './owned-partition.ts';
import { PartitionWriter } from './partition-writer.ts';
import type { InputTopic, PartitionOwner, PartitionWork, BatchResult, Topic } from '../port.ts';
import { KafkaLogReader } from '../reading/reader.ts';
import { toLogRecord } from '../record.ts';

/** The partitions of one process: a member of the owners' group, and a state machine per partition. */
export class KafkaPartitionOwner<Context> implements PartitionOwner<Context>, MemberWork {
  readonly #names: Names;
  readonly #member: GroupMember;
  readonly #reader: KafkaLogReader;
  readonly #partitions: readonly OwnedPartition<Context>[];
  readonly #lag: LagWatch;
  readonly #unlook: () => void;
  /** Aborted when the current generation of the group ends. */
  #assignment = new AbortController();

  constructor(options: EventLogOptions, names: Names, work: PartitionWork<Context>, onCrash: (error: Error) => void) {
    this.#names = names;
    this.#reader = new KafkaLogReader(
      () => createClient(options, 'owner-reader', BRIEF_RETRY),
      names,
      options.partitions,
    );
    this.#partitions = Array.from({ length: options.partitions }, (_, partition) => {
      return new OwnedPartition<Context>(partition, {
        work,
        feed: this.#feed(),
        reader: this.#reader,
        openWriter: () =>
          PartitionWriter.open(createClient(options, `writer-${partition}`, QUICK_RETRY), names, partition),
        committed: () => this.#committed(partition),
        log: options.logger ?? SILENT,
      });
    });
    const lagReader = new KafkaLogReader(() => createClient(options, 'lag', BRIEF_RETRY), names, options.partitions);
    this.#lag = new LagWatch(
      lagReader,
      [...INPUT_TOPICS, 'intent.events'],
      (ends) => this.#lags(ends),
      options.logger ?? SILENT,
    );
    this.#unlook = registerGauge('payments.partitions.owned', () => [[this.owned().length, {}]]);
    this.#member = new GroupMember(
      {
        createClient: () => createClient(options, 'owner', PATIENT_RETRY),
        group: names.group(OWNER_GROUP),
        topics: INPUT_TOPICS.map((topic) => names.topic(topic)),
        partitions: options.partitions,
        sessionTimeoutMs: options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS,
        assigner: stickyAssigner(() => this.owned()),
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
    this.#lag.start();
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

  idleMs(): number {
    return this.#member.idleMs();
  }

  async stop(): Promise<void> {
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

  async batch(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    const topic = this.#names.inputTopic(batch.topic);
    if (!topic) return;
    count(
      'messaging.client.consumed.messages',
      { 'messaging.system': 'kafka', 'messaging.operation.name': 'poll', 'messaging.destination.name': topic },
      batch.messages.length,
    );
    await this.#partitions[batch.partition]?.consume({
      topic,
      records: batch.messages.map((message) => toLogRecord(topic, batch.partition, message)),
      resolve: (offset) => payload.resolveOffset(String(offset)),
      isStale: () => payload.isStale(),
      heartbeat: () => payload.heartbeat(),
    });
  }

  #feed(): PartitionFeed {
    return {
      pause: (partition) => {
        for (const topic of INPUT_TOPICS) this.#member.pause(this.#names.topic(topic), partition);
      },
      resume: (partition, next) => {
        for (const [topic, offset] of next) this.#member.resume(this.#names.topic(topic), partition, offset);
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
        INPUT_TOPICS.map(
          async (topic) => [topic, await this.#reader.resumePosition(OWNER_GROUP, topic, partition)] as const,
        ),
      ),
    );
  }
}
