import { BackOff, count, record, recordDuration } from '@pf/runtime';
import { asError } from '../errors.ts';
import type { LogSink } from '../kafka/options.ts';
import type { Consumed, PartitionWriter } from './partition-writer.ts';
import type { InputTopic, LogRecord, PartitionWork, BatchResult } from '../port.ts';
import type { KafkaLogReader } from '../reading/reader.ts';
import { fitting } from '../record.ts';

/**
 * Input of one transaction. An event is a few times as large as the command that leads to it, so that 128 KiB in are
 * about 512 KiB out; what comes out larger goes in several requests of the same transaction.
 */
const SLICE_LIMITS = { count: 200, bytes: 128 * 1024 };
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

/** The group's side of one partition: both input topics together. */
export interface PartitionFeed {
  pause(partition: number): void;
  resume(partition: number, next: ReadonlyMap<InputTopic, bigint>): void;
}

export interface PartitionDependencies<Context> {
  readonly work: PartitionWork<Context>;
  readonly feed: PartitionFeed;
  readonly reader: Pick<KafkaLogReader, 'read' | 'endOffset'>;
  /** Fences whoever wrote before. */
  readonly openWriter: (partition: number) => Promise<PartitionWriter>;
  /** Where the group goes on in the partition, by input topic. */
  readonly committed: (partition: number) => Promise<Map<InputTopic, bigint>>;
  readonly log: LogSink;
}

/** A batch as the group delivers it. */
export interface InputBatch {
  readonly topic: InputTopic;
  readonly records: readonly LogRecord[];
  /** Everything up to this offset is done. */
  resolve(offset: bigint): void;
  /** True when the group has been sent elsewhere in the partition since this was fetched. */
  isStale(): boolean;
  /** Says that this member lives. Rejects when the group wants to be joined anew. */
  heartbeat(): Promise<void>;
}

/** What is known while the partition is owned. A new one for each time it is taken over. */
interface Hold {
  readonly writer: PartitionWriter;
  /** The next offset of intent.events, projected up to here. */
  position: bigint;
  /** The next offset of each input. */
  readonly next: Map<InputTopic, bigint>;
}

interface Waiter {
  readonly after: Consumed;
  /** Called with true when the input has been consumed up to there, with false when the partition is lost before. */
  readonly go: (reached: boolean) => void;
}

/**
 * One partition in this process: lost, being acquired, or owned (`#hold`). Everything that touches it runs in one chain,
 * strictly one after another. Correctness rests on the fence, not on the group: a former owner's transactions fail, its
 * projections miss their checkpoint.
 */
export class OwnedPartition<Context> {
  readonly #partition: number;
  readonly #parts: PartitionDependencies<Context>;
  #chain: Promise<unknown> = Promise.resolve();
  /** Aborted when the group changes or the process stops; null when assigned to another. */
  #assignment: AbortSignal | null = null;
  #hold: Hold | null = null;
  #retake = false;
  #stopped = false;
  /** Former writers on their way out. */
  #closing: Promise<void> = Promise.resolve();
  #waiters: Waiter[] = [];

  constructor(partition: number, parts: PartitionDependencies<Context>) {
    this.#partition = partition;
    this.#parts = parts;
  }

  get owning(): boolean {
    return this.#hold !== null;
  }

  /** Where it stands: the next offset of each input, and up to where intent.events are projected. Null where it is not owned. */
  standing(): Pick<Hold, 'next' | 'position'> | null {
    return this.#hold;
  }

