import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { BRIEF_RETRY, createClient } from '../src/kafka/client.ts';
import {
  type EventLog,
  type EventLogOptions,
  type LogReader,
  LogUnavailableError,
  type NewRecord,
  type Publisher,
} from '../src/index.ts';
import { KafkaProducer } from '../src/kafka/producer.ts';
import { Names } from '../src/names.ts';
import { BatchingPublisher } from '../src/publisher.ts';
import { sizeOf } from '../src/record.ts';
import type { LogProducer } from '../src/transport.ts';
import { collect, freshLog, freshOptions, PARTITIONS, until } from './stack.ts';

// A busy machine may be slow.
/** A connection to the real broker that the test can delay or cut, and that records the requests. */
class Line {
  readonly #options: EventLogOptions;
  /** The size of each request's records, in bytes. */
  readonly requests: number[] = [];
  cut = false;
  hold: Promise<void> = Promise.resolve();

  constructor(options: EventLogOptions) {
    this.#options = options;
  }

  readonly open = async (): Promise<LogProducer> => {
    if (this.cut) throw new Error('cut');
    const producer = await KafkaProducer.open(
      createClient(this.#options, 'test', BRIEF_RETRY),
      new Names(this.#options.prefix ?? ''),
    );
    return {
      send: async (records) => {
        this.requests.push(records.reduce((sum, { record }) => sum + sizeOf(record), 0));
        await this.hold;
        if (this.cut) throw new Error('cut');
        await producer.send(records);
      },
      close: () => producer.close(),
    };
  };
}

describe('Publisher', () => {
  const options = freshOptions();
  let log: EventLog;
  let reader: LogReader;

  beforeAll(async () => {
    log = await freshLog(options);
    reader = await log.reader('test');
  });
  afterAll(() => reader.close());

  const publishers: Publisher[] = [];
  afterEach(async () => {
    await Promise.all(publishers.splice(0).map((publisher) => publisher.close()));
  });

  function publisherOn(line: Line): BatchingPublisher {
    const publisher = new BatchingPublisher({ openProducer: line.open, partitions: PARTITIONS });
    publishers.push(publisher);
    return publisher;
  }

  const record = (partition: number, value: string): NewRecord => ({ partition, key: 'pi_test', value });

  /** Values of a partition of the dead letters from `from` on; only this test uses that topic. */
  async function valuesFrom(partition: number, from: bigint): Promise<(string | null)[]> {
    const values: (string | null)[] = [];
    for await (const { records } of reader.read(
      'intent.dead',
      partition,
      from,
      await reader.endOffset('intent.dead', partition),
    ))
      values.push(...records.map(({ value }) => value));
    return values;
  }

  it('sends the records that queued during a request together in the next one, in order', async () => {
    const line = new Line(options);
    const publisher = publisherOn(line);
    const from = await reader.endOffset('intent.dead', 0);
    const gate = Promise.withResolvers<void>();
    line.hold = gate.promise;
    const first = publisher.publish('intent.dead', record(0, 'first'));
    await until(() => line.requests.length === 1, 'the first request');
    const rest: Promise<void>[] = [];
    for (let index = 0; index < 500; index++) {
      rest.push(publisher.publish('intent.dead', record(0, String(index))));
      if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(line.requests).toHaveLength(1);
    gate.resolve();
    await Promise.all([first, ...rest]);
    expect(line.requests).toHaveLength(2);
    expect(await valuesFrom(0, from)).toEqual(['first', ...Array.from({ length: 500 }, (_, index) => String(index))]);
  });

  it('puts at most 512 KiB into a request', async () => {
    const line = new Line(options);
    const publisher = publisherOn(line);
    await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        publisher.publish('intent.dead', record(index % PARTITIONS, 'x'.repeat(4_096))),
      ),
    );
    expect(line.requests).toHaveLength(3);
    expect(Math.max(...line.requests)).toBeLessThanOrEqual(512 * 1024);
  });

  it('never sends a record whose deadline passed while the broker was unavailable', async () => {
    const line = new Line(options);
    line.cut = true;
    const publisher = publisherOn(line);
    const from = await reader.endOffset('intent.dead', 1);
    const late = publisher.publish('intent.dead', record(1, 'late'), AbortSignal.timeout(100));
    const patient = publisher.publish('intent.dead', record(1, 'patient'), AbortSignal.timeout(10_000));
    await expect(late).rejects.toThrow(LogUnavailableError);
    line.cut = false;
    await patient;
    expect(await valuesFrom(1, from)).toEqual(['patient']);
  });

  it('stops waiting for a record in flight at its deadline', async () => {
    const line = new Line(options);
    const publisher = publisherOn(line);
    const gate = Promise.withResolvers<void>();
    line.hold = gate.promise;
    await expect(publisher.publish('intent.dead', record(2, 'under way'), AbortSignal.timeout(50))).rejects.toThrow(
      'did not respond in time',
    );
    gate.resolve();
  });

  it('sends key and headers, and the record gets the time of the broker', async () => {
    const publisher = publisherOn(new Line(options));
    const before = Date.now();
    await publisher.publish('chain.observations', {
      partition: 3,
      key: 'pi_1',
      value: '{"ünïcode":1}',
      headers: { traceparent: '00-a-b-01', requestId: 'req_1' },
    });
    const [batch] = await collect(reader.read('chain.observations', 3, 0n, 1n));
    expect(batch?.records[0]).toMatchObject({
      topic: 'chain.observations',
      partition: 3,
      offset: 0n,
      key: 'pi_1',
      value: '{"ünïcode":1}',
      headers: { traceparent: '00-a-b-01', requestId: 'req_1' },
    });
    // The broker runs on this machine.
    expect(batch?.records[0]?.timestamp).toBeGreaterThanOrEqual(before - 1);
    expect(batch?.records[0]?.timestamp).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('rejects records that can never be sent, and any record after close', async () => {
    const publisher = publisherOn(new Line(options));
    await expect(publisher.publish('intent.dead', record(PARTITIONS, 'x'))).rejects.toThrow(RangeError);
    await expect(publisher.publish('intent.dead', record(0, 'x'.repeat(513 * 1024)))).rejects.toThrow(RangeError);
    await publisher.close();
    await expect(publisher.publish('intent.dead', record(0, 'x'))).rejects.toThrow(LogUnavailableError);
  });

  it('fails at once when no broker is reachable', async () => {
    const nowhere = publisherOn(new Line({ ...options, brokers: ['127.0.0.1:9'] }));
    await expect(nowhere.connect()).rejects.toThrow(LogUnavailableError);
  });
});
