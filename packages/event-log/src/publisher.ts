import { BackOff, count, errorTypeOf, recordDuration } from '@pf/runtime';
import { asError, isRefusal } from './errors.ts';
import { LogUnavailableError, type NewRecord, type Publisher, type Topic } from './port.ts';
import { fitting, sizeOf } from './record.ts';
import type { Addressed, LogProducer, LogTransport } from './transport.ts';

/** The broker permanently refuses more than 1 MiB for a partition: all of them together stay well below. */
const REQUEST_LIMITS = { count: 10_000, bytes: 512 * 1024 };
/** For records without a deadline of their own: long enough for a broker to restart. */
const PATIENCE_MS = 10_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

const SENDING = { 'messaging.system': 'kafka', 'messaging.operation.name': 'send' } as const;

interface Waiting extends Addressed {
  readonly bytes: number;
  /** False once the caller's promise is settled: the record is no longer sent. */
  open(): boolean;
  accept(): void;
  refuse(error: Error): void;
}

/** Sends the records that queued while the last request was in flight, one request at a time, in order. */
export class BatchingPublisher implements Publisher {
  readonly #transport: Pick<LogTransport, 'openProducer' | 'partitions'>;
  readonly #queue: Waiting[] = [];
  #producer: Promise<LogProducer> | null = null;
  #sending: Promise<void> | null = null;
  #closed = false;

  /** @param transport opens a producer, and another after a failure */
  constructor(transport: Pick<LogTransport, 'openProducer' | 'partitions'>) {
    this.#transport = transport;
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
    if (!Number.isInteger(record.partition) || record.partition < 0 || record.partition >= this.#transport.partitions)
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
    const producer = await this.#connected();
    await producer.send(batch);
    for (const [topic, waiting] of Map.groupBy(batch, (waiting) => waiting.topic))
      count('messaging.client.sent.messages', { ...SENDING, 'messaging.destination.name': topic }, waiting.length);
  }

  async #connected(): Promise<LogProducer> {
    const opening = (this.#producer ??= this.#transport.openProducer());
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
    // A producer that never connected has nothing to close.
    await producer?.then((open) => open.close()).catch(() => undefined);
  }
}