  /** The group has given us the partition, or has left it to us. */
  assign(assignment: AbortSignal): void {
    if (this.#stopped) return;
    this.#assignment = assignment;
    this.#retake = false;
    // Still ours: had anybody else owned it meanwhile, we would be fenced and find out with the next transaction.
    if (this.#hold) return this.#parts.feed.resume(this.#partition, this.#hold.next);
    this.#parts.feed.pause(this.#partition);
    void this.#enqueue(() => this.#acquire(assignment));
  }

  /** The group has given the partition to another. */
  revoke(): void {
    this.#assignment = null;
    this.#retake = false;
    this.#lose();
  }

  /**
   * The group still counts on us. Only now, after an error, the partition is taken up anew: at once, a process that has
   * slept would fence the rightful owner before it learns that it is out of the group.
   */
  heartbeat(): void {
    const assignment = this.#assignment;
    if (!this.#retake || !assignment) return;
    this.#retake = false;
    void this.#enqueue(() => this.#acquire(assignment));
  }

  /** Works the batch off in slices, which take turns with those of the other topic. Never throws; what is not resolved comes again. */
  async consume(batch: InputBatch): Promise<void> {
    for (let rest = batch.records; rest.length > 0;) {
      const slice = rest.slice(0, fitting(rest, inputSize, SLICE_LIMITS));
      rest = rest.slice(slice.length);
      const last = slice[slice.length - 1];
      if (!last || !(await this.#enqueue(() => this.#consumeSlice(batch, slice, last.offset + 1n)))) return;
      batch.resolve(last.offset);
      try {
        await batch.heartbeat();
      } catch {
        // The group changes: end the batch, so that the library can join anew; the rest is fetched again by whoever has it then.
        return;
      }
    }
  }

  run(after: Consumed | null, work: () => Promise<BatchResult<Context>>): Promise<void> {
    const hold = this.#hold;
    if (!hold || this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const go = (reached: boolean): void => {
        if (reached)
          void this.#enqueue(async () =>
            this.#hold === hold && !this.#stopped ? this.#perform(hold, work, null) : false,
          ).then(() => resolve());
        else resolve();
      };
      if (after === null || (hold.next.get(after.topic) ?? 0n) >= after.offset) go(true);
      else this.#waiters.push({ after, go });
    });
  }

  /** Begins nothing more. Resolves when what has begun is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#parts.feed.pause(this.#partition);
    this.#dropWaiters();
    await this.#chain;
  }

  /** After stop(): gives the partition out of hand. Resolves when no connection is left. */
  async release(): Promise<void> {
    this.revoke();
    await this.#chain;
    await this.#closing;
  }

  #enqueue<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#chain.then(task);
    // Whoever enqueued it hears of a failure; those behind it take their turn all the same.
    this.#chain = result.catch(() => undefined);
    return result;
  }

  async #acquire(assignment: AbortSignal): Promise<void> {
    const { feed, log, openWriter } = this.#parts;
    const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    while (!assignment.aborted) {
      let writer: PartitionWriter | null = null;
      try {
        writer = await openWriter(this.#partition);
        assignment.throwIfAborted();
        const hold = await this.#takeUp(writer, assignment);
        this.#hold = hold;
        // It may have been taken away while the work prepared itself: no await between this check and the end.
        if (assignment.aborted) return this.#lose();
        return feed.resume(this.#partition, hold.next);
      } catch (error) {
        if (writer) this.#awaitClosing(writer.close());
        if (assignment.aborted) return;
        log.warn({ err: error, partition: this.#partition }, 'the partition cannot be taken over yet');
        await backOff.wait(assignment);
      }
    }
  }

  /** From the fence to readiness. Every position is read after the fence: before it, another may still be moving it. */
  async #takeUp(writer: PartitionWriter, assignment: AbortSignal): Promise<Hold> {
    const { work, committed, reader } = this.#parts;
    const end = await reader.endOffset('intent.events', this.#partition);
    assignment.throwIfAborted();
    const position = await this.#catchUp(end, assignment);
    if (position > end)
      throw new Error(`Partition ${this.#partition} is projected up to ${position}, but its log ends at ${end}`);
    const next = await committed(this.#partition);
    assignment.throwIfAborted();
    await work.acquired(this.#partition);
    return { writer, position, next };
  }

  /** Projects what former owners have appended and not projected. */
  async #catchUp(end: bigint, assignment: AbortSignal): Promise<bigint> {
    const { work, reader } = this.#parts;
    for (;;) {
      let position = await work.checkpoint(this.#partition);
      assignment.throwIfAborted();
      if (position >= end) return position;
      for await (const { records, next } of reader.read('intent.events', this.#partition, position, end, assignment)) {
        const moved = await work.catchUp(this.#partition, position, records, next);
        assignment.throwIfAborted();
        // A former owner has come in between with its own projection of the same records.
        if (!moved) break;
        position = next;
      }
    }
  }

  async #consumeSlice(batch: InputBatch, slice: readonly LogRecord[], next: bigint): Promise<boolean> {
    const hold = this.#hold;
    if (!hold || this.#stopped || batch.isStale()) return false;
    const done = hold.next.get(batch.topic) ?? 0n;
    const records = slice.filter(({ offset }) => offset >= done);
    if (records.length === 0) return true;
    const began = performance.now();
    record('payments.slice.size', records.length, { 'messaging.destination.name': batch.topic });
    const worked = await this.#perform(hold, () => this.#parts.work.decide(this.#partition, records), {
      topic: batch.topic,
      offset: next,
    });
    recordDuration('messaging.process.duration', began, {
      'messaging.system': 'kafka',
      'messaging.operation.name': 'process',
      'messaging.destination.name': batch.topic,
      ...(!worked && { 'error.type': 'PartitionLost' }),
    });
    return worked;
  }

  /** Decides, commits, projects, publishes. Any error loses the partition: only the log can tell what has come of it. */
  async #perform(hold: Hold, decide: () => Promise<BatchResult<Context>>, consumed: Consumed | null): Promise<boolean> {
    const { work } = this.#parts;
    try {
      const began = performance.now();
      const { append, context } = await decide();
      recordDuration('payments.decision.duration', began, {});
      if (this.#hold !== hold) return false;
      if (append.length === 0 && !consumed) return true;
      // Also where nothing is appended: a refusal counts only if its offset could be committed, so never from a fenced owner.
      const base = await timed(() => hold.writer.commit(append, consumed), committed);
      if (append.length > 0) count('messaging.client.sent.messages', SENT, append.length);
      if (base !== null && base !== hold.position)
        throw new Error(`Partition ${this.#partition}: appended at ${base}, expected ${hold.position}`);
      // The commit's marker takes the offset after the last record.
      const next = base === null ? hold.position : base + BigInt(append.length) + 1n;
      const project = async (): Promise<void> => {
        if (!(await work.project(this.#partition, hold.position, next, context)))
          throw new Error(`Partition ${this.#partition}: the checkpoint is not at ${hold.position}`);
      };
      await timed(project, projected);
      hold.position = next;
      work.published(this.#partition, context);
      if (consumed) this.#advance(hold, consumed);
      return true;
    } catch (error) {
      this.#fail(hold, error);
      return false;
    }
  }

  #advance(hold: Hold, { topic, offset }: Consumed): void {
    hold.next.set(topic, offset);
    const reached = this.#waiters.filter(({ after }) => after.topic === topic && offset >= after.offset);
    this.#waiters = this.#waiters.filter((waiter) => !reached.includes(waiter));
    for (const { go } of reached) go(true);
  }

  #dropWaiters(): void {
    for (const { go } of this.#waiters.splice(0)) go(false);
  }

  #fail(hold: Hold, error: unknown): void {
    const { feed, log } = this.#parts;
    log.warn({ err: error, partition: this.#partition }, 'the partition is given up');
    if (this.#hold !== hold) return;
    this.#lose();
    feed.pause(this.#partition);
    this.#retake = this.#assignment !== null;
  }

  #awaitClosing(closing: Promise<void>): void {
    this.#closing = Promise.all([this.#closing, closing]).then(() => undefined);
  }

  #lose(): void {
    const { work, log } = this.#parts;
    const hold = this.#hold;
    if (!hold) return;
    this.#hold = null;
    // After what is under way: closed under it, the library connects again by itself, and nobody closes that any more.
    this.#awaitClosing(this.#chain.then(() => hold.writer.close()));
    this.#dropWaiters();
    try {
      work.lost(this.#partition);
    } catch (error) {
      log.error({ err: asError(error), partition: this.#partition }, 'losing a partition must not fail');
    }
  }
}

const SENT = {
  'messaging.system': 'kafka',
  'messaging.operation.name': 'send',
  'messaging.destination.name': 'intent.events',
} as const;

const committed = (began: number, done: boolean): void =>
  recordDuration('payments.transaction.duration', began, { outcome: done ? 'committed' : 'failed' });
const projected = (began: number, done: boolean): void =>
  recordDuration('payments.projection.duration', began, { outcome: done ? 'projected' : 'failed' });

/** Does it, and has it told whether it was done; `began` is performance.now()'s. */
async function timed<Result>(
  work: () => Promise<Result>,
  tell: (began: number, done: boolean) => void,
): Promise<Result> {
  const began = performance.now();
  let done = false;
  try {
    const result = await work();
    done = true;
    return result;
  } finally {
    tell(began, done);
  }
}

const inputSize = ({ key, value }: LogRecord): number => Buffer.byteLength(key ?? '') + Buffer.byteLength(value ?? '');
