import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type InputTopic, type NewRecord, SILENT, type Topic } from '../../src/index.ts';
import { Names } from '../../src/names.ts';
import { OwnedPartition } from '../../src/ownership/owned-partition.ts';
import { kafkaTransport } from '../../src/kafka/transport.ts';
import type { PartitionWriter } from '../../src/transport.ts';
import { PARTITION, Harness } from '../harness.ts';
import { until } from '../stack.ts';

const event = (id: number): NewRecord => ({
  partition: PARTITION,
  key: String(id),
  value: JSON.stringify({ id, version: id }),
});

/** Of a log without the topic of observations, so that none of its offsets can be moved. */
class NoObservations extends Names {
  override topic(topic: Topic): string {
    return super.topic(topic) + (topic === 'chain.observations' ? '.gone' : '');
  }
}

describe('The order of an owner’s steps', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await Harness.open();
  });
  afterEach(() => harness.close());

  const openWriter = async (names = new Names(harness.options.prefix ?? '')): Promise<PartitionWriter> => {
    const writer = await kafkaTransport(harness.options, names).openWriter(PARTITION);
    harness.onClose(() => writer.close());
    return writer;
  };
  const expiry = (id: number) => async () => ({
    append: [event(id)],
    position: null,
    context: { values: [], ids: [id] },
  });

  it('reads the input’s position after the fence, until which the earlier owner can move it', async () => {
    const former = await openWriter();
    const resumed = Promise.withResolvers<ReadonlyMap<InputTopic, bigint>>();
    const partition = new OwnedPartition(PARTITION, {
      work: harness.work(),
      feed: { pause: () => undefined, resume: (_, next) => resumed.resolve(next) },
      reader: harness.reader,
      async openWriter() {
        // The last commit of the earlier owner.
        await former.commit([event(1)], { topic: 'intent.commands', offset: 1n }, 0n);
        return openWriter();
      },
      committed: async () =>
        new Map([['intent.commands', await harness.reader.committed('intent', 'intent.commands', PARTITION)]]),
      log: SILENT,
    });
    harness.onClose(() => partition.release());
    partition.assign(new AbortController().signal);
    expect((await resumed.promise).get('intent.commands')).toBe(1n);
    expect(harness.ledger.load(PARTITION).count).toBe(1);
  });

  it('commits events together with the offset of their input or not at all', async () => {
    const writer = await openWriter(new NoObservations(harness.options.prefix ?? ''));
    await expect(writer.commit([event(1)], { topic: 'chain.observations', offset: 1n }, 0n)).rejects.toThrow();
    await openWriter();
    expect(await harness.read('intent.events')).toEqual([]);
  });

  it('commits no events that would not follow what is projected', async () => {
    const writer = await openWriter();
    await expect(writer.commit([event(1)], null, 1n)).rejects.toThrow('got the offset 0 instead of 1');
    await openWriter();
    expect(await harness.read('intent.events')).toEqual([]);
  });

  it('publishes an outcome only after the projection has it', async () => {
    const shown: number[] = [];
    await harness.start(harness.work({ published: () => shown.push(harness.ledger.load(PARTITION).count) }));
    await harness.send(1);
    await until(() => shown.length > 0, 'the answer');
    expect(shown[0]).toBe(1);
  });

  it('processes one batch of a partition at a time, of either topic', async () => {
    // More than a batch of each, before the owner starts: one fetch brings both.
    const count = 300;
    await Promise.all(
      Array.from({ length: count }, (_, id) =>
        Promise.all([harness.send(id), harness.send(count + id, {}, 'chain.observations')]),
      ),
    );
    let now = 0;
    let most = 0;
    await harness.start(
      harness.work({
        at: async (moment) => {
          if (moment === 'decided') most = Math.max(most, ++now);
          // As long as a decision that queries a database.
          await harness.reader.endOffset('intent.events', PARTITION);
          if (moment === 'projected') now--;
        },
        // A batch in progress starts again.
        lost: () => (now = 0),
      }),
    );
    await until(() => harness.ledger.load(PARTITION).count >= 2 * count || most > 1, 'all inputs');
    expect(most).toBe(1);
  });

  it('runs the owner’s own work after the input that had arrived, decided or not', async () => {
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const owner = await harness.start(
      harness.work({
        at: async (moment) => {
          if (moment !== 'decided') return;
          begun.resolve();
          await gate.promise;
        },
      }),
    );
    await harness.send(1, {}, 'chain.observations');
    await begun.promise;
    await harness.send(2, {}, 'chain.observations');
    const done = owner.run(
      PARTITION,
      { topic: 'chain.observations', offset: await harness.reader.endOffset('chain.observations', PARTITION) },
      expiry(99),
    );
    gate.resolve();
    await done;
    expect(harness.handled).toEqual([1, 2, 99]);
  });

  it('finishes the owner’s own work before it has stopped', async () => {
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const owner = await harness.start();
    const done = owner.run(PARTITION, null, async () => {
      begun.resolve();
      await gate.promise;
      return expiry(99)();
    });
    await begun.promise;
    let stopped = false;
    const stopping = owner.stop().then(() => (stopped = true));
    // Far longer than leaving a group takes.
    for (let trips = 0; trips < 300 && !stopped; trips++) await harness.reader.endOffset('intent.events', PARTITION);
    expect(stopped).toBe(false);
    gate.resolve();
    await Promise.all([stopping, done]);
    expect(harness.handled).toEqual([99]);
    expect((await harness.events(1)).map(({ id }) => id)).toEqual([99]);
  });
});
