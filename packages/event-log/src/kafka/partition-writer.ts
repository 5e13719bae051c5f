import { pause } from '@pf/runtime';
import type { CompressionTypes, Kafka, Producer, Transaction } from 'kafkajs';
import { QUICK_RETRY } from './client.ts';
import { askLess, type Cluster } from './cluster.ts';
import { fenceFormerOwner, type FormerState } from './hanging-transaction.ts';
import type { Lifeline } from './lifeline.ts';
import { toMessage } from './record.ts';
import { brokerErrorType } from '../errors.ts';
import { type Names, OWNER_GROUP } from '../names.ts';
import { type LogSink, LogTruncatedError, type NewRecord } from '../port.ts';
import { fitting, sizeOf } from '../record.ts';
import type { Consumed, PartitionWriter } from '../transport.ts';

/** The coordinator aborts a transaction that stays open this long, because its writer has died. */
const TRANSACTION_TIMEOUT_MS = 15_000;
/** The broker permanently refuses requests of 1 MiB. */
const SEND_LIMITS = { count: 10_000, bytes: 512 * 1024 };
const BUSY_PAUSE_MS = 5;
const BUSY_TRIES = 200;
/** Records and offset of a transaction are sent side by side. */
const REQUESTS_AT_ONCE = 2;

export interface WriterOptions {
  readonly names: Names;
  readonly partition: number;
  readonly formerStates: Map<number, FormerState>;
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
  /** The cluster's name of intent.events. */
  readonly #topic: string;
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
    this.#topic = names.topic('intent.events');
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
      maxInFlightRequests: REQUESTS_AT_ONCE,
      transactionTimeout: TRANSACTION_TIMEOUT_MS,
      allowAutoTopicCreation: false,
      retry: QUICK_RETRY,
      createPartitioner: () => () => partition,
    });
    const cluster = asking.cluster();
    const writer = new KafkaPartitionWriter(producer, cluster, options);
    try {
      await producer.connect();
      // The library requests the id only with the first transaction; an empty one ends without a request.
      const fence = async (): Promise<void> => (await producer.transaction()).abort();
      await fenceFormerOwner({ cluster, topic, partition, transactionalId, fence, formerStates, projected, log });
      return writer;
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  endsAt(position: bigint): Promise<boolean> {
    // After a lost connection the coordinator may be another, or the same one started again: it is only asked here, and
    // nothing is in progress.
    this.#lifeline.mend();
    return this.#lifeline.during(() => this.#cluster.endsAt(this.#topic, this.#partition, position));
  }

  commit(append: readonly NewRecord[], consumed: Consumed | null, at: bigint): Promise<void> {
    return this.#lifeline.during(() => this.#transact(append, consumed, at));
  }

  async close(): Promise<void> {
    try {
      await this.#producer.disconnect();
    } catch {
      // The connection was lost before: there is nothing to close.
    }
  }

  async #transact(append: readonly NewRecord[], consumed: Consumed | null, at: bigint): Promise<void> {
    const transaction = await this.#producer.transaction();
    // Side by side: three round trips instead of five. Nothing ends the transaction while one of them is under way.
    const [sent, moved] = await Promise.allSettled([
      this.#send(transaction, append),
      consumed ? this.#sendOffset(transaction, consumed) : undefined,
    ]);
    if (sent.status === 'rejected') throw sent.reason;
    if (sent.value !== null && sent.value !== at) {
      // Where that fails too, the next writer's fence aborts it.
      await transaction.abort().catch(() => undefined);
      throw new (sent.value < at ? LogTruncatedError : Error)(
        `Partition ${this.#partition}: the first record got the offset ${sent.value} instead of ${at}: ` +
          'nothing is committed.',
      );
    }
    if (moved.status === 'rejected') throw moved.reason;
    await transaction.commit();
  }

  async #send(transaction: Transaction, append: readonly NewRecord[]): Promise<bigint | null> {
    let base: bigint | null = null;
    for (let rest = append; rest.length > 0;) {
      const part = rest.slice(0, fitting(rest, sizeOf, SEND_LIMITS));
      const [answer] = await transaction.send({
        topic: this.#topic,
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
