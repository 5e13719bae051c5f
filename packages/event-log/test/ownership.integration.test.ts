import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createClient, QUICK_RETRY } from '../src/client.ts';
import type { EventLog, EventLogOptions, InputTopic, LogReader, NewRecord, PartitionOwner, Publisher, Topic } from '../src/index.ts';
import { Names } from '../src/names.ts';
import { SILENT } from '../src/options.ts';
import { OwnedPartition } from '../src/owned-partition.ts';
import { PartitionWriter } from '../src/partition-writer.ts';
import { type Hooks, Ledger, LedgerWork } from './ledger.ts';
import { collect, freshLog, freshOptions, PARTITIONS, until } from './stack.ts';

// A busy machine is slow, not wrong.
jest.setTimeout(30_000);

const PARTITION = 2;
const event = (id: number): NewRecord => ({ partition: PARTITION, key: String(id), value: JSON.stringify({ id, version: id }) });

/** Of a log whose topic of commands is not there, so that no offset of it can be moved. */
class NoCommands extends Names {
  override topic(topic: Topic): string {
    return super.topic(topic) + (topic === 'intent.commands' ? '.gone' : '');
  }
}

describe('what an owner may rely on', () => {
  let options: EventLogOptions;
  let log: EventLog;
  let reader: LogReader;
  let publisher: Publisher;
  let ledger: Ledger;
  let handled: number[];
  const closing: (() => Promise<unknown>)[] = [];

  beforeEach(async () => {
    options = freshOptions();
    log = await freshLog(options);
    reader = await log.reader('test');
    publisher = await log.publisher();
    ledger = new Ledger(':memory:');
    handled = [];
    closing.push(() => publisher.close(), () => reader.close());
  });

  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    ledger.close();
  });

  const openWriter = async (names = new Names(options.prefix ?? '')): Promise<PartitionWriter> => {
    const writer = await PartitionWriter.open(createClient(options, 'test', QUICK_RETRY), names, PARTITION);
    closing.push(() => writer.close());
    return writer;
  };
  const send = (id: number, topic: InputTopic = 'intent.commands'): Promise<void> => publisher.publish(topic, { partition: PARTITION, key: String(id), value: JSON.stringify({ id }) });
  const valuesOf = async (): Promise<(string | null)[]> => {
    const batches = await collect(reader.read('intent.events', PARTITION, 0n, await reader.endOffset('intent.events', PARTITION)));
    return batches.flatMap(({ records }) => records.map(({ value }) => value));
  };
  async function start(hooks: Hooks = {}): Promise<PartitionOwner<unknown>> {
    const work = new LedgerWork(ledger, { published: (_, ids) => handled.push(...ids), ...hooks });
    const owner = log.partitionOwner(work, (error) => {
      throw error;
    });
    closing.push(() => owner.stop());
    await owner.start();
    await until(() => owner.owned().length === PARTITIONS, 'all partitions');
    return owner;
  }
  const expiry = (id: number) => async () => ({ append: [event(id)], context: { values: [], ids: [id] } });

  it('is where the input stands: it is asked for after the fence, until which the former owner goes on', async () => {
    const former = await openWriter();
    const resumed = Promise.withResolvers<ReadonlyMap<InputTopic, bigint>>();
    const partition = new OwnedPartition(PARTITION, {
      work: new LedgerWork(ledger),
      feed: { pause: () => undefined, resume: (_, next) => resumed.resolve(next) },
      reader,
      async openWriter() {
        // The last thing that the former owner does.
        await former.commit([event(1)], { topic: 'intent.commands', offset: 1n });
        return openWriter();
      },
      committed: async () => new Map([['intent.commands', await reader.committed('intent', 'intent.commands', PARTITION)]]),
      log: SILENT,
    });
    closing.push(() => partition.release());
    partition.assign(new AbortController().signal);
    expect((await resumed.promise).get('intent.commands')).toBe(1n);
    expect(ledger.load(PARTITION).count).toBe(1);
  });

  it('is that events come with their input’s offset or not at all', async () => {
    const writer = await openWriter(new NoCommands(options.prefix ?? ''));
    await expect(writer.commit([event(1)], { topic: 'intent.commands', offset: 1n })).rejects.toThrow();
    await openWriter();
    expect(await valuesOf()).toEqual([]);
  });

  it('is that a command is answered when the projection shows what became of it, and not before', async () => {
    const shown: number[] = [];
    await start({ published: () => shown.push(ledger.load(PARTITION).count) });
    await send(1);
    await until(() => shown.length > 0, 'the answer');
    expect(shown[0]).toBe(1);
  });

  it('is that it works on one slice of a partition at a time, of whichever topic', async () => {
    // More than a slice of each, there before the owner comes: one fetch brings both.
    const count = 300;
    await Promise.all(Array.from({ length: count }, (_, id) => Promise.all([send(id), send(count + id, 'chain.observations')])));
    let now = 0;
    let most = 0;
    await start({
      at: async (moment) => {
        if (moment === 'decided') most = Math.max(most, ++now);
        // As long as deciding takes that asks somebody.
        await reader.endOffset('intent.events', PARTITION);
        if (moment === 'projected') now--;
      },
      // What was begun is begun anew.
      lost: () => (now = 0),
    });
    await until(() => handled.length >= 2 * count || most > 1, 'all inputs');
    expect(most).toBe(1);
  });

  it('is that its own work comes behind the input that had arrived, decided or not', async () => {
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const owner = await start({
      at: async (moment) => {
        if (moment !== 'decided') return;
        begun.resolve();
        await gate.promise;
      },
    });
    await send(1, 'chain.observations');
    await begun.promise;
    await send(2, 'chain.observations');
    const done = owner.run(PARTITION, { topic: 'chain.observations', offset: await reader.endOffset('chain.observations', PARTITION) }, expiry(99));
    gate.resolve();
    await done;
    expect(handled).toEqual([1, 2, 99]);
  });

  it('is that its own work, once begun, is finished before it has stopped', async () => {
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const owner = await start();
    const done = owner.run(PARTITION, null, async () => {
      begun.resolve();
      await gate.promise;
      return expiry(99)();
    });
    await begun.promise;
    let stopped = false;
    const stopping = owner.stop().then(() => (stopped = true));
    // Far more than leaving a group takes.
    for (let trips = 0; trips < 300 && !stopped; trips++) await reader.endOffset('intent.events', PARTITION);
    expect(stopped).toBe(false);
    gate.resolve();
    await Promise.all([stopping, done]);
    expect(handled).toEqual([99]);
    expect(await valuesOf()).toEqual([event(99).value]);
  });
});
