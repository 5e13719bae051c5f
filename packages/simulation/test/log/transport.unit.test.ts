import { describe, expect, it } from '@jest/globals';
import { eventLogOver, type LogTransport } from '@pf/event-log';
import { type Kernel, simulate } from '@pf/simulation/kernel';
import { SimulatedBroker, simulatedTransport, writerId } from '@pf/simulation/log';
import { event, transportCases, type TransportWorld } from '../../../event-log/test/transport/suite.ts';
import { collect, until } from '../../../event-log/test/waiting.ts';

const PARTITIONS = 6;

interface World extends TransportWorld {
  readonly kernel: Kernel;
  readonly broker: SimulatedBroker;
  readonly transport: LogTransport;
}

function worldOf(kernel: Kernel): World {
  const broker = new SimulatedBroker(kernel, { partitions: PARTITIONS });
  return {
    kernel,
    broker,
    transport: simulatedTransport(kernel, broker),
    async abandon(partition, values) {
      const id = writerId(partition);
      const epoch = broker.beginWriter(id);
      broker.addPartition(id, epoch, partition);
      broker.append(
        id,
        epoch,
        0,
        partition,
        values.map((value) => event(value, partition)),
      );
    },
    async deleteBelow(topic, partition, offset) {
      broker.deleteBelow(topic, partition, offset);
    },
  };
}

const SEEDS = [1, 2, 3, 4, 5];

describe('The transport over the simulated broker', () => {
  it.each(transportCases)('$name', async ({ run }) => {
    for (const seed of SEEDS) await simulate(seed, (kernel) => run(worldOf(kernel)));
  });

  it.each(transportCases)('$name, over a slow network', async ({ run }) => {
    for (const seed of SEEDS)
      await simulate(seed, async (kernel) => {
        kernel.network.slowShare = 0.2;
        kernel.network.slowMs = [2, 100];
        await run(worldOf(kernel));
      });
  });
});

