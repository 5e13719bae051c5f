import { BackOff } from '@pf/runtime';
import type { Kafka } from 'kafkajs';
import { type Cluster, type Fetched, openCluster } from '../kafka/cluster.ts';
import { asError, brokerErrorType } from '../errors.ts';
import { ClusterLease } from '../ownership/lease.ts';
import type { Names } from '../names.ts';
import { LogUnavailableError, type LogReader, type RecordBatch, type Topic } from '../port.ts';
import { toLogRecord } from '../record.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** About three seconds in total; callers have a loop or a deadline of their own. */
const TRIES = 6;
/** Records below a known end exist already, so the broker need not wait for more. */
const READ_WAIT_MS = 100;
/** How long the broker holds an idle request of a follower: two requests a second. */
const FOLLOW_WAIT_MS = 500;

export type FollowedBatch = RecordBatch & { readonly partition: number };

/** Reads without a group. Connects when needed, and again after any failure. */
export class KafkaLogReader implements LogReader {
  readonly #createClient: () => Kafka;
  readonly #names: Names;
  readonly #partitions: readonly number[];
  readonly #closed = new AbortController();
  /** Connections that are being closed; close() waits for them. */
  readonly #closing = new Set<Promise<void>>();
  #shared: ClusterLease | null = null;

  constructor(createClient: () => Kafka, names: Names, partitions: number) {
    this.#createClient = createClient;
    this.#names = names;
    this.#partitions = Array.from({ length: partitions }, (_, partition) => partition);
  }

  async *read(
    topic: Topic,
    partition: number,
    from: bigint,
    end: bigint,
    signal?: AbortSignal,
  ): AsyncIterable<RecordBatch> {
    const name = this.#names.topic(topic);
    let position = from;
    while (position < end) {
      signal?.throwIfAborted();
      const [answer] = await this.#ask(async (cluster) => {
        const [leader] = (await cluster.leaders(name, [partition])).keys();
        return cluster.fetch(String(leader), name, new Map([[partition, position]]), READ_WAIT_MS);
      }, signal);
      const batch = answer && toBatch(topic, answer);
      if (!batch) continue;
      position = batch.next;
      yield { records: batch.records, next: batch.next };
    }
  }

  async endOffset(topic: Topic, partition: number): Promise<bigint> {
    return this.#offset(topic, partition, 'end');
  }

  async endOffsets(topic: Topic): Promise<readonly bigint[]> {
    const offsets = await this.#ask((cluster) => cluster.offsets(this.#names.topic(topic), this.#partitions, 'end'));
    return this.#partitions.map((partition) => offsets.get(partition) ?? 0n);
  }

  async committed(group: string, topic: Topic, partition: number): Promise<bigint> {
    return (
      (await this.#ask((cluster) =>
        cluster.committed(this.#names.group(group), this.#names.topic(topic), partition),
      )) ?? 0n
    );
  }

  /** A group's next offset: its committed one, or the beginning of the log if that was deleted by retention. */
  async resumePosition(group: string, topic: Topic, partition: number): Promise<bigint> {
    const [committed, start] = await Promise.all([
      this.committed(group, topic, partition),
      this.#offset(topic, partition, 'start'),
    ]);
    return committed > start ? committed : start;
  }

  async *follow(topic: Topic, from: ReadonlyMap<number, bigint>, signal: AbortSignal): AsyncIterable<FollowedBatch> {
    const ended = AbortSignal.any([signal, this.#closed.signal]);
    const positions = new Map(from);
    const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    while (!ended.aborted) {
      // A separate connection: a waiting fetch blocks the requests behind it.
      const own = this.#open();
      try {
        for await (const batch of this.#poll(own, topic, positions, ended)) {
          positions.set(batch.partition, batch.next);
          backOff.reset();
          yield batch;
        }
      } catch (error) {
        if (isOutOfRange(error)) throw error;
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
    own: ClusterLease,
    topic: Topic,
    positions: ReadonlyMap<number, bigint>,
    ended: AbortSignal,
  ): AsyncIterable<FollowedBatch> {
    const name = this.#names.topic(topic);
    const leaders = await own.ask((cluster) => cluster.leaders(name, [...positions.keys()]));
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
            .ask((cluster) => cluster.fetch(node, name, asked, FOLLOW_WAIT_MS))
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
            const batch = toBatch(topic, fetched);
            if (batch) yield batch;
          }
        }
      }
    } finally {
      ended.removeEventListener('abort', onEnd);
    }
  }

  async #offset(topic: Topic, partition: number, which: 'start' | 'end'): Promise<bigint> {
    const offsets = await this.#ask((cluster) => cluster.offsets(this.#names.topic(topic), [partition], which));
    return offsets.get(partition) ?? 0n;
  }

  /** Sends a request on the shared connections, a few times: after a refusal with new metadata, else on new ones. */
  async #ask<Answer>(question: (cluster: Cluster) => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    for (let tries = 1; ; tries++) {
      if (this.#closed.signal.aborted) throw new LogUnavailableError('The reader is closed.');
      const shared = (this.#shared ??= this.#open());
      try {
        return await shared.ask(question);
      } catch (error) {
        if (isOutOfRange(error)) throw error;
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
  async #refreshed(shared: ClusterLease, error: unknown): Promise<boolean> {
    if (brokerErrorType(error) === null) return false;
    try {
      await shared.ask((cluster) => cluster.refresh());
      return true;
    } catch {
      // The connections failed with that response.
      return false;
    }
  }

  #open(): ClusterLease {
    return new ClusterLease(openCluster(this.#createClient()));
  }

  #retire(lease: ClusterLease): void {
    const closing = lease.retire().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

function toBatch(topic: Topic, { partition, messages, next }: Fetched): FollowedBatch | null {
  return next === null
    ? null
    : { partition, records: messages.map((message) => toLogRecord(topic, partition, message)), next };
}

/** The requested position is not in the log: a retry does not help. */
const isOutOfRange = (error: unknown): boolean => asError(error).name === 'KafkaJSOffsetOutOfRange';
