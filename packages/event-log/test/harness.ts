import type {
  EventLog,
  EventLogOptions,
  InputTopic,
  LogReader,
  LogRecord,
  PartitionOwner,
  Publisher,
  Topic,
} from '../src/index.ts';
import { type Hooks, Ledger, LedgerWork, type TestCommand, type TestEvent } from './ownership/ledger.ts';
import { collect, freshLog, freshOptions, PARTITIONS, until } from './stack.ts';

/** The partition that tests of owners use. */
export const PARTITION = 2;
/** A busy machine may be slow: tests wait this long. */
export const PATIENCE_MS = 60_000;

/** A log for one test file, a ledger, and owners that write to it. */
export class Harness {
  /** Inputs whose outcome an owner of this harness published, without those that a successor found in the log. */
  readonly handled: number[] = [];
  /** Partitions that owners of this harness have lost. */
  readonly lost: number[] = [];
  readonly ledger = new Ledger(':memory:');
  readonly options: EventLogOptions;
  readonly log: EventLog;
  readonly reader: LogReader;
  readonly publisher: Publisher;
  readonly #closing: (() => unknown)[] = [];

  private constructor(options: EventLogOptions, log: EventLog, reader: LogReader, publisher: Publisher) {
    this.options = options;
    this.log = log;
    this.reader = reader;
    this.publisher = publisher;
    this.#closing.push(
      () => this.ledger.close(),
      () => publisher.close(),
      () => reader.close(),
    );
  }

  static async open(): Promise<Harness> {
    const options = freshOptions();
    const log = await freshLog(options);
    return new Harness(options, log, await log.reader('test'), await log.publisher());
  }

  /** Closes after each test what it opened, the last first. */
  onClose(close: () => unknown): void {
    this.#closing.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close();
  }

  send(id: number, more: Partial<TestCommand> = {}, topic: InputTopic = 'intent.commands'): Promise<void> {
    return this.publisher.publish(
      topic,
      { partition: PARTITION, key: String(id), value: JSON.stringify({ id, ...more }) },
      AbortSignal.timeout(PATIENCE_MS),
    );
  }

  /** Work on the ledger that records what it handles and loses. */
  work(hooks: Hooks = {}): LedgerWork {
    return new LedgerWork(this.ledger, {
      published: (_, ids) => this.handled.push(...ids),
      lost: (partition) => this.lost.push(partition),
      ...hooks,
    });
  }

  /** Starts an owner of all partitions. */
  async start(work = this.work()): Promise<PartitionOwner<unknown>> {
    const owner = this.log.partitionOwner(work, (error) => {
      throw error;
    });
    this.onClose(() => owner.stop());
    await owner.start();
    await until(() => owner.owned().length === PARTITIONS, 'all partitions');
    return owner;
  }

  /** The committed records of the topic in the partition. */
  async read(topic: Topic): Promise<readonly LogRecord[]> {
    const batches = await collect(
      this.reader.read(topic, PARTITION, 0n, await this.reader.endOffset(topic, PARTITION)),
    );
    return batches.flatMap(({ records }) => records);
  }

  /** Waits for `count` events of the partition: a commit is visible to readers some milliseconds after it resolves. */
  async events(count: number): Promise<(TestEvent & { readonly offset: bigint })[]> {
    let found = await this.read('intent.events');
    await until(async () => (found = await this.read('intent.events')).length >= count, `${count} events`);
    return found.map(({ value, offset }) => ({ ...(JSON.parse(value ?? '') as TestEvent), offset }));
  }
}
