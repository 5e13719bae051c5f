import type { CompressionTypes, Kafka, Producer, TopicMessages } from 'kafkajs';
import { createProducer } from './client.ts';
import { compressionType } from './compression.ts';
import { toMessage } from './record.ts';
import type { Names } from '../names.ts';
import type { Addressed, LogProducer } from '../transport.ts';

/** How long the brokers may take to replicate the records of one request. */
const ACKNOWLEDGE_MS = 5_000;

/** A producer without idempotence. */
export class KafkaProducer implements LogProducer {
  readonly #producer: Producer;
  readonly #names: Names;
  readonly #compression: CompressionTypes;

  private constructor(producer: Producer, names: Names, compression: CompressionTypes) {
    this.#producer = producer;
    this.#names = names;
    this.#compression = compression;
  }

  static async open(client: Kafka, names: Names, compression = compressionType()): Promise<KafkaProducer> {
    const producer = createProducer(client);
    await producer.connect();
    return new KafkaProducer(producer, names, compression);
  }

  async send(records: readonly Addressed[]): Promise<void> {
    const topicMessages: TopicMessages[] = [...Map.groupBy(records, ({ topic }) => topic)].map(
      ([topic, addressed]) => ({
        topic: this.#names.topic(topic),
        messages: addressed.map(({ record }) => toMessage(record)),
      }),
    );
    const answers = await this.#producer.sendBatch({
      acks: -1,
      timeout: ACKNOWLEDGE_MS,
      compression: this.#compression,
      topicMessages,
    });
    // The library skips partitions without a leader and reports success.
    const answered = new Set(answers.map(({ topicName, partition }) => `${topicName}/${partition}`));
    const silent = records.find(
      ({ topic, record }) => !answered.has(`${this.#names.topic(topic)}/${record.partition}`),
    );
    if (silent) throw new Error(`${this.#names.topic(silent.topic)} has no partition ${silent.record.partition}`);
  }

  async close(): Promise<void> {
    try {
      await this.#producer.disconnect();
    } catch {
      // The connection was lost before: there is nothing to close.
    }
  }
}
