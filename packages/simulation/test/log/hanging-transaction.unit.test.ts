import { describe, expect, it } from '@jest/globals';
import { eventLogOver, type LogSink, type PartitionOwner, type PartitionWork, SILENT } from '@pf/event-log';
import { type Kernel, simulate } from '@pf/simulation/kernel';
import { SimulatedBroker, simulatedTransport } from '@pf/simulation/log';
import { event } from '../../../event-log/test/transport/suite.ts';
import { until } from '../../../event-log/test/waiting.ts';

const PARTITION = 0;

/** A projection of nothing but the values of the events, in order. */
class Work implements PartitionWork<readonly string[]> {
  position = 0n;
  readonly projected: string[] = [];
  readonly decided: string[] = [];

  checkpoint = async (): Promise<bigint> => this.position;
  acquired = async (): Promise<void> => undefined;
  lost = (): void => undefined;
  published = (): void => undefined;

  async catchUp(...[, from, records, next]: Parameters<PartitionWork<unknown>['catchUp']>): Promise<boolean> {
    return this.project(
      PARTITION,
      from,
      next,
      records.map(({ value }) => value ?? ''),
    );
  }

  async project(_partition: number, from: bigint, next: bigint, values: readonly string[]): Promise<boolean> {
    if (this.position !== from) return false;
    this.position = next;
    this.projected.push(...values);
    return true;
  }

  async decide(...[, records]: Parameters<PartitionWork<readonly string[]>['decide']>) {
    const values = records.map(({ value }) => value ?? '');
    this.decided.push(...values);
    return { append: values.map((value) => event(value, PARTITION)), position: this.position, context: values };
  }
}

interface World {
  readonly kernel: Kernel;
  readonly broker: SimulatedBroker;
  readonly owner: PartitionOwner<readonly string[]>;
  readonly work: Work;
  readonly alarms: unknown[];
  readonly publish: (value: string) => Promise<void>;
  /** Resolves when the coordinator has ended the transaction of a decided command. */
  readonly decide: (value: string) => Promise<void>;
  readonly values: () => (string | null)[];
}

/** An owner whose connections never break. */
const withOwner = (seed: number, test: (world: World) => Promise<void>): Promise<void> =>
  simulate(seed, async (kernel) => {
    const broker = new SimulatedBroker(kernel, { partitions: 1 });
    const alarms: unknown[] = [];
    const sink: LogSink = { ...SILENT, error: (fields) => void ('alarm' in fields && alarms.push(fields.alarm)) };
    const log = eventLogOver(simulatedTransport(kernel, broker), sink);
    const work = new Work();
    const owner = log.partitionOwner(work, (error) => {
      throw error;
    });
    await owner.start();
    const publisher = await log.publisher();
    const publish = (value: string): Promise<void> => publisher.publish('intent.commands', event(value, PARTITION));
    await test({
      kernel,
      broker,
      owner,
      work,
      alarms,
      publish,
      async decide(value) {
        await publish(value);
        await until(() => work.projected.includes(value), `the projection of ${value}`);
        await until(() => !broker.transactionalIds().some((id) => broker.isBusy(id)), 'the end of the transaction');
      },
      values: () => broker.committedRecords('intent.events', PARTITION).map(({ value }) => value),
    });
    await Promise.all([owner.stop(), publisher.close()]);
  });

describe('A transaction that hangs while its owner’s connections stay up', () => {
  it('gets no record of the next batch, and is committed because it is projected', () =>
    withOwner(1, async ({ broker, work, decide, values, alarms }) => {
      await decide('a');
      broker.faults.skippedMarkers = 1;
      await decide('b');
      broker.faults.skippedMarkers = 0;
      await decide('c');
      expect([values(), work.projected]).toEqual([
        ['a', 'b', 'c'],
        ['a', 'b', 'c'],
      ]);
      expect(work.position).toBe(BigInt(broker.log('intent.events', PARTITION).end));
      expect(alarms).toEqual([]);
    }));

  it('is ended without further input once its partition is checked', () =>
    withOwner(2, async ({ kernel, broker, owner, decide, values }) => {
      await decide('a');
      broker.faults.skippedMarkers = 1;
      await decide('b');
      broker.faults.skippedMarkers = 0;
      await kernel.sleep(60_000);
      expect(values()).toEqual(['a']);
      await owner.check(PARTITION);
      await until(() => values().length === 2, 'the commit');
      await until(() => owner.owned().length === 1, 'the partition');
    }));
});

describe('A partition whose last records are cut off while it is owned', () => {
  it('gets no record of the next batch, which would hide that records are missing', () =>
    withOwner(3, async ({ kernel, broker, publish, decide, alarms, owner }) => {
      await decide('a');
      await decide('b');
      broker.truncate('intent.events', PARTITION, 2n);
      await publish('c');
      await until(() => alarms.length > 0, 'the alarm');
      expect([alarms, broker.log('intent.events', PARTITION).end, owner.owned()]).toEqual([['broken_log'], 2, []]);
      await kernel.sleep(60_000);
      expect(alarms).toEqual(['broken_log']);
    }));

  it('commits nothing, raises the alarm and stops where they are cut off at the moment of the commit', () =>
    withOwner(4, async ({ kernel, broker, work, publish, decide, values, alarms, owner }) => {
      await decide('a');
      await decide('b');
      const append = broker.appendAll.bind(broker);
      broker.appendAll = (...asked) => {
        broker.appendAll = append;
        broker.truncate('intent.events', PARTITION, 2n);
        return broker.appendAll(...asked);
      };
      await publish('c');
      await until(() => alarms.length > 0, 'the alarm');
      await kernel.sleep(60_000);
      expect([values(), alarms, owner.owned(), work.projected]).toEqual([['a'], ['broken_log'], [], ['a', 'b']]);
    }));
});
