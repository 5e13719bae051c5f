import { BackOff, count, recordDuration } from '@pf/runtime';
import type { EachBatchPayload } from 'kafkajs';
import { stickyAssigner } from '../ownership/assigner.ts';
import { BRIEF_RETRY, createClient, PATIENT_RETRY } from '../kafka/client.ts';
import { GroupMember, type MemberWork } from '../ownership/group-member.ts';
import { behind, LagWatch } from './lag.ts';
import type { Names } from '../names.ts';
import { type EventLogOptions, type LogSink, SESSION_TIMEOUT_MS, SILENT } from '../kafka/options.ts';
import type { GroupConsumer, GroupWork, RecordBatch, Topic } from '../port.ts';
import { KafkaLogReader } from './reader.ts';
import { toLogRecord } from '../record.ts';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

/**
 * A group whose offsets are stored with the consumer's own rows: the group only assigns partitions, and the consumer's
 * compare-and-set keeps an earlier owner from writing.
 */
export class KafkaGroupConsumer implements GroupConsumer, MemberWork {
  readonly #topic: Topic;
  readonly #name: string;
  readonly #work: GroupWork;
  readonly #member: GroupMember;
  readonly #log: LogSink;
  readonly #lag: LagWatch;
  /** The position of each partition, except those whose stored position is being read. */
  readonly #positions = new Map<number, bigint>();
  #assigned: readonly number[] = [];
  /** Aborted when the current generation of the group ends. */
  #assignment = new AbortController();
  #takingUp: Promise<void> = Promise.resolve();
  /** The pause between a failure and the next attempt. */
  readonly #backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);

  constructor(
    options: EventLogOptions,
    names: Names,
    group: string,
    topic: Topic,
    work: GroupWork,
    onCrash: (error: Error) => void,
  ) {
    this.#topic = topic;
    this.#name = names.topic(topic);
    this.#work = work;
    this.#log = options.logger ?? SILENT;
    const lagReader = new KafkaLogReader(() => createClient(options, 'lag', BRIEF_RETRY), names, options.partitions);
    this.#lag = new LagWatch(
      lagReader,
      [topic],
      (ends) =>
        [...this.#positions].map(([partition, position]) => [
          'payments.consumer.lag',
          behind(ends.get(topic)?.[partition], position),
          { 'messaging.consumer.group.name': group, 'messaging.destination.name': topic, partition: String(partition) },
        ]),
      this.#log,
    );
    this.#member = new GroupMember(
      {
        createClient: () => createClient(options, `group-${group}`, PATIENT_RETRY),
        group: names.group(group),
        topics: [this.#name],
        partitions: options.partitions,
        sessionTimeoutMs: options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS,
        assigner: stickyAssigner(() => this.#assigned),
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

  idleMs(): number {
    return this.#member.idleMs();
  }

  async stop(): Promise<void> {
    this.joined([]);
    const measured = this.#lag.stop();
    await this.#takingUp;
    await this.#member.stop();
    await measured;
  }

  joined(assigned: readonly number[]): void {
    this.#assignment.abort();
    this.#assignment = new AbortController();
    this.#assigned = assigned;
    this.#positions.clear();
    if (assigned.length > 0) this.#takeUp(assigned);
  }

  heartbeat(): void {
    // Not awaited: an interrupted batch is fetched again, and the compare-and-set decides.
  }

  async batch(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    const { partition } = batch;
    const { signal } = this.#assignment;
    const from = this.#positions.get(partition);
    if (from === undefined || payload.isStale()) return;
    const last = BigInt(batch.lastOffset());
    const records = batch.messages.map((message) => toLogRecord(this.#topic, partition, message));
    try {
      if (await this.#handle(partition, from, { records, next: last + 1n })) {
        // The library counts the markers after the last record as part of the batch.
        const final = records.at(-1);
        if (signal.aborted || !final) return;
        this.#backOff.reset();
        this.#positions.set(partition, last + 1n);
        payload.resolveOffset(String(final.offset));
        return;
      }
    } catch (error) {
      this.#log.warn({ err: error, partition }, 'a batch could not be handled');
    }
    if (!signal.aborted) this.#takeUp([partition], this.#backOff.wait(signal));
  }

  /** Calls the work's handle() and records its duration. */
  async #handle(partition: number, from: bigint, batch: RecordBatch): Promise<boolean> {
    const about = { 'messaging.system': 'kafka', 'messaging.destination.name': this.#topic } as const;
    count('messaging.client.consumed.messages', { ...about, 'messaging.operation.name': 'poll' }, batch.records.length);
    const began = performance.now();
    let handled = false;
    try {
      return (handled = await this.#work.handle(partition, from, batch));
    } finally {
      recordDuration('messaging.process.duration', began, {
        ...about,
        'messaging.operation.name': 'process',
        ...(!handled && { 'error.type': 'NotHandled' }),
      });
    }
  }

  /** Pauses the partitions until their positions are read. */
  #takeUp(partitions: readonly number[], after?: Promise<void>): void {
    for (const partition of partitions) {
      this.#positions.delete(partition);
      this.#member.pause(this.#name, partition);
    }
    this.#takingUp = Promise.all([this.#takingUp, this.#resume(partitions, this.#assignment.signal, after)]).then(
      () => undefined,
    );
  }

  async #resume(partitions: readonly number[], assignment: AbortSignal, after?: Promise<void>): Promise<void> {
    await after;
    while (!assignment.aborted) {
      try {
        const positions = await this.#work.positions(partitions);
        if (assignment.aborted) return;
        for (const partition of partitions) {
          const position = positions.get(partition) ?? 0n;
          this.#positions.set(partition, position);
          this.#member.resume(this.#name, partition, position);
        }
        return;
      } catch (error) {
        this.#log.warn({ err: error, partitions }, 'the positions of partitions could not be read yet');
        await this.#backOff.wait(assignment);
      }
    }
  }
}
