import type { Producer } from 'kafkajs';
import type { Names } from '../names.ts';
import type { BrokerClock } from '../port.ts';
import { BRIEF_RETRY, createClient } from './client.ts';
import type { EventLogOptions } from './options.ts';

/** A slower response would prove nothing about a clock. */
const TIMEOUT_MS = 4_000;

/**
 * Kafka has no request for a broker's time, but tells when it appended a record. The records are kept for an hour and
 * read by no service.
 */
export class KafkaBrokerClock implements BrokerClock {
  readonly #options: EventLogOptions;
  readonly #names: Names;
  #producer: Promise<Producer> | null = null;
  #turn: number;

  constructor(options: EventLogOptions, names: Names) {
    this.#options = options;
    this.#names = names;
    this.#turn = Math.floor(Math.random() * options.partitions);
  }

  async read(): Promise<number> {
    const topic = this.#names.topic('service.clock');
    const partition = this.#turn++ % this.#options.partitions;
    try {
      const producer = await (this.#producer ??= this.#connect());
      // Appended by the leader alone: its time is known then, and the record itself may be lost.
      const [response] = await producer.send({
        topic,
        acks: 1,
        timeout: TIMEOUT_MS,
        messages: [{ partition, value: this.#options.clientId }],
      });
      const time = Number(response?.logAppendTime ?? -1);
      if (time < 0) throw new Error(`${topic} has no leader for partition ${partition}, or no LogAppendTime.`);
      return time;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const producer = this.#producer;
    this.#producer = null;
    // A producer that never connected or lost its connection has nothing to close.
    await producer?.then((open) => open.disconnect()).catch(() => undefined);
  }

  async #connect(): Promise<Producer> {
    const producer = createClient(this.#options, 'clock', BRIEF_RETRY, { timeoutMs: TIMEOUT_MS }).producer({
      allowAutoTopicCreation: false,
      retry: BRIEF_RETRY,
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition ?? 0,
    });
    await producer.connect();
    return producer;
  }
}
