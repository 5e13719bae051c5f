import { describe, expect, it } from '@jest/globals';
import type { LogTransport, PartitionWriter } from '@pf/event-log';
import { type Kernel, simulate } from '@pf/simulation/kernel';
import { SimulatedBroker, simulatedTransport } from '@pf/simulation/log';
import { event } from '../../../event-log/test/transport/suite.ts';

const PARTITIONS = 3;

interface World {
  readonly kernel: Kernel;
  readonly broker: SimulatedBroker;
  readonly transport: LogTransport;
  /** What a partition's committed events are. */
  readonly values: (partition: number) => (string | null)[];
  /** Transactions that have ended at their coordinator, since the last call. */
  readonly ended: () => number;
  /** Runs something in another process, which lives on. */
  readonly elsewhere: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

const withWorld = (seed: number, test: (world: World) => Promise<void>): Promise<void> =>
  simulate(seed, async (kernel) => {
    const broker = new SimulatedBroker(kernel, { partitions: PARTITIONS });
    let ended = 0;
    broker.onEnd = () => void ended++;
    await test({
      kernel,
      broker,
      transport: simulatedTransport(kernel, broker),
      values: (partition) => broker.committedRecords('intent.events', partition).map(({ value }) => value),
      ended: () => [ended, (ended = 0)][0] ?? 0,
      elsewhere: (work) =>
        new Promise((resolve, reject) => void kernel.spawn('elsewhere', () => work().then(resolve, reject))),
    });
  });

/** A partition as its owner writes it: an event for a command, at the position behind the last. */
class Owned {
  readonly partition: number;
  readonly #writer: PartitionWriter;
  #position: bigint;
  #consumed: bigint;

  constructor(partition: number, writer: PartitionWriter, position = 0n, consumed = 0n) {
    this.partition = partition;
    this.#writer = writer;
    this.#position = position;
    this.#consumed = consumed;
  }

