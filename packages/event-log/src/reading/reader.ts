import { BackOff } from '@pf/runtime';
import { asError, brokerErrorType } from '../errors.ts';
import { ConnectionLease } from '../ownership/lease.ts';
import { LogTruncatedError, LogUnavailableError, type LogReader, type RecordBatch, type Topic } from '../port.ts';
import type { Fetched, LogConnection, LogTransport } from '../transport.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** About three seconds in total; callers have a loop or a deadline of their own. */
const TRIES = 6;
/** Records below a known end exist already, so the broker need not wait for more. */
const READ_WAIT_MS = 100;
/** How long the broker holds an idle request of a follower, and at most what a follower that ends waits for. */
const FOLLOW_WAIT_MS = 1_000;
/** A commit is visible some milliseconds after its writer got the response; a new leader needs longer. */
const STANDSTILL_MS = 10_000;

export interface Range {
  readonly start: bigint;
  readonly end: bigint;
}

export type FollowedBatch = RecordBatch & { readonly partition: number };

/** Reads without a group. Connects when needed, and again after any failure. */
export class FetchingReader implements LogReader {
  readonly #connect: () => Promise<LogConnection>;
  readonly #partitions: readonly number[];
  readonly #closed = new AbortController();
  /** Connections that are being closed; close() waits for them. */
  readonly #closing = new Set<Promise<void>>();
  #shared: ConnectionLease | null = null;

  /** @param name shown in the broker's logs */
  constructor(transport: Pick<LogTransport, 'connect' | 'partitions'>, name: string) {
    this.#connect = () => transport.connect(name);
    this.#partitions = Array.from({ length: transport.partitions }, (_, partition) => partition);
  }

