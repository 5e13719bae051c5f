import { BackOff, count, errorTypeOf, recordDuration } from '@pf/runtime';
import type { Producer, TopicMessages } from 'kafkajs';
import { asError, isRefusal } from './errors.ts';
import type { Names } from './names.ts';
import { LogUnavailableError, type NewRecord, type Publisher, type Topic } from './port.ts';
import { fitting, sizeOf, toMessage } from './record.ts';

/** The broker permanently refuses more than 1 MiB for a partition: all of them together stay well below. */
const REQUEST_LIMITS = { count: 10_000, bytes: 512 * 1024 };
/** For records without a deadline of their own: long enough for a broker to restart. */
const PATIENCE_MS = 10_000;
/** How long the brokers may take to replicate the records of one request. */
const ACKNOWLEDGE_MS = 5_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

const SENDING = { 'messaging.system': 'kafka', 'messaging.operation.name': 'send' } as const;

interface Waiting {
  readonly topic: Topic;
  readonly record: NewRecord;
  readonly bytes: number;
  /** False once the caller's promise is settled: the record is no longer sent. */
  open(): boolean;
  accept(): void;
  refuse(error: Error): void;
}

/** Sends the records that queued while the last request was in flight, one request at a time, in order. */
export class KafkaPublisher implements Publisher {
  readonly #openProducer: () => Promise<Producer>;
  readonly #names: Names;
  readonly #partitions: number;
  readonly #queue: Waiting[] = [];
  #producer: Promise<Producer> | null = null;
  #sending: Promise<void> | null = null;
  #closed = false;

  /** @param openProducer connects a producer; called again after a failure */
  constructor(openProducer: () => Promise<Producer>, names: Names, partitions: number) {
    this.#openProducer = openProducer;
    this.#names = names;
    this.#partitions = partitions;
  }

  /** @throws LogUnavailableError when no broker can be reached */
  async connect(): Promise<void> {
    try {
      await this.#connected();
    } catch (error) {
      throw new LogUnavailableError(`No broker is reachable: ${asError(error).message}`, { cause: error });
    }
  }

  publish(topic: Exclude<Topic, 'intent.events'>, record: NewRecord, deadline?: AbortSignal): Promise<void> {
    const bytes = sizeOf(record);
    if (!Number.isInteger(record.partition) || record.partition < 0 || record.partition >= this.#partitions)
      return Promise.reject(new RangeError(`There is no partition ${record.partition}.`));
    if (bytes > REQUEST_LIMITS.bytes)
      return Promise.reject(new RangeError(`A record of ${bytes} bytes is too large for the log.`));
    if (this.#closed) return Promise.reject(new LogUnavailableError('The publisher is closed'));
    if (deadline?.aborted)
      return Promise.reject(new LogUnavailableError('The deadline has passed', { cause: deadline.reason }));
    return new Promise((resolve, reject) => {
      this.#queue.push(this.#waiting(topic, record, bytes, deadline, resolve, reject));
      // Not at once: the caller's other records of this turn go in the same request.
      this.#sending ??= Promise.resolve().then(() => this.#drain());
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#sending;
    await this.#dropProducer();
  }

  #waiting(
    topic: Topic,
    record: NewRecord,
    bytes: number,
    deadline: AbortSignal | undefined,
    resolve: () => void,
    reject: (error: Error) => void,
  ): Waiting {
    let open = true;
    const settle = (): boolean => {
      if (!open) return false;
      open = false;
      clearTimeout(timer);
      deadline?.removeEventListener('abort', onDeadline);
      return true;
    };
    const refuse = (error: Error): void => {
      if (settle()) reject(error);
    };
    const onDeadline = (): void =>
      refuse(new LogUnavailableError('The broker did not respond in time', { cause: deadline?.reason }));
    const timer = deadline ? undefined : setTimeout(onDeadline, PATIENCE_MS);
    deadline?.addEventListener('abort', onDeadline);
    return {
      topic,
      record,
      bytes,
      open: () => open,
      refuse,
      accept: () => {
        if (settle()) resolve();
      },
    };
  }

  async #drain(): Promise<void> {
    const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      const began = performance.now();
      try {
        await this.#send(batch);
        recordDuration('messaging.client.operation.duration', began, SENDING);
        for (const waiting of batch) waiting.accept();
        backOff.reset();
      } catch (error) {
        recordDuration('messaging.client.operation.duration', began, { ...SENDING, 'error.type': errorTypeOf(error) });
        await this.#dropProducer();
        if (isRefusal(error)) {
          for (const waiting of batch)
            waiting.refuse(new LogUnavailableError(`The broker refuses: ${asError(error).message}`, { cause: error }));
        } else {
          // Records whose callers still wait are sent again first; after a lost response a record appears twice.
          this.#queue.unshift(...batch);
          await backOff.wait();
        }
      }
    }
    this.#sending = null;
  }

  /** The next request's records, without those whose callers no longer wait. */
  #take(): Waiting[] {
    const open = this.#queue.filter((waiting) => waiting.open());
    const batch = open.slice(
      0,
      fitting(open, ({ bytes }) => bytes, REQUEST_LIMITS),
    );
    this.#queue.splice(0, this.#queue.length, ...open.slice(batch.length));
    return batch;
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    const byTopic = Map.groupBy(batch, ({ topic }) => topic);
    const topicMessages: TopicMessages[] = [...byTopic].map(([topic, waiting]) => ({
      topic: this.#names.topic(topic),
      messages: waiting.map(({ record }) => toMessage(record)),
    }));
    const producer = await this.#connected();
    const answers = await producer.sendBatch({ acks: -1, timeout: ACKNOWLEDGE_MS, topicMessages });
    // The library skips partitions without a leader and reports success.
    const answered = new Set(answers.map(({ topicName, partition }) => `${topicName}/${partition}`));
    const silent = batch.find(({ topic, record }) => !answered.has(`${this.#names.topic(topic)}/${record.partition}`));
    if (silent) throw new Error(`${this.#names.topic(silent.topic)} has no partition ${silent.record.partition}`);
    for (const [topic, waiting] of byTopic)
      count('messaging.client.sent.messages', { ...SENDING, 'messaging.destination.name': topic }, waiting.length);
  }

  async #connected(): Promise<Producer> {
    const opening = (this.#producer ??= this.#openProducer());
    try {
      return await opening;
    } catch (error) {
      this.#producer = null;
      throw error;
    }
  }

  async #dropProducer(): Promise<void> {
    const producer = this.#producer;
    this.#producer = null;
    // A producer that never connected or lost its connection has nothing to close.
    await producer?.then((open) => open.disconnect()).catch(() => undefined);
  }
}