describe('The simulated broker', () => {
  const append = async ({ transport, broker }: World, value: string): Promise<void> => {
    const writer = await transport.openWriter(1);
    await writer.commit([event(value)], null, BigInt(broker.log('intent.events', 1).end));
  };
  const valuesOf = (broker: SimulatedBroker): (string | null)[] =>
    broker.committedRecords('intent.events', 1).map(({ value }) => value);

  it('completes after a crash what was prepared before it', async () => {
    const seen = await simulate(3, async (kernel) => {
      const world = worldOf(kernel);
      world.broker.faults.markerMs = [100, 100];
      await append(world, 'a');
      world.broker.crash();
      const before = valuesOf(world.broker);
      world.broker.restart();
      await until(() => valuesOf(world.broker).length > 0, 'the commit');
      return { before, after: valuesOf(world.broker) };
    });
    expect(seen).toEqual({ before: [], after: ['a'] });
  });

  it('leaves a transaction hanging where its marker is lost: the coordinator knows of none', async () => {
    const seen = await simulate(3, async (kernel) => {
      const world = worldOf(kernel);
      const { broker } = world;
      broker.faults.markerMs = [100, 100];
      await append(world, 'a');
      broker.faults.lostMarkers = 1;
      broker.crash();
      broker.restart();
      await kernel.sleep(20_000);
      const log = broker.log('intent.events', 1);
      return { stable: log.stableEnd, end: log.end, busy: broker.isBusy(writerId(1)) };
    });
    expect(seen).toEqual({ stable: 0, end: 1, busy: false });
  });

  it('ends a hanging transaction when the next writer opens: what was projected or prepared is committed', async () => {
    for (const projected of [0n, 2n])
      await simulate(3, async (kernel) => {
        const world = worldOf(kernel);
        const { broker } = world;
        broker.faults.markerMs = [100, 100];
        await append(world, 'a');
        broker.faults.lostMarkers = 1;
        broker.crash();
        broker.restart();
        await kernel.sleep(20_000);
        await simulatedTransport(kernel, broker).openWriter(1, async () => projected);
        const log = broker.log('intent.events', 1);
        expect([log.stableEnd, log.end]).toEqual([2, 2]);
        expect(valuesOf(broker)).toEqual(['a']);
      });
  });

  it('fails the requests in flight at a crash, and refuses others until it is back', async () => {
    await simulate(4, async (kernel) => {
      const { broker, transport } = worldOf(kernel);
      const connection = await transport.connect('test');
      const waiting = connection.fetch('kafka', 'intent.commands', new Map([[0, 0n]]), 5_000, 1);
      await kernel.sleep(100);
      broker.crash();
      await expect(waiting).rejects.toThrow('did not respond');
      await expect(transport.connect('test')).rejects.toThrow('did not respond');
      broker.restart();
      await expect(connection.committed('intent', 'intent.commands', 0)).rejects.toMatchObject({
        type: 'COORDINATOR_LOAD_IN_PROGRESS',
        retriable: true,
      });
      await kernel.sleep(1_000);
      expect(await connection.committed('intent', 'intent.commands', 0)).toBeNull();
    });
  });

  it('aborts a transaction that stays open for too long, and fences its writer', async () => {
    await simulate(5, async (kernel) => {
      const world = worldOf(kernel);
      await world.abandon(1, ['never']);
      await kernel.sleep(40_000);
      const log = world.broker.log('intent.events', 1);
      expect([log.stableEnd, log.end]).toEqual([2, 2]);
      expect(valuesOf(world.broker)).toEqual([]);
    });
  });

  it('opens a transaction again whose marker an unclean election has cut off', async () => {
    await simulate(6, async (kernel) => {
      const world = worldOf(kernel);
      await append(world, 'a');
      await kernel.sleep(1_000);
      await append(world, 'b');
      await kernel.sleep(1_000);
      world.broker.truncate('intent.events', 1, 3n);
      const log = world.broker.log('intent.events', 1);
      expect([log.stableEnd, log.end]).toEqual([2, 3]);
      expect(valuesOf(world.broker)).toEqual(['a']);
    });
  });

  it('has a record twice that a publisher sent again after a lost reply', async () => {
    const counts = await simulate(7, async (kernel) => {
      const { broker, transport } = worldOf(kernel);
      const publisher = await eventLogOver(transport).publisher();
      kernel.network.lostReplies = 0.5;
      for (let index = 0; index < 20; index++)
        await publisher
          .publish('intent.commands', event(String(index)), AbortSignal.timeout(60_000))
          .catch(() => undefined);
      kernel.network.lostReplies = 0;
      await publisher.close();
      const values = broker.committedRecords('intent.commands', 1).map(({ value }) => value);
      return { records: values.length, different: new Set(values).size };
    });
    expect(counts.different).toBe(20);
    expect(counts.records).toBeGreaterThan(20);
  });

  it('gives the partitions of a killed member to another once its session has timed out', async () => {
    await simulate(8, async (kernel) => {
      const world = worldOf(kernel);
      const { transport } = world;
      const log = eventLogOver(transport);
      const work = {
        positions: async (partitions: readonly number[]) => new Map(partitions.map((one) => [one, 0n])),
        handle: async () => true,
      };
      const start = (name: string) =>
        kernel.spawn(name, () =>
          log
            .group('webhook', 'intent.events', work, (error) => {
              throw error;
            })
            .start(),
        );
      const first = start('first');
      await kernel.sleep(1_000);
      kernel.kill(first);
      const began = kernel.now();
      const seen: string[] = [];
      const second = log.group(
        'webhook',
        'intent.events',
        {
          ...work,
          handle: async (_, __, { records }) => (seen.push(...records.map(({ value }) => value ?? '')), true),
        },
        () => undefined,
      );
      await second.start();
      await append(world, 'a');
      await until(() => seen.length > 0, 'the event');
      expect(kernel.now() - began).toBeGreaterThan(5_000);
      expect(kernel.now() - began).toBeLessThan(25_000);
      await second.stop();
    });
  });

  it('stamps records with its own clock', async () => {
    await simulate(9, async (kernel) => {
      const { broker, transport } = worldOf(kernel);
      broker.faults.clockSkewMs = 60_000;
      const log = eventLogOver(transport);
      const publisher = await log.publisher();
      await publisher.publish('intent.commands', event('a'));
      const reader = await log.reader('test');
      const [batch] = await collect(reader.read('intent.commands', 1, 0n, 1n));
      expect((batch?.records[0]?.timestamp ?? 0) - kernel.now()).toBeGreaterThan(59_000);
      await Promise.all([reader.close(), publisher.close()]);
    });
  });
});
