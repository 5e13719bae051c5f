import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EventLog, LogReader, NewRecord, RecordBatch } from '../../src/index.ts';
import { Names } from '../../src/names.ts';
import { kafkaTransport } from '../../src/kafka/transport.ts';
import type { PartitionWriter } from '../../src/transport.ts';
import { abandon } from '../abandon.ts';
import { collect, freshLog, freshOptions, PARTITIONS, until } from '../stack.ts';

// A busy machine may be slow.
describe('LogReader', () => {
  const options = freshOptions();
  const names = new Names(options.prefix ?? '');
  let log: EventLog;
  let reader: LogReader;

  beforeAll(async () => {
    log = await freshLog(options);
    reader = await log.reader('test');
  });
  afterAll(() => reader.close());

  const openWriter = (partition: number): Promise<PartitionWriter> =>
    kafkaTransport(options, names).openWriter(partition);
  const event = (partition: number, value: string): NewRecord => ({ partition, key: 'pi_1', value });
  const valuesOf = (batches: readonly RecordBatch[]): (string | null)[] =>
    batches.flatMap(({ records }) => records.map(({ value }) => value));

  it('reads up to the given end without markers and aborted records', async () => {
    const first = await openWriter(0);
    await first.commit([event(0, 'a'), event(0, 'b')], null, 0n);
    await first.close();
    await abandon(options, 0, ['never 1', 'never 2']);
    const second = await openWriter(0);
    await second.commit([event(0, 'c')], null, 6n);
    const end = 8n;
    await until(async () => (await reader.endOffset('intent.events', 0)) === end, 'the commit to be visible');
    const batches = await collect(reader.read('intent.events', 0, 0n, end));
    expect(valuesOf(batches)).toEqual(['a', 'b', 'c']);
    expect(batches.flatMap(({ records }) => records.map(({ offset }) => offset))).toEqual([0n, 1n, 6n]);
    expect(batches.at(-1)?.next).toBe(end);
    expect(valuesOf(await collect(reader.read('intent.events', 0, 1n, 2n)))[0]).toBe('b');
    expect(await collect(reader.read('intent.events', 0, end, end))).toEqual([]);
    await second.close();
  });

  it('has the end of the log before an open transaction', async () => {
    await abandon(options, 1, ['open']);
    expect(await reader.endOffset('intent.events', 1)).toBe(0n);
    const next = await openWriter(1);
    expect(await reader.endOffset('intent.events', 1)).toBe(2n);
    await next.close();
  });

  it('returns the ends of all partitions', async () => {
    const publisher = await log.publisher();
    // One by one: a batch is sent again as a whole when the leader of one of its new partitions is not ready.
    for (const partition of [0, 0, 3]) await publisher.publish('intent.dead', event(partition, 'x'));
    expect(await reader.endOffsets('intent.dead')).toEqual([2n, 0n, 0n, 1n, 0n, 0n]);
    await publisher.close();
  });

  it('follows all partitions until the signal aborts', async () => {
    const stop = new AbortController();
    const seen: { value: string | null; partition: number; after: number }[] = [];
    const from = new Map(Array.from({ length: PARTITIONS }, (_, partition) => [partition, 0n] as const));
    const following = (async () => {
      for await (const { partition, records } of reader.follow('chain.observations', from, stop.signal))
        seen.push(...records.map(({ value }) => ({ value, partition, after: performance.now() - Number(value) })));
    })();
    const publisher = await log.publisher();
    for (let index = 0; index < 30; index++) {
      await publisher.publish('chain.observations', event(index % PARTITIONS, String(performance.now())));
      await until(() => seen.length === index + 1, 'the record to come');
    }
    expect(new Set(seen.map(({ partition }) => partition)).size).toBe(PARTITIONS);
    // Far below the second that an idle request is held: the broker responds when a record arrives.
    expect(seen.map(({ after }) => after).toSorted((a, b) => a - b)[15]).toBeLessThan(400);
    stop.abort();
    await following;
    await publisher.close();
  });

  it('ends with an error when the log ends before the end that was asked for, instead of waiting forever', async () => {
    const writer = await openWriter(3);
    await writer.commit([event(3, 'a')], null, 0n);
    await writer.close();
    await until(async () => (await reader.endOffset('intent.events', 3)) === 2n, 'the commit');
    await expect(collect(reader.read('intent.events', 3, 0n, 100n))).rejects.toThrow('ends at 2 and should go on');
  });

  it('throws when a position is beyond the log, instead of retrying forever', async () => {
    await expect(collect(reader.read('intent.dead', 5, 1_000n, 1_001n))).rejects.toThrow('not within the range');
    await expect(
      collect(reader.follow('intent.dead', new Map([[5, 1_000n]]), new AbortController().signal)),
    ).rejects.toThrow('not within the range');
  });
});

describe('PartitionWriter', () => {
  const options = freshOptions();
  const names = new Names(options.prefix ?? '');
  const openWriter = (): Promise<PartitionWriter> => kafkaTransport(options, names).openWriter(0);

  it('is fenced by the next one, and its later commit is never visible', async () => {
    const log = await freshLog(options);
    const reader = await log.reader('test');
    const former = await openWriter();
    await former.commit([{ partition: 0, key: 'k', value: 'former' }], null, 0n);
    const present = await openWriter();
    await expect(
      former.commit([{ partition: 0, key: 'k', value: 'stale' }], { topic: 'intent.commands', offset: 7n }, 2n),
    ).rejects.toThrow();
    await expect(former.commit([], { topic: 'intent.commands', offset: 8n }, 2n)).rejects.toThrow();
    await present.commit([{ partition: 0, key: 'k', value: 'present' }], { topic: 'intent.commands', offset: 1n }, 2n);
    // Two records and two markers: a commit is visible to readers some milliseconds after it resolves.
    await until(async () => (await reader.endOffset('intent.events', 0)) === 4n, 'both commits to be visible');
    const batches = await collect(reader.read('intent.events', 0, 0n, 4n));
    expect(batches.flatMap(({ records }) => records.map(({ value }) => value))).toEqual(['former', 'present']);
    await until(
      async () => (await reader.committed('intent', 'intent.commands', 0)) === 1n,
      'the offset to be committed',
    );
    await Promise.all([former.close(), present.close(), reader.close()]);
  });

  it('commits more than one request can hold as one transaction', async () => {
    const reader = await (await freshLog(options)).reader('test');
    const writer = await openWriter();
    const from = await reader.endOffset('intent.events', 0);
    const append = Array.from({ length: 40 }, (_, index) => ({
      partition: 0,
      key: 'k',
      value: `${index} ${'x'.repeat(50_000)}`,
    }));
    await writer.commit(append, { topic: 'intent.commands', offset: 2n }, from);
    await until(async () => (await reader.endOffset('intent.events', 0)) === from + 41n, 'the transaction to end');
    const batches = await collect(reader.read('intent.events', 0, from, from + 41n));
    expect(batches.flatMap(({ records }) => records)).toHaveLength(40);
    await Promise.all([writer.close(), reader.close()]);
  });
});
