import { BackOff, count, pause, record, recordDuration } from '@pf/runtime';
import { BrokenLogAlarm, raiseBrokenLog } from '../broken-log.ts';
import { asError } from '../errors.ts';
import {
  type InputTopic,
  type LogRecord,
  type LogSink,
  LogTruncatedError,
  type PartitionWork,
  type BatchResult,
} from '../port.ts';
import type { FetchingReader } from '../reading/reader.ts';
import { fitting } from '../record.ts';
import type { Consumed, LogTransport, PartitionWriter } from '../transport.ts';

/**
 * Input of one transaction. An event is a few times as large as its command, so 128 KiB of input are about 512 KiB of
 * events; more goes in several requests of the same transaction.
 */
const BATCH_LIMITS = { count: 200, bytes: 128 * 1024 };
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;
/** The coordinator writes the marker of the last commit within milliseconds, while it has all its brokers. */
const END_PAUSE_MS = 5;
const END_TRIES = 200;

/** The group's functions for one partition, for both input topics together. */
export interface PartitionFeed {
  pause(partition: number): void;
  resume(partition: number, next: ReadonlyMap<InputTopic, bigint>): void;
}

export interface PartitionDependencies<Context> {
  readonly work: PartitionWork<Context>;
  readonly feed: PartitionFeed;
  readonly reader: Pick<FetchingReader, 'read' | 'endOffset'>;
  /** Fences the earlier writer. */
  readonly openWriter: LogTransport['openWriter'];
  /** The group's next offset in the partition, by input topic. */
  readonly committed: (partition: number) => Promise<Map<InputTopic, bigint>>;
  readonly log: LogSink;
}

/** Records that the group has fetched, to be processed in batches. */
export interface FetchedInput {
  readonly topic: InputTopic;
  readonly records: readonly LogRecord[];
  /** The offset with which they begin. */
  readonly from: bigint;
  /** Marks everything up to this offset as done. */
  resolve(offset: bigint): void;
  /** True when the consumer was moved to another offset since the fetch. */
  readonly isStale: () => boolean;
  /** Sends a heartbeat. Rejects when the member must join the group again. */
  heartbeat(): Promise<void>;
}

/** The state of an owned partition; a new one each time it is acquired. */
interface Hold {
  readonly writer: PartitionWriter;
  /** The next offset of intent.events; everything below is projected. */
  position: bigint;
  /** The next offset of each input. */
  readonly next: Map<InputTopic, bigint>;
}

interface Waiter {
  readonly after: Consumed;
  /** Called with true when the input was consumed up to the offset, with false when the partition was lost before. */
  readonly go: (reached: boolean) => void;
}

/**
 * One partition in this process: lost, being acquired, or owned (`#hold`). All its work runs in one chain, one task at
 * a time. Correctness rests on the fence, not on the group: transactions of an earlier owner fail, and its projections
 * miss their checkpoint.
 */
export class OwnedPartition<Context> {
  readonly #partition: number;
  readonly #dependencies: PartitionDependencies<Context>;
  #chain: Promise<unknown> = Promise.resolve();
  /** Aborted when the group changes or the process stops; null when assigned to another member. */
  #assignment: AbortSignal | null = null;
  #hold: Hold | null = null;
  #reacquire = false;
  #stopped = false;
  /** Earlier writers that are being closed. */
  #closing: Promise<void> = Promise.resolve();
  #waiters: Waiter[] = [];
  readonly #alarm: BrokenLogAlarm;

  constructor(partition: number, dependencies: PartitionDependencies<Context>) {
    this.#partition = partition;
    this.#dependencies = dependencies;
    this.#alarm = new BrokenLogAlarm(dependencies.log, partition);
  }

  get owning(): boolean {
    return this.#hold !== null;
  }

  /** The next offset of each input and of the projection. Null where the partition is not owned. */
  standing(): Pick<Hold, 'next' | 'position'> | null {
    return this.#hold;
  }

