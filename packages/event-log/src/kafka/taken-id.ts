import { pause } from '@pf/runtime';
import type { CompressionTypes, Kafka, Producer, Transaction } from 'kafkajs';
import { QUICK_RETRY } from './client.ts';
import { askLess, type Cluster } from './cluster.ts';
import type { EndLooks } from './end-looks.ts';
import type { Lifeline } from './lifeline.ts';
import { toMessage } from './record.ts';
import { brokerErrorType } from '../errors.ts';
import { type Names, OWNER_GROUP } from '../names.ts';
import { LogTruncatedError, type NewRecord } from '../port.ts';
import { fitting, sizeOf } from '../record.ts';
import type { Part, PartitionId } from '../ownership/shared-writers.ts';

/** The coordinator aborts a transaction that stays open this long, because its writer has died. */
export const TRANSACTION_TIMEOUT_MS = 15_000;
/** The broker permanently refuses 1 MiB of a partition in one request. */
const SEND_LIMITS = { count: 10_000, bytes: 512 * 1024 };
const BUSY_PAUSE_MS = 5;
const BUSY_TRIES = 200;
/** Records and offsets of a transaction are sent side by side. */
const REQUESTS_AT_ONCE = 2;

interface TakenIdOptions {
  readonly names: Names;
  readonly id: string;
  /** Whose end `endsAt` looks at. */
  readonly partition: number;
  readonly compression: CompressionTypes;
  /** Of the client's connections. */
  readonly lifeline: Lifeline;
  readonly looks: EndLooks;
}

/** A transactional producer. */
export class KafkaTakenId implements PartitionId {
  readonly id: string;
  readonly cluster: Cluster;
  readonly #producer: Producer;
  readonly #names: Names;
  /** The cluster's name of intent.events. */
  readonly #topic: string;
  readonly #partition: number;
  readonly #compression: CompressionTypes;
  readonly #lifeline: Lifeline;
  readonly #looks: EndLooks;

  private constructor(producer: Producer, cluster: Cluster, options: TakenIdOptions) {
    const { names, id, partition, compression, lifeline, looks } = options;
    this.id = id;
    this.cluster = cluster;
    this.#producer = producer;
    this.#names = names;
    this.#topic = names.topic('intent.events');
    this.#partition = partition;
    this.#compression = compression;
    this.#lifeline = lifeline;
    this.#looks = looks;
  }

  /** Connects. The id is not taken yet. */
  static async connect(client: Kafka, options: TakenIdOptions): Promise<KafkaTakenId> {
    const asking = askLess(client, options.names.topic('intent.events'));
    const producer = asking.kafka.producer({
      transactionalId: options.id,
      idempotent: true,
      maxInFlightRequests: REQUESTS_AT_ONCE,
      transactionTimeout: TRANSACTION_TIMEOUT_MS,
      allowAutoTopicCreation: false,
      retry: QUICK_RETRY,
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition ?? 0,
    });
    const taken = new KafkaTakenId(producer, asking.cluster(), options);
    try {
      await producer.connect();
      return taken;
    } catch (error) {
      await taken.close();
      throw error;
    }
  }

  /** Fences whoever had the id, and aborts its open transaction. */
  async take(): Promise<void> {
    // The library requests the id only with the first transaction; an empty one ends without a request.
    await (await this.#producer.transaction()).abort();
  }

  endsAt(position: bigint): Promise<boolean> {
    // After a lost connection the coordinator may be another, or the same one started again: it is only asked here, and
    // nothing is in progress.
    this.#lifeline.repair();
    return this.#lifeline.during(() => this.#looks.endsAt(this.cluster, this.#partition, position));
  }

  transact(parts: readonly Part[]): Promise<void> {
    return this.#lifeline.during(() => this.#transact(parts));
  }

  async close(): Promise<void> {
    try {
      await this.#producer.disconnect();
    } catch {
      // The connection was lost before: there is nothing to close.
    }
  }

  async #transact(parts: readonly Part[]): Promise<void> {
    const transaction = await this.#producer.transaction();
    // Side by side: three round trips instead of five. Nothing ends the transaction while one of them is under way.
    const [sent, moved] = await Promise.allSettled([
      this.#send(transaction, parts),
      this.#sendOffsets(transaction, parts),
    ]);
    if (sent.status === 'rejected') throw sent.reason;
    const misplaced = parts.flatMap(({ partition, at }) => {
      const base = sent.value.get(partition);
      return base === undefined || base === at || at === null ? [] : [{ partition, at, base }];
    });
    if (misplaced.length > 0) {
      // Where that fails too, the next fence of the id aborts it.
      await transaction.abort().catch(() => undefined);
      const [worst] = misplaced.toSorted((a, b) => Number(a.base - a.at - (b.base - b.at)));
      if (worst)
        throw new (worst.base < worst.at ? LogTruncatedError : Error)(
          `Partition ${worst.partition}: the first record got the offset ${worst.base} instead of ${worst.at}: ` +
            'nothing is committed.',
        );
    }
    if (moved.status === 'rejected') throw moved.reason;
    await transaction.commit();
  }

  /** @returns the offsets of the first records, by partition */
  async #send(transaction: Transaction, parts: readonly Part[]): Promise<ReadonlyMap<number, bigint>> {
    const first = new Map<number, bigint>();
    const rest = new Map<number, readonly NewRecord[]>(parts.map(({ partition, append }) => [partition, append]));
    for (;;) {
      const request = [...rest].flatMap(([partition, records]) => {
        const part = records.slice(0, fitting(records, sizeOf, SEND_LIMITS));
        rest.set(partition, records.slice(part.length));
        return part;
      });
      if (request.length === 0) return first;
      const answers = await transaction.send({
        topic: this.#topic,
        acks: -1,
        compression: this.#compression,
        messages: request.map(toMessage),
      });
      for (const partition of new Set(request.map((record) => record.partition))) {
        const base = answers.find((answer) => answer.partition === partition)?.baseOffset;
        // The library leaves out partitions without a leader.
        if (base === undefined) throw new Error(`Partition ${partition} of the events has no leader`);
        if (!first.has(partition)) first.set(partition, BigInt(base));
      }
    }
  }

  async #sendOffsets(transaction: Transaction, parts: readonly Part[]): Promise<void> {
    const consumed = parts.flatMap((part) =>
      part.consumed === null ? [] : [{ partition: part.partition, ...part.consumed }],
    );
    if (consumed.length === 0) return;
    const topics = [...Map.groupBy(consumed, ({ topic }) => topic)].map(([topic, offsets]) => ({
      topic: this.#names.topic(topic),
      // The library's types lack the note.
      partitions: offsets.map(({ partition, offset, note }) => ({ partition, offset: String(offset), metadata: note })),
    }));
    for (let tries = 1; ; tries++) {
      try {
        return await transaction.sendOffsets({ consumerGroupId: this.#names.group(OWNER_GROUP), topics });
      } catch (error) {
        // The coordinator still writes the last transaction's markers, for some milliseconds.
        if (brokerErrorType(error) !== 'CONCURRENT_TRANSACTIONS' || tries === BUSY_TRIES) throw error;
        await pause(BUSY_PAUSE_MS);
      }
    }
  }
}
