import { pause } from '@pf/runtime';
import type { CompressionTypes, Kafka, Producer, Transaction } from 'kafkajs';
import { QUICK_RETRY } from './client.ts';
import { askLess, type Cluster } from './cluster.ts';
import { endHangingTransactions } from './hanging-transaction.ts';
import type { Lifeline } from './lifeline.ts';
import { toMessage } from './record.ts';
import type { TransactionState } from './transaction-requests.ts';
import { brokerErrorType } from '../errors.ts';
import { type Names, OWNER_GROUP } from '../names.ts';
import type { LogSink, NewRecord } from '../port.ts';
import { fitting, sizeOf } from '../record.ts';
import type { Consumed, PartitionWriter } from '../transport.ts';

/** The coordinator aborts a transaction that stays open this long, because its writer has died. */
const TRANSACTION_TIMEOUT_MS = 15_000;
/** The broker permanently refuses requests of 1 MiB. */
const SEND_LIMITS = { count: 10_000, bytes: 512 * 1024 };
const BUSY_PAUSE_MS = 5;
const BUSY_TRIES = 200;

export interface WriterOptions {
  readonly names: Names;
  readonly partition: number;
  /** What coordinators knew before this process fenced, by partition. Shared by attempts to open a writer. */
  readonly formerStates: Map<number, TransactionState>;
  /** The position up to which the partition is projected; asked only where a transaction hangs. */
  readonly projected: () => Promise<bigint>;
  readonly log: LogSink;
  readonly compression: CompressionTypes;
  /** Of the client's connections. */
  readonly lifeline: Lifeline;
}

/** A transactional producer of one partition. */
export class KafkaPartitionWriter implements PartitionWriter {
  readonly #producer: Producer;
  readonly #names: Names;
  readonly #partition: number;
  readonly #compression: CompressionTypes;
  readonly #cluster: Cluster;
  readonly #lifeline: Lifeline;

  private constructor(
    producer: Producer,
    cluster: Cluster,
    {
      names,
      partition,
      compression,
      lifeline,
    }: Pick<WriterOptions, 'names' | 'partition' | 'compression' | 'lifeline'>,
  ) {
    this.#producer = producer;
    this.#cluster = cluster;
    this.#names = names;
    this.#partition = partition;
    this.#compression = compression;
    this.#lifeline = lifeline;
  }

  /**
   * Takes the partition's transactional id, which fences the earlier writer and aborts its open transaction, and ends
   * transactions that hang.
   */
  static async open(client: Kafka, options: WriterOptions): Promise<KafkaPartitionWriter> {
    const { names, partition, formerStates, projected, log } = options;
    const topic = names.topic('intent.events');
    const transactionalId = names.transactionalId(partition);
    const asking = askLess(client, topic);
    const producer = asking.kafka.producer({
      transactionalId,
      idempotent: true,
      maxInFlightRequests: 1,
      transactionTimeout: TRANSACTION_TIMEOUT_MS,
      allowAutoTopicCreation: false,
      retry: QUICK_RETRY,
      createPartitioner: () => () => partition,
    });
    const cluster = asking.cluster();
    const writer = new KafkaPartitionWriter(producer, cluster, options);
    try {
      await producer.connect();
      // The fence erases what the coordinator knows. If what follows fails, the next attempt needs it.
      const state = await cluster.transaction(transactionalId);
      if (state !== null && state.state !== 'Empty') formerStates.set(partition, state);
      // The library requests the id only with the first transaction; an empty one ends without a request.
      await (await producer.transaction()).abort();
      const former = formerStates.get(partition) ?? null;
      await endHangingTransactions({ cluster, topic, partition, former, projected, log });
      formerStates.delete(partition);
      return writer;
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  async commit(append: readonly NewRecord[], consumed: Consumed | null): Promise<bigint | null> {
    if (this.#lifeline.isCut) {
      this.#lifeline.mend();
      await this.#lifeline.during(() => this.#requireEnded());
    }
    return this.#lifeline.during(() => this.#transact(append, consumed));
  }

  async close(): Promise<void> {
    try {
      await this.#producer.disconnect();
    } catch {
      // The connection was lost before: there is nothing to close.
    }
  }

  /**
   * After a lost connection the coordinator may be another, or the same one started again, that left the last commit
   * without its marker. Records appended now would belong to that transaction.
   */
  async #requireEnded(): Promise<void> {
    if ((await this.#cluster.openTransactions(this.#names.topic('intent.events'), this.#partition)).length > 0)
      throw new Error(`Partition ${this.#partition} has an open transaction after a lost connection.`);
  }

  async #transact(append: readonly NewRecord[], consumed: Consumed | null): Promise<bigint | null> {
    const transaction = await this.#producer.transaction();
    // Records first: a transaction that begins with offsets often finds the coordinator busy with the last one.
    const base = await this.#send(transaction, append);
    if (consumed) await this.#sendOffset(transaction, consumed);
    await transaction.commit();
    return base;
  }

  async #send(transaction: Transaction, append: readonly NewRecord[]): Promise<bigint | null> {
    let base: bigint | null = null;
    for (let rest = append; rest.length > 0;) {
      const part = rest.slice(0, fitting(rest, sizeOf, SEND_LIMITS));
      const [answer] = await transaction.send({
        topic: this.#names.topic('intent.events'),
        acks: -1,
        compression: this.#compression,
        messages: part.map(toMessage),
      });
      if (answer?.baseOffset === undefined) throw new Error(`Partition ${this.#partition} of the events has no leader`);
      base ??= BigInt(answer.baseOffset);
      rest = rest.slice(part.length);
    }
    return base;
  }

  async #sendOffset(transaction: Transaction, { topic, offset }: Consumed): Promise<void> {
    const offsets = {
      consumerGroupId: this.#names.group(OWNER_GROUP),
      topics: [
        { topic: this.#names.topic(topic), partitions: [{ partition: this.#partition, offset: String(offset) }] },
      ],
    };
    for (let tries = 1; ; tries++) {
      try {
        return await transaction.sendOffsets(offsets);
      } catch (error) {
        // The coordinator still writes the last transaction's markers, for some milliseconds.
        if (brokerErrorType(error) !== 'CONCURRENT_TRANSACTIONS' || tries === BUSY_TRIES) throw error;
        await pause(BUSY_PAUSE_MS);
      }
    }
  }
}