  /** The group has assigned the partition to this process, or kept it here. */
  assign(assignment: AbortSignal): void {
    if (this.#stopped) return;
    this.#assignment = assignment;
    this.#reacquire = false;
    // Still owned: another owner in between would have fenced this one, and the next transaction would fail.
    if (this.#hold) return this.#dependencies.feed.resume(this.#partition, this.#hold.next);
    this.#dependencies.feed.pause(this.#partition);
    void this.#enqueue(() => this.#acquire(assignment));
  }

  /** The group has assigned the partition to another member. */
  revoke(): void {
    this.#assignment = null;
    this.#reacquire = false;
    this.#lose();
  }

  /**
   * The group has accepted a heartbeat. Only then is a partition reacquired after an error: earlier, a process that has
   * slept would fence the rightful owner before it learns that it is no longer in the group.
   */
  heartbeat(): void {
    const assignment = this.#assignment;
    if (!this.#reacquire || !assignment) return;
    this.#reacquire = false;
    void this.#enqueue(() => this.#acquire(assignment));
  }

  /** Processes the records in batches, in turns with the other topic's. Never throws; unresolved records come again. */
  async consume(fetched: FetchedInput): Promise<void> {
    await this.#enqueue(async () => this.#checkStart(fetched));
    for (let rest = fetched.records; rest.length > 0;) {
      const batch = rest.slice(0, fitting(rest, inputSize, BATCH_LIMITS));
      rest = rest.slice(batch.length);
      const last = batch[batch.length - 1];
      if (!last || !(await this.#enqueue(() => this.#consumeBatch(fetched, batch, last.offset + 1n)))) return;
      fetched.resolve(last.offset);
      try {
        await fetched.heartbeat();
      } catch {
        // The group changes: end here, so that the library can join again; the next owner fetches the rest.
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

  /** Without waiting for input: compares the position with the projection and the log. Never rejects. */
  async check(): Promise<void> {
    const hold = this.#hold;
    if (!hold || this.#stopped) return;
    await this.#enqueue(async () => {
      if (this.#hold !== hold || this.#stopped) return;
      try {
        // Both end before anything else, as beside a decision.
        const [position, atEnd] = await Promise.allSettled([
          this.#dependencies.work.checkpoint(this.#partition),
          this.#requireEnd(hold),
        ]);
        if (position.status === 'rejected') throw position.reason;
        this.#requireCurrent(hold, position.value);
        if (atEnd.status === 'rejected') throw atEnd.reason;
      } catch (error) {
        this.#fail(hold, error);
      }
    });
  }

  /** Starts no more work. Resolves when the work in progress is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#dependencies.feed.pause(this.#partition);
    this.#dropWaiters();
    await this.#chain;
  }

  /** After stop(): releases the partition. Resolves when its connections are closed. */
  async release(): Promise<void> {
    this.revoke();
    await this.#chain;
    await this.#closing;
  }

  #enqueue<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#chain.then(task);
    // The caller gets the failure; the tasks behind it run in any case.
    this.#chain = result.catch(() => undefined);
    return result;
  }

  async #acquire(assignment: AbortSignal): Promise<void> {
    const { feed, log, openWriter, work } = this.#dependencies;
    const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    while (!assignment.aborted) {
      let writer: PartitionWriter | null = null;
      try {
        writer = await openWriter(this.#partition, () => work.checkpoint(this.#partition));
        assignment.throwIfAborted();
        const hold = await this.#acquireWith(writer, assignment);
        this.#alarm.over();
        this.#hold = hold;
        // The partition may have been lost while the work prepared itself: no await between this check and the end.
        if (assignment.aborted) return this.#lose();
        return feed.resume(this.#partition, hold.next);
      } catch (error) {
        if (writer) this.#awaitClosing(writer.close());
        if (assignment.aborted) return;
        if (error instanceof LogTruncatedError) this.#alarm.seen(error);
        log.warn({ err: error, partition: this.#partition }, 'the partition could not be acquired yet');
        await backOff.wait(assignment);
      }
    }
  }

  /** Fences, then reads every position: before the fence, the earlier owner may still move them. */
  async #acquireWith(writer: PartitionWriter, assignment: AbortSignal): Promise<Hold> {
    const { work, committed, reader } = this.#dependencies;
    const end = await reader.endOffset('intent.events', this.#partition);
    assignment.throwIfAborted();
    const position = await this.#catchUp(end, assignment);
    if (position > end)
      throw new LogTruncatedError(
        `Partition ${this.#partition} is projected up to ${position}; its log ends at ${end}.`,
      );
    const next = await committed(this.#partition);
    assignment.throwIfAborted();
    await work.acquired(this.#partition);
    return { writer, position, next };
  }

  /** Projects events that earlier owners appended and did not project. */
  async #catchUp(end: bigint, assignment: AbortSignal): Promise<bigint> {
    const { work, reader } = this.#dependencies;
    for (;;) {
      let position = await work.checkpoint(this.#partition);
      assignment.throwIfAborted();
      if (position >= end) return position;
      for await (const { records, next } of reader.read('intent.events', this.#partition, position, end, assignment)) {
        const moved = await work.catchUp(this.#partition, position, records, next);
        assignment.throwIfAborted();
        // An earlier owner has projected the same records in between.
        if (!moved) break;
        position = next;
      }
    }
  }

  /**
   * Compares what was fetched with what is done. The client library goes back to the beginning of a log that ends
   * before its position, and new records are then at offsets that were consumed before: they are decided like any, and
   * those that are old have no further effect.
   */
  #checkStart({ topic, from, isStale }: FetchedInput): void {
    const hold = this.#hold;
    const done = hold?.next.get(topic);
    if (!hold || done === undefined || this.#stopped || isStale() || from === done) return;
    const error =
      from < done
        ? `${topic}-${this.#partition} was consumed up to ${done} and begins again at ${from}: it was truncated.`
        : `${topic}-${this.#partition} goes on at ${from}: from ${done} on records are missing.`;
    raiseBrokenLog(this.#dependencies.log, new LogTruncatedError(error), this.#partition);
    if (from < done) hold.next.set(topic, from);
  }

  async #consumeBatch(fetched: FetchedInput, batch: readonly LogRecord[], next: bigint): Promise<boolean> {
    const hold = this.#hold;
    if (!hold || this.#stopped || fetched.isStale()) return false;
    const done = hold.next.get(fetched.topic) ?? 0n;
    const records = batch.filter(({ offset }) => offset >= done);
    if (records.length === 0) return true;
    const began = performance.now();
    record('payments.slice.size', records.length, { 'messaging.destination.name': fetched.topic });
    const worked = await this.#perform(hold, () => this.#dependencies.work.decide(this.#partition, records), {
      topic: fetched.topic,
      offset: next,
    });
    recordDuration('messaging.process.duration', began, {
      'messaging.system': 'kafka',
      'messaging.operation.name': 'process',
      'messaging.destination.name': fetched.topic,
      ...(!worked && { 'error.type': 'PartitionLost' }),
    });
    return worked;
  }

  /** Decides, commits, projects, publishes. Any error loses the partition: only the log shows what was committed. */
  async #perform(hold: Hold, decide: () => Promise<BatchResult<Context>>, consumed: Consumed | null): Promise<boolean> {
    const { work } = this.#dependencies;
    try {
      const { append, position, context } = await this.#decideAtEnd(hold, decide);
      if (this.#hold !== hold) return false;
      if (position !== null) this.#requireCurrent(hold, position);
      if (append.length === 0 && !consumed) return true;
      // Also without events: a refusal counts only if its offset was committed, so never from a fenced owner.
      await timed(() => hold.writer.commit(append, consumed, hold.position), committed);
      if (append.length > 0) count('messaging.client.sent.messages', SENT, append.length);
      // The commit's marker has the offset after the last record.
      const next = append.length === 0 ? hold.position : hold.position + BigInt(append.length) + 1n;
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

  /**
   * The decision, and beside it the look at the log's end: once the last commit has its marker it cannot hang, and what
   * others append after the look is found by the offset of the first record.
   */
  async #decideAtEnd(hold: Hold, decide: () => Promise<BatchResult<Context>>): Promise<BatchResult<Context>> {
    const began = performance.now();
    const deciding = decide().finally(() => recordDuration('payments.decision.duration', began, {}));
    // Both end before anything else: a writer is not closed during a request.
    const [decided, atEnd] = await Promise.allSettled([deciding, this.#requireEnd(hold)]);
    if (decided.status === 'rejected') throw decided.reason;
    if (atEnd.status === 'rejected') throw atEnd.reason;
    return decided.value;
  }

  #requireCurrent(hold: Hold, position: bigint): void {
    if (position !== hold.position) throw new StaleProjectionError(this.#partition, position, hold);
  }

  /**
   * The log must end where the projection does. Where the last commit has no marker, and gets none, its transaction
   * hangs: the next one would belong to it, and an abort would erase what clients were told is done.
   */
  async #requireEnd({ writer, position }: Hold): Promise<void> {
    for (let tries = 1; !(await writer.endsAt(position)); tries++) {
      if (tries === END_TRIES)
        throw new Error(
          `Partition ${this.#partition} is projected up to ${position}, and its log does not end there: ` +
            'a transaction hangs, another writer has appended, or records are missing.',
        );
      await pause(END_PAUSE_MS);
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
    const { feed, log } = this.#dependencies;
    log.warn({ err: error, partition: this.#partition }, 'the partition was lost after an error');
    if (this.#hold !== hold) return;
    this.#lose();
    feed.pause(this.#partition);
    if (error instanceof LogTruncatedError) {
      // What was appended since hides that records are missing: this process does not go on behind it.
      raiseBrokenLog(log, error, this.#partition);
      return;
    }
    this.#reacquire = this.#assignment !== null;
  }

  #awaitClosing(closing: Promise<void>): void {
    this.#closing = Promise.all([this.#closing, closing]).then(() => undefined);
  }

  #lose(): void {
    const { work, log } = this.#dependencies;
    const hold = this.#hold;
    if (!hold) return;
    this.#hold = null;
    // After the work in progress: closed during it, the library would reconnect, and that connection would leak.
    this.#awaitClosing(this.#chain.then(() => hold.writer.close()));
    this.#dropWaiters();
    try {
      work.lost(this.#partition);
    } catch (error) {
      log.error({ err: asError(error), partition: this.#partition }, 'losing a partition must not fail');
    }
  }
}

/** What was decided on is not what this owner has projected: another owner has moved it, or it was set back. */
class StaleProjectionError extends Error {
  override readonly name = 'StaleProjectionError';

  constructor(partition: number, position: bigint, hold: Pick<Hold, 'position'>) {
    super(
      `Partition ${partition}: the projection is at ${position}, and its owner has projected up to ${hold.position}. ` +
        'The batch was not committed; the partition is reacquired and caught up from the log.',
    );
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

/** Runs the work and reports whether it succeeded; `began` is from performance.now(). */
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
