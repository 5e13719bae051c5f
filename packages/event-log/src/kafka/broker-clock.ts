import type { Producer } from 'kafkajs';
import type { Names } from '../names.ts';
import { type BrokerClock, SILENT } from '../port.ts';
import { BRIEF_RETRY, createClient, createProducer } from './client.ts';
import { askLess, type Cluster } from './cluster.ts';
import { MajorityClock } from './majority-clock.ts';
import type { EventLogOptions } from './options.ts';

/** A slower response would prove nothing about a clock. */
const TIMEOUT_MS = 4_000;

interface Connected {
  readonly producer: Producer;
  readonly cluster: Cluster;
}

/**
 * Kafka has no request for a broker's time, but tells when it appended a record. The records are kept for an hour and
 * read by no service.
 */
export class KafkaBrokerClock implements BrokerClock {
  readonly #options: EventLogOptions;
  readonly #topic: string;
  readonly #partitions: readonly number[];
  readonly #clock: MajorityClock;
  #connected: Promise<Connected> | null = null;
  #turn: number;

  constructor(options: EventLogOptions, names: Names) {
    this.#options = options;
    this.#topic = names.topic('service.clock');
    this.#partitions = Array.from({ length: options.partitions }, (_, partition) => partition);
    this.#clock = new MajorityClock(options.logger ?? SILENT);
    this.#turn = Math.floor(Math.random() * options.partitions);
  }

  async read(): Promise<number> {
    try {
      const connected = await (this.#connected ??= this.#connect());
      const leaders = await connected.cluster.leaders(this.#topic, this.#partitions);
      const turn = this.#turn++;
      return await this.#clock.read(
        new Map(
          [...leaders].map(([broker, led]) => [
            broker,
            () => this.#ask(connected, broker, led[turn % led.length] ?? 0),
          ]),
        ),
      );
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const connected = this.#connected;
    this.#connected = null;
    // A producer that never connected or lost its connection has nothing to close.
    await connected?.then(({ producer }) => producer.disconnect()).catch(() => undefined);
  }

  /** The time of the broker that leads the partition. */
  async #ask({ producer, cluster }: Connected, broker: string, partition: number): Promise<number> {
    // Appended by the leader alone: its time is known then, and the record itself may be lost.
    const [response] = await producer.send({
      topic: this.#topic,
      acks: 1,
      timeout: TIMEOUT_MS,
      messages: [{ partition, value: this.#options.clientId }],
    });
    const time = Number(response?.logAppendTime ?? -1);
    if (time < 0) throw new Error(`${this.#topic} has no leader for partition ${partition}, or no LogAppendTime.`);
    // The library repeats a request at a new leader, whose time must not count twice.
    if (!(await cluster.leaders(this.#topic, [partition])).has(broker))
      throw new Error(`Broker ${broker} no longer leads partition ${partition} of ${this.#topic}.`);
    return time;
  }

  async #connect(): Promise<Connected> {
    const client = createClient(this.#options, 'clock', BRIEF_RETRY, { timeoutMs: TIMEOUT_MS });
    const { kafka, cluster } = askLess(client, this.#topic);
    const producer = createProducer(kafka);
    await producer.connect();
    return { producer, cluster: cluster() };
  }
}