  async *read(
    topic: Topic,
    partition: number,
    from: bigint,
    end: bigint,
    signal?: AbortSignal,
  ): AsyncIterable<RecordBatch> {
    let position = from;
    let moved = performance.now();
    while (position < end) {
      signal?.throwIfAborted();
      const [answer] = await this.#ask(async (connection) => {
        const [leader] = (await connection.leaders(topic, [partition])).keys();
        return connection.fetch(String(leader), topic, new Map([[partition, position]]), READ_WAIT_MS, 1);
      }, signal);
      const batch = answer && toBatch(topic, answer, position);
      if (!batch) {
        if (performance.now() - moved > STANDSTILL_MS) throw await this.#standstill(topic, partition, position, end);
        continue;
      }
      moved = performance.now();
      position = batch.next;
      yield { records: batch.records, next: batch.next };
    }
  }

  async startOffset(topic: Topic, partition: number): Promise<bigint> {
    return this.#offset(topic, partition, 'start');
  }

  async endOffset(topic: Topic, partition: number): Promise<bigint> {
    return this.#offset(topic, partition, 'end');
  }

  async endOffsets(topic: Topic): Promise<readonly bigint[]> {
    const offsets = await this.#ask((connection) => connection.offsets(topic, this.#partitions, 'end'));
    return this.#partitions.map((partition) => offsets.get(partition) ?? 0n);
  }

  async appendedOffsets(topic: Topic): Promise<readonly bigint[]> {
    const offsets = await this.#ask((connection) => connection.offsets(topic, this.#partitions, 'appended'));
    return this.#partitions.map((partition) => offsets.get(partition) ?? 0n);
  }

  async committed(group: string, topic: Topic, partition: number): Promise<bigint> {
    return (await this.committedOrNone(group, topic, partition)) ?? 0n;
  }

  /** What a partition retains: the first offset, and the last stable one. */
  async range(topic: Topic, partition: number): Promise<Range> {
    const [start, end] = await Promise.all([
      this.#offset(topic, partition, 'start'),
      this.#offset(topic, partition, 'end'),
    ]);
    return { start, end };
  }

  /** The offset that a group has committed; null where it has committed none. */
  committedOrNone(group: string, topic: Topic, partition: number): Promise<bigint | null> {
    return this.#ask((connection) => connection.committed(group, topic, partition));
  }

  async *follow(
    topic: Topic,
    from: ReadonlyMap<number, bigint>,
    signal: AbortSignal,
    minBytes = 1,
  ): AsyncIterable<FollowedBatch> {
    const ended = AbortSignal.any([signal, this.#closed.signal]);
    const positions = new Map(from);
    const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    while (!ended.aborted) {
      // A separate connection: a waiting fetch blocks the requests behind it.
      const own = this.#open();
      try {
        for await (const batch of this.#poll(own, topic, positions, ended, minBytes)) {
          positions.set(batch.partition, batch.next);
          backOff.reset();
          yield batch;
        }
      } catch (error) {
        if (isTruncated(error)) throw error;
        await backOff.wait(ended);
      } finally {
        this.#retire(own);
      }
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    if (this.#shared) this.#retire(this.#shared);
    await Promise.all(this.#closing);
  }

  /** Fetches repeatedly from all brokers at once, with one request per broker for all its partitions. */
  async *#poll(
    own: ConnectionLease,
    topic: Topic,
    positions: ReadonlyMap<number, bigint>,
    ended: AbortSignal,
    minBytes: number,
  ): AsyncIterable<FollowedBatch> {
    const leaders = await own.ask((connection) => connection.leaders(topic, [...positions.keys()]));
    const idle = new Set(leaders.keys());
    const arrived: { node: string; answer: readonly Fetched[] | Error }[] = [];
    let wake = (): void => undefined;
    const onEnd = (): void => wake();
    const arrive = (node: string, answer: readonly Fetched[] | Error): void => {
      arrived.push({ node, answer });
      wake();
    };
    ended.addEventListener('abort', onEnd);
    try {
      while (!ended.aborted) {
        for (const node of idle) {
          const asked = new Map(
            (leaders.get(node) ?? []).map((partition) => [partition, positions.get(partition) ?? 0n]),
          );
          own
            .ask((connection) => connection.fetch(node, topic, asked, FOLLOW_WAIT_MS, minBytes))
            .then(
              (answer) => arrive(node, answer),
              (error: unknown) => arrive(node, asError(error)),
            );
        }
        idle.clear();
        if (arrived.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        for (const { node, answer } of arrived.splice(0)) {
          if (answer instanceof Error) throw answer;
          idle.add(node);
          for (const fetched of answer) {
            const batch = toBatch(topic, fetched, positions.get(fetched.partition) ?? 0n);
            if (batch) yield batch;
          }
        }
      }
    } finally {
      ended.removeEventListener('abort', onEnd);
    }
  }

  /** Why the log has nothing at `position`, though it should go on until `end`. */
  async #standstill(topic: Topic, partition: number, position: bigint, end: bigint): Promise<Error> {
    const found = await this.endOffset(topic, partition);
    return found < end
      ? new LogTruncatedError(
          `${topic}-${partition} ends at ${found} and should go on until ${end}: it was truncated, or a transaction ` +
            'hangs (docs/operations/runbooks/log-unfollowable.md).',
        )
      : new LogUnavailableError(`${topic}-${partition} returned no records from ${position} for ${STANDSTILL_MS} ms.`);
  }

  async #offset(topic: Topic, partition: number, which: 'start' | 'end'): Promise<bigint> {
    const offsets = await this.#ask((connection) => connection.offsets(topic, [partition], which));
    return offsets.get(partition) ?? 0n;
  }

  /** Sends a request on the shared connections, a few times: after a refusal with new metadata, else on new ones. */
  async #ask<Answer>(question: (connection: LogConnection) => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    for (let tries = 1; ; tries++) {
      if (this.#closed.signal.aborted) throw new LogUnavailableError('The reader is closed.');
      const shared = (this.#shared ??= this.#open());
      try {
        return await shared.ask(question);
      } catch (error) {
        if (isTruncated(error)) throw error;
        if (tries === TRIES)
          throw new LogUnavailableError(`The log is unavailable: ${asError(error).message}`, { cause: error });
        if (!(await this.#refreshed(shared, error))) {
          if (this.#shared === shared) this.#shared = null;
          this.#retire(shared);
        }
        await backOff.wait(signal ?? this.#closed.signal);
        signal?.throwIfAborted();
      }
    }
  }

  /** True where the connections work: a broker responded that another one leads, or that it is not ready. */
  async #refreshed(shared: ConnectionLease, error: unknown): Promise<boolean> {
    if (brokerErrorType(error) === null) return false;
    try {
      await shared.ask((connection) => connection.refresh());
      return true;
    } catch {
      // The connections failed with that response.
      return false;
    }
  }

  #open(): ConnectionLease {
    return new ConnectionLease(this.#connect());
  }

  #retire(lease: ConnectionLease): void {
    const closing = lease.retire().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

/** @throws LogTruncatedError where the response begins beyond the position */
function toBatch(topic: Topic, { partition, records, from, next }: Fetched, position: bigint): FollowedBatch | null {
  if (next === null) return null;
  if (from !== position)
    throw new LogTruncatedError(`${topic}-${partition} goes on at ${from}: from ${position} on records are missing.`);
  return { partition, records, next };
}

/** A retry does not help. */
const isTruncated = (error: unknown): boolean => error instanceof LogTruncatedError;
