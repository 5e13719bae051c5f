import { BackOff, count, recordDuration } from '@pf/runtime';
import { BrokenLogAlarm } from '../broken-log.ts';
import { behind, LagWatch } from './lag.ts';
import {
  type GroupConsumer,
  type GroupWork,
  type LogSink,
  LogTruncatedError,
  PositionOutOfRangeError,
  type RecordBatch,
  type Topic,
} from '../port.ts';
import { FetchingReader } from './reader.ts';
import type { GroupBatch, GroupMember, LogTransport, MemberWork } from '../transport.ts';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

export interface GroupConsumerOptions {
  readonly group: string;
  readonly topic: Topic;
  readonly work: GroupWork;
  readonly onCrash: (error: Error) => void;
  readonly log: LogSink;
}

/**
 * A group whose offsets are stored with the consumer's own rows: the group only assigns partitions, and the consumer's
 * compare-and-set keeps an earlier owner from writing.
 */
export class PositionedGroupConsumer implements GroupConsumer, MemberWork {
  readonly #topic: Topic;
  readonly #work: GroupWork;
  readonly #member: GroupMember;
  readonly #log: LogSink;
  readonly #lag: LagWatch;
  readonly #reader: FetchingReader;
  readonly #alarms: readonly BrokenLogAlarm[];
  /** The position of each partition, except those whose stored position is being read. */
  readonly #positions = new Map<number, bigint>();
  #assigned: readonly number[] = [];
  /** Aborted when the current generation of the group ends. */
  #assignment = new AbortController();
  #takingUp: Promise<void> = Promise.resolve();
  #stopped = false;
  /** The pause between a failure and the next attempt. */
  readonly #backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);

  constructor(transport: LogTransport, { group, topic, work, onCrash, log }: GroupConsumerOptions) {
    this.#topic = topic;
    this.#work = work;
    this.#log = log;
    this.#reader = new FetchingReader(transport, `group-${group}-reader`);
    this.#alarms = Array.from({ length: transport.partitions }, (_, partition) => new BrokenLogAlarm(log, partition));
    this.#lag = new LagWatch(
      new FetchingReader(transport, 'lag'),
      [topic],
      (ends) =>
        [...this.#positions].map(([partition, position]) => [
          'payments.consumer.lag',
          behind(ends.get(topic)?.[partition], position),
          { 'messaging.consumer.group.name': group, 'messaging.destination.name': topic, partition: String(partition) },
        ]),
      this.#log,
    );
    this.#member = transport.member(
      {
        name: `group-${group}`,
        group,
        topics: [topic],
        claims: () => this.#assigned,
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

  idleMs(): number {
    return this.#member.idleMs();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.joined([]);
    const measured = this.#lag.stop();
    await this.#takingUp;
    await this.#member.stop();
    await this.#reader.close();
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

  async batch(batch: GroupBatch): Promise<void> {
    const { partition, records, next } = batch;
    const { signal } = this.#assignment;
    const from = this.#positions.get(partition);
    if (from === undefined || batch.isStale()) return;
    try {
      await this.#requireUnbroken(partition, from, batch.from);
      if (await this.#handle(partition, from, { records, next })) {
        const final = records.at(-1);
        if (signal.aborted || !final) return;
        this.#backOff.reset();
        this.#positions.set(partition, next);
        batch.resolve(final.offset);
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
      this.#member.pause(this.#topic, partition);
    }
    this.#takingUp = Promise.all([this.#takingUp, this.#resume(partitions, this.#assignment.signal, after)]).then(
      () => undefined,
    );
  }

  async #resume(partitions: readonly number[], assignment: AbortSignal, after?: Promise<void>): Promise<void> {
    await after;
    let waiting = partitions;
    while (!assignment.aborted) {
      try {
        waiting = await this.#resumeWhereLogIs(waiting, assignment);
        if (waiting.length === 0) return;
      } catch (error) {
        this.#log.warn({ err: error, partitions: waiting }, 'the positions of partitions could not be read yet');
      }
      await this.#backOff.wait(assignment);
    }
  }

  /** @returns the partitions whose stored position is not in the log: they stay paused, and no position moves back */
  async #resumeWhereLogIs(partitions: readonly number[], assignment: AbortSignal): Promise<readonly number[]> {
    const positions = await this.#work.positions(partitions);
    const broken: number[] = [];
    await Promise.all(
      partitions.map(async (partition) => {
        const position = positions.get(partition) ?? 0n;
        const { start, end } = await this.#reader.range(this.#topic, partition);
        if (assignment.aborted) return;
        if (position < start || position > end) {
          broken.push(partition);
          this.#alarms[partition]?.seen(new PositionOutOfRangeError(this.#topic, partition, position));
          return;
        }
        this.#alarms[partition]?.over();
        this.#positions.set(partition, position);
        this.#member.resume(this.#topic, partition, position);
      }),
    );
    return broken;
  }

  /**
   * The client library passes over markers and aborted records by itself, and goes back to the beginning of a log that
   * ends before its position.
   * @throws LogTruncatedError unless the batch begins at the position, or behind nothing but what is not to be seen
   */
  async #requireUnbroken(partition: number, position: bigint, from: bigint): Promise<void> {
    if (from === position) return;
    if (from > position) {
      let missed = 0;
      for await (const { records } of this.#reader.read(this.#topic, partition, position, from))
        missed += records.filter(({ offset }) => offset < from).length;
      if (missed === 0) return;
    }
    throw new LogTruncatedError(`${this.#topic}-${partition} was to be read from ${position}, and came from ${from}.`);
  }
}
