import { pause } from '@pf/runtime';
import type { Kafka, Producer, Transaction } from 'kafkajs';
import { QUICK_RETRY } from '../kafka/client.ts';
import { askLess } from '../kafka/cluster.ts';
import { brokerErrorType } from '../errors.ts';
import { type Names, OWNER_GROUP } from '../names.ts';
import type { InputTopic, NewRecord } from '../port.ts';
import { fitting, sizeOf, toMessage } from '../record.ts';

/** The coordinator aborts a transaction that stays open this long, because its writer has died. */
const TRANSACTION_TIMEOUT_MS = 15_000;
/** The broker permanently refuses requests of 1 MiB. */
const SEND_LIMITS = { count: 10_000, bytes: 512 * 1024 };
const BUSY_PAUSE_MS = 5;
const BUSY_TRIES = 200;

/** The input that a transaction consumes: all records of the topic's partition below `offset`. */
export interface Consumed {
  readonly topic: InputTopic;
  readonly offset: bigint;
}

/**
 * The only writer of a partition of intent.events. After any error close it, open another, and read the log to learn
 * whether the commit succeeded.
 */
export class PartitionWriter {
  readonly #producer: Producer;
  readonly #names: Names;
  readonly #partition: number;

  private constructor(producer: Producer, names: Names, partition: number) {
    this.#producer = producer;
    this.#names = names;
    this.#partition = partition;
  }

  /** Takes the partition's transactional id, which fences the earlier writer and aborts its open transaction. */
  static async open(client: Kafka, names: Names, partition: number): Promise<PartitionWriter> {
    const producer = askLess(client, names.topic('intent.events')).producer({
      transactionalId: names.transactionalId(partition),
      idempotent: true,
      maxInFlightRequests: 1,
      transactionTimeout: TRANSACTION_TIMEOUT_MS,
      allowAutoTopicCreation: false,
      retry: QUICK_RETRY,
      createPartitioner: () => () => partition,
    });
    const writer = new PartitionWriter(producer, names, partition);
    try {
      await producer.connect();
      // The library requests the id only with the first transaction; an empty one ends without a request.
      await (await producer.transaction()).abort();
      return writer;
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  /**
   * Appends the records and moves the consumed offset, both or neither.
   *
   * @returns the offset of the first record, which the others follow without a gap; null where there are none
   * @throws when refused, fenced or without a response; the transaction may still have been committed
   */
  async commit(append: readonly NewRecord[], consumed: Consumed | null): Promise<bigint | null> {
    const transaction = await this.#producer.transaction();
    // Records first: a transaction that begins with offsets often finds the coordinator busy with the last one.
    const base = await this.#send(transaction, append);
    if (consumed) await this.#sendOffset(transaction, consumed);
    await transaction.commit();
    return base;
  }

  async close(): Promise<void> {
    try {
      await this.#producer.disconnect();
    } catch {
      // The connection was lost before: there is nothing to close.
    }
  }

  async #send(transaction: Transaction, append: readonly NewRecord[]): Promise<bigint | null> {
    let base: bigint | null = null;
    for (let rest = append; rest.length > 0;) {
      const part = rest.slice(0, fitting(rest, sizeOf, SEND_LIMITS));
      const [answer] = await transaction.send({
        topic: this.#names.topic('intent.events'),
        acks: -1,
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
