import { describe, expect, it } from '@jest/globals';
import {
  eventLogOver,
  type GroupWork,
  type LogClients,
  type LogSink,
  LogTruncatedError,
  type PartitionWork,
  SILENT,
} from '@pf/event-log';
import { type Kernel, simulate } from '@pf/simulation/kernel';
import { SimulatedBroker, simulatedTransport } from '@pf/simulation/log';
import { event } from '../../../event-log/test/transport/suite.ts';
import { collect, until } from '../../../event-log/test/waiting.ts';

const PARTITIONS = 2;
const PARTITION = 1;

interface World {
  readonly kernel: Kernel;
  readonly broker: SimulatedBroker;
  readonly log: LogClients;
  /** The partitions of the alarms that were raised. */
  readonly alarms: number[];
}

function worldOf(kernel: Kernel): World {
  const broker = new SimulatedBroker(kernel, { partitions: PARTITIONS });
  const alarms: number[] = [];
  const sink: LogSink = {
    ...SILENT,
    error: (fields) => {
      if ('alarm' in fields && fields.alarm === 'broken_log' && 'partition' in fields)
        alarms.push(Number(fields.partition));
    },
  };
  return { kernel, broker, log: eventLogOver(simulatedTransport(kernel, broker), sink), alarms };
}

const crash = (error: Error): never => {
  throw error;
};

async function appendEvents({ broker, kernel }: World, ...values: readonly string[]): Promise<void> {
  for (const value of values)
    for (let partition = 0; partition < PARTITIONS; partition++)
      await simulatedTransport(kernel, broker)
        .openWriter(partition)
        .then((writer) =>
          writer.commit([event(value, partition)], null, BigInt(broker.log('intent.events', partition).end)),
        );
  await kernel.sleep(100);
}

/** Rows that are stored with their position, as the webhook service has them. */
class Rows implements GroupWork {
  readonly stored = new Map<number, bigint>();
  readonly values: string[] = [];
  readonly moves: (readonly [from: bigint, to: bigint])[] = [];

  async positions(partitions: readonly number[]): Promise<ReadonlyMap<number, bigint>> {
    return new Map(partitions.map((partition) => [partition, this.stored.get(partition) ?? 0n]));
  }

  async handle(...[partition, from, { records, next }]: Parameters<GroupWork['handle']>): Promise<boolean> {
    if ((this.stored.get(partition) ?? 0n) !== from) return false;
    this.moves.push([from, next]);
    this.values.push(...records.map(({ value }) => `${partition}:${value ?? ''}`));
    this.stored.set(partition, next);
    return true;
  }
}

/** The owner's work on nothing but a checkpoint: an event for each command. */
class Work implements PartitionWork<readonly string[]> {
  readonly positions = new Map<number, bigint>();
  readonly decided: string[] = [];

  checkpoint = async (partition: number): Promise<bigint> => this.positions.get(partition) ?? 0n;
  acquired = async (): Promise<void> => undefined;
  lost = (): void => undefined;
  published = (): void => undefined;

  async catchUp(partition: number, from: bigint, _records: unknown, next: bigint): Promise<boolean> {
    return this.project(partition, from, next);
  }

  async project(partition: number, from: bigint, next: bigint): Promise<boolean> {
    if ((await this.checkpoint(partition)) !== from) return false;
    this.positions.set(partition, next);
    return true;
  }

  async decide(...[partition, records]: Parameters<PartitionWork<readonly string[]>['decide']>) {
    const values = records.map(({ value }) => value ?? '');
    this.decided.push(...values);
    return {
      append: values.map((value) => event(value, partition)),
      position: await this.checkpoint(partition),
      context: values,
    };
  }
}

describe('A reader of a log that lacks records', () => {
  it('ends with an error when the log ends before the end that was asked for', async () => {
    await simulate(1, async (kernel) => {
      const world = worldOf(kernel);
      await appendEvents(world, 'a', 'b');
      const reader = await world.log.reader('test');
      world.broker.truncate('intent.events', PARTITION, 2n);
      const began = kernel.now();
      await expect(collect(reader.read('intent.events', PARTITION, 0n, 4n))).rejects.toThrow(
        'intent.events-1 ends at 2 and should go on until 4',
      );
      expect(kernel.now() - began).toBeLessThan(15_000);
      await reader.close();
    });
  });

  it('ends with an error when a transaction hangs before that end', async () => {
    await simulate(2, async (kernel) => {
      const world = worldOf(kernel);
      await appendEvents(world, 'a', 'b');
      world.broker.truncate('intent.events', PARTITION, 3n);
      const reader = await world.log.reader('test');
      await expect(collect(reader.read('intent.events', PARTITION, 0n, 4n))).rejects.toThrow(LogTruncatedError);
      await reader.close();
    });
  });

  it('ends with an error when its position is before the start of the log', async () => {
    await simulate(3, async (kernel) => {
      const world = worldOf(kernel);
      await appendEvents(world, 'a', 'b');
      world.broker.deleteBelow('intent.events', PARTITION, 2n);
      const reader = await world.log.reader('test');
      await expect(collect(reader.read('intent.events', PARTITION, 0n, 4n))).rejects.toThrow(LogTruncatedError);
      const following = reader.follow('intent.events', new Map([[PARTITION, 0n]]), new AbortController().signal);
      await expect(collect(following)).rejects.toThrow(LogTruncatedError);
      await reader.close();
    });
  });
});