  /** Resolves when the last transaction has its marker: the owner waits for it. */
  async ended(): Promise<this> {
    while (!(await this.#writer.endsAt(this.#position))) await new Promise((resolve) => setTimeout(resolve, 5));
    return this;
  }

  async commit(value: string): Promise<void> {
    const consumed = { topic: 'intent.commands', offset: this.#consumed + 1n } as const;
    await this.#writer.commit([event(value, this.partition)], consumed, this.#position);
    this.#position += 2n;
    this.#consumed++;
  }

  /** A batch that does not follow what is projected. */
  fail(): Promise<void> {
    const consumed = { topic: 'intent.commands', offset: this.#consumed + 1n } as const;
    return this.#writer.commit([event('wrong', this.partition)], consumed, this.#position + 10n);
  }

  /** Without events. */
  refuse(): Promise<void> {
    return this.#writer.commit([], { topic: 'intent.commands', offset: ++this.#consumed }, this.#position);
  }

  /** Without events, and without an offset of commands. */
  ignore(offset: bigint): Promise<void> {
    return this.#writer.commit([], { topic: 'chain.observations', offset }, this.#position);
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}

/** Every partition, each with a first batch, which it writes alone. */
async function ownAll({ transport, ended, kernel }: World): Promise<Owned[]> {
  const owned = await Promise.all(
    Array.from({ length: PARTITIONS }, async (_, partition) => {
      const one = new Owned(partition, await transport.openWriter(partition));
      await one.commit('first');
      return one;
    }),
  );
  // Each is delegated with its second.
  await kernel.sleep(100);
  await Promise.all(owned.map(async (one) => (await one.ended()).commit('second')));
  await kernel.sleep(100);
  for (const one of owned) await one.ended();
  ended();
  return owned;
}

const SEEDS = [1, 2, 3, 4, 5];
const each = (test: (world: World) => Promise<void>) => async () => {
  for (const seed of SEEDS) await withWorld(seed, test);
};

describe('The writers of a process', () => {
  it(
    'commit the batches of their partitions in one transaction',
    each(async (world) => {
      const owned = await ownAll(world);
      await Promise.all(owned.map((one) => one.commit('third')));
      await world.kernel.sleep(100);
      expect(world.ended()).toBe(1);
      expect(owned.map(({ partition }) => world.values(partition))).toEqual(
        owned.map(() => ['first', 'second', 'third']),
      );
      expect(world.broker.committed('intent', 'intent.commands', 1)).toBe(3n);
    }),
  );

  it(
    'commit nothing in a partition that another process has taken, events or not',
    each(async (world) => {
      const { transport, elsewhere, values, broker } = world;
      const [asleep, other] = await ownAll(world);
      // The process sleeps, so it does not take its delegation back.
      await elsewhere(async () => {
        const writer = await transport.openWriter(0);
        await new Owned(0, writer, 4n, 2n).commit('present');
      });
      await expect(asleep?.refuse()).rejects.toThrow();
      await world.kernel.sleep(100);
      expect([values(0), broker.committed('intent', 'intent.commands', 0)]).toEqual([
        ['first', 'second', 'present'],
        3n,
      ]);
      // Its other partitions are acquired again, and delegated to another id.
      await expect(other?.commit('in vain')).resolves.toBeUndefined();
    }),
  );

  it(
    'take the delegation back when they are closed, so that the process keeps its other partitions',
    each(async (world) => {
      const { transport, elsewhere, values } = world;
      const [given, kept] = await ownAll(world);
      await given?.close();
      await elsewhere(async () => new Owned(0, await transport.openWriter(0), 4n, 2n).commit('present'));
      world.ended();
      await kept?.commit('third');
      await world.kernel.sleep(100);
      expect(world.ended()).toBe(1);
      expect([values(0), values(1)]).toEqual([
        ['first', 'second', 'present'],
        ['first', 'second', 'third'],
      ]);
    }),
  );

  it(
    'are all fenced where the offsets of the group, and with them the delegations, are lost',
    each(async (world) => {
      const { transport, elsewhere, broker, values } = world;
      const [asleep] = await ownAll(world);
      await transport
        .openProducer()
        .then((producer) => producer.send([{ topic: 'intent.commands', record: event('a command', 0) }]));
      broker.forgetOffsets('intent');
      await elsewhere(() => transport.openWriter(0));
      await expect(asleep?.refuse()).rejects.toThrow();
      expect(values(0)).toEqual(['first', 'second']);
    }),
  );

  it(
    'write alone after a failure, so that a partition that fails stops no other',
    each(async (world) => {
      const { transport, values, kernel } = world;
      const owned = await ownAll(world);
      const together = await Promise.allSettled([owned[1]?.commit('third'), owned[2]?.fail()]);
      expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      await Promise.all([owned[1]?.close(), owned[2]?.close()]);
      // Behind the aborted records and their marker.
      const open = async (partition: number) => new Owned(partition, await transport.openWriter(partition), 6n, 2n);
      const [again, failing] = [await open(1), await open(2)];
      const apart = await Promise.allSettled([again.commit('third'), failing.fail()]);
      expect(apart.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
      await kernel.sleep(100);
      expect(world.broker.noted('intent', 'intent.commands', 1, false)?.to).toBeNull();
      expect([values(1), values(2)]).toEqual([
        ['first', 'second', 'third'],
        ['first', 'second'],
      ]);
    }),
  );

  it(
    'fence the earlier delegate of a partition before its first shared batch',
    each(async ({ transport, elsewhere, kernel }) => {
      const asleep = new Owned(0, await transport.openWriter(0));
      await asleep.commit('first');
      await kernel.sleep(100);
      await asleep.ignore(1n);
      await elsewhere(() => transport.openWriter(0));
      await expect(asleep.ignore(2n)).rejects.toThrow();
    }),
  );

  it(
    'leave the delegation where a transaction failed, so that the next owner ends it',
    each(async (world) => {
      const [failing] = await ownAll(world);
      const delegation = world.broker.noted('intent', 'intent.commands', 0, false);
      world.broker.beginWriter(delegation?.to ?? '');
      await expect(failing?.refuse()).rejects.toThrow();
      await failing?.close();
      await world.kernel.sleep(100);
      expect(delegation?.to).toMatch('intent-writer-of-');
      expect(world.broker.noted('intent', 'intent.commands', 0, false)).toEqual(delegation);
    }),
  );

  it(
    'begin no other transaction while the last hangs in one of its partitions',
    each(async (world) => {
      const { broker, kernel, values } = world;
      const owned = await ownAll(world);
      broker.faults.skippedMarkers = 1;
      await owned[0]?.commit('hangs');
      await kernel.sleep(100);
      broker.faults.skippedMarkers = 0;
      await owned[1]?.commit('third');
      await kernel.sleep(100);
      expect([values(0), values(1)]).toEqual([
        ['first', 'second'],
        ['first', 'second', 'third'],
      ]);
      const delegates = [0, 1].map((partition) => broker.noted('intent', 'intent.commands', partition, false)?.to);
      expect(delegates[0]).not.toBe(delegates[1]);
      // The next owner knows how it ended.
      await world.elsewhere(() => world.transport.openWriter(0));
      expect(values(0)).toEqual(['first', 'second', 'hangs']);
    }),
  );
});