describe('A consumer group of a log that ends before its position', () => {
  it('handles nothing again, moves no position back, raises one alarm, and goes on elsewhere', async () => {
    await simulate(4, async (kernel) => {
      const world = worldOf(kernel);
      await appendEvents(world, 'a', 'b', 'c');
      const rows = new Rows();
      const group = world.log.group('webhook', 'intent.events', rows, crash);
      await group.start();
      await until(() => rows.values.length === 6, 'the events');
      world.broker.truncate('intent.events', PARTITION, 2n);
      await kernel.sleep(60_000);
      expect(rows.values).toHaveLength(6);
      expect(rows.stored.get(PARTITION)).toBe(6n);
      expect(world.alarms).toEqual([PARTITION]);
      const other = await simulatedTransport(kernel, world.broker).openWriter(0);
      await other.commit([event('d', 0)], null, 6n);
      await until(() => rows.values.includes('0:d'), 'the other partition');
      expect(rows.moves.every(([from, to]) => from < to)).toBe(true);
      await group.stop();
    });
  });

  it('moves no position and raises one alarm when it starts there, or the log starts after its position', async () => {
    await simulate(5, async (kernel) => {
      const world = worldOf(kernel);
      await appendEvents(world, 'a', 'b', 'c');
      world.broker.deleteBelow('intent.events', 0, 2n);
      const rows = new Rows();
      rows.stored.set(PARTITION, 1_000n);
      const group = world.log.group('webhook', 'intent.events', rows, crash);
      await group.start();
      await kernel.sleep(60_000);
      expect(rows.values).toEqual([]);
      expect(world.alarms.toSorted()).toEqual([0, PARTITION]);
      await group.stop();
    });
  });

  it('passes over aborted transactions as before', async () => {
    await simulate(6, async (kernel) => {
      const world = worldOf(kernel);
      const rows = new Rows();
      const group = world.log.group('webhook', 'intent.events', rows, crash);
      await group.start();
      const epoch = world.broker.beginWriter('intent-writer-1');
      world.broker.addPartition('intent-writer-1', epoch, PARTITION);
      world.broker.append('intent-writer-1', epoch, 0, PARTITION, [event('never')]);
      await appendEvents(world, 'a');
      await until(() => rows.values.includes('1:a'), 'the event');
      expect(rows.values).not.toContain('1:never');
      expect(world.alarms).toEqual([]);
      await group.stop();
    });
  });
});

describe('The owner of a partition whose log lacks records', () => {
  const start = async ({ log }: World, work: Work) => {
    const owner = log.partitionOwner(work, crash);
    await owner.start();
    return owner;
  };

  it('decides nothing while the log ends before the projection, and raises one alarm', async () => {
    await simulate(7, async (kernel) => {
      const world = worldOf(kernel);
      const work = new Work();
      work.positions.set(PARTITION, 100n);
      const owner = await start(world, work);
      await until(() => owner.owned().includes(0), 'the other partition');
      await kernel.sleep(60_000);
      expect(owner.owned()).toEqual([0]);
      expect(world.alarms).toEqual([PARTITION]);
      await owner.stop();
    });
  });

  it('decides commands that a truncated input has at offsets that were consumed before', async () => {
    await simulate(8, async (kernel) => {
      const world = worldOf(kernel);
      const publisher = await world.log.publisher();
      const work = new Work();
      const owner = await start(world, work);
      for (const value of ['a', 'b', 'c']) await publisher.publish('intent.commands', event(value));
      await until(() => work.decided.length === 3, 'the commands');
      world.broker.truncate('intent.commands', PARTITION, 1n);
      await publisher.publish('intent.commands', event('d'));
      await until(() => work.decided.includes('d'), 'the command after the truncation');
      expect(world.alarms).toEqual([PARTITION]);
      await Promise.all([owner.stop(), publisher.close()]);
    });
  });

  it('decides the remaining commands when it starts after the truncation', async () => {
    await simulate(9, async (kernel) => {
      const world = worldOf(kernel);
      const publisher = await world.log.publisher();
      const work = new Work();
      const first = await start(world, work);
      for (const value of ['a', 'b', 'c']) await publisher.publish('intent.commands', event(value));
      await until(() => work.decided.length === 3, 'the commands');
      await first.stop();
      world.broker.truncate('intent.commands', PARTITION, 1n);
      await publisher.publish('intent.commands', event('d'));
      const second = await start(world, work);
      await until(() => work.decided.includes('d'), 'the command after the truncation');
      expect(new Set(world.alarms)).toEqual(new Set([PARTITION]));
      await Promise.all([second.stop(), publisher.close()]);
    });
  });

  it('reads its input from the start where the group’s offsets are lost', async () => {
    await simulate(10, async (kernel) => {
      const world = worldOf(kernel);
      const publisher = await world.log.publisher();
      const work = new Work();
      const first = await start(world, work);
      await publisher.publish('intent.commands', event('a'));
      await until(() => work.decided.length === 1, 'the command');
      await first.stop();
      await kernel.sleep(100);
      await publisher.publish('intent.commands', event('b'));
      world.broker.forgetOffsets('intent');
      const second = await start(world, work);
      await until(() => work.decided.includes('b'), 'the command that was not consumed');
      expect(work.decided).toEqual(['a', 'a', 'b']);
      await Promise.all([second.stop(), publisher.close()]);
    });
  });
});
