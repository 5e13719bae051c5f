import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createEventLog, type EventLog, type LogRecord, type PartitionWork } from '@pf/event-log';
import { type Brokers, startBrokers } from '@pf/local/brokers';
import { until } from '@pf/testing';
import { Cluster } from '../../../../packages/event-log/src/kafka/cluster.ts';
import { appendUnknown, beginTransaction, fenceAndEnd } from './raw-producer.ts';

const PARTITIONS = 3;
const PARTITION = 1;

/** The methods as they are, where a test puts others in front of them. */
const describeTransaction: (
  this: Cluster,
  ...asked: Parameters<Cluster['transaction']>
) => ReturnType<Cluster['transaction']> = Reflect.get(Cluster.prototype, 'transaction');
const endTransaction: (this: Cluster, ...asked: Parameters<Cluster['endTransaction']>) => Promise<void> = Reflect.get(
  Cluster.prototype,
  'endTransaction',
);

/** A ledger in memory: one event for each command. */
class Work implements PartitionWork<readonly string[]> {
  readonly positions = new Map<number, bigint>();
  /** The values of the events of PARTITION that a former owner had appended. */
  readonly caughtUp: (string | null)[] = [];
  /** The values of the events that this owner appended. */
  readonly projected: string[] = [];

  checkpoint = async (partition: number): Promise<bigint> => this.positions.get(partition) ?? 0n;
  catchUp = async (partition: number, _from: bigint, records: readonly LogRecord[], next: bigint): Promise<boolean> => {
    this.caughtUp.push(...records.map(({ value }) => value));
    this.positions.set(partition, next);
    return true;
  };
  acquired = async (): Promise<void> => undefined;
  lost = (): void => undefined;
  decide: PartitionWork<readonly string[]>['decide'] = async (partition, records) => ({
    append: records.map(({ key, value }) => ({ partition, key: key ?? '', value: value ?? '' })),
    position: null,
    context: records.map(({ value }) => value ?? ''),
  });
  project: PartitionWork<readonly string[]>['project'] = async (partition, _from, next, values) => {
    this.projected.push(...values);
    this.positions.set(partition, next);
    return true;
  };
  published = (): void => undefined;
}

describe('A transaction that a crash of the broker left hanging', () => {
  let folder: string;
  let brokers: Brokers;
  const closing: (() => Promise<unknown>)[] = [];
  const logged: { readonly fields: object; readonly message: string }[] = [];
  let logs = 0;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-hanging-'));
    brokers = await startBrokers({
      count: 1,
      folder,
      // Lets a producer append to a partition that its coordinator has not added to a transaction.
      properties: { 'transaction.partition.verification.enable': 'false' },
    });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    for (const close of closing.splice(0).reverse()) await close();
    logged.length = 0;
  });
  afterAll(async () => {
    await brokers.close();
    await rm(folder, { recursive: true });
  });

  async function newLog(): Promise<{ log: EventLog; prefix: string }> {
    const prefix = `hanging-${++logs}.`;
    const note = (fields: object, message: string): void => void logged.push({ fields, message });
    const log = createEventLog({
      brokers: brokers.addresses.split(','),
      partitions: PARTITIONS,
      clientId: 'test',
      prefix,
      logger: { debug: () => undefined, info: note, warn: note, error: note },
    });
    await log.createTopics();
    return { log, prefix };
  }

  /** Appends an event of a transaction whose coordinator has already ended it, and knows how. */
  async function hang(prefix: string, last: 'committed' | 'aborted'): Promise<bigint> {
    const id = `${prefix}intent-writer-${PARTITION}`;
    // On another topic, so that the partition has not seen its end.
    await fenceAndEnd(brokers.addresses, id, `${prefix}intent.dead`, last);
    return append(prefix, id, 0);
  }
  /** Begins a transaction that its coordinator has open, with an event that the partition will not see the end of. */
  async function begin(prefix: string): ReturnType<typeof beginTransaction> {
    const id = `${prefix}intent-writer-${PARTITION}`;
    const begun = await beginTransaction(brokers.addresses, id, `${prefix}intent.dead`, 0);
    await append(prefix, id, 0);
    return begun;
  }
  const append = (prefix: string, id: string, sequence: number): Promise<bigint> =>
    appendUnknown(brokers.addresses, id, {
      topic: `${prefix}intent.events`,
      partition: PARTITION,
      value: 'hanging',
      sequence,
    });

  async function own(log: EventLog, work: Work): Promise<{ owned(): readonly number[] }> {
    const owner = log.partitionOwner(work, () => undefined);
    closing.push(() => owner.stop());
    await owner.start();
    return owner;
  }

  /** The committed events of the partition after one more command was decided. */
  async function eventsAfterOneMore(log: EventLog): Promise<(string | null)[]> {
    const [publisher, reader] = [await log.publisher(), await log.reader('test')];
    closing.push(
      () => publisher.close(),
      () => reader.close(),
    );
    await publisher.publish('intent.commands', { partition: PARTITION, key: 'key', value: 'next' });
    return until('the next event to be visible', async () => {
      const values: (string | null)[] = [];
      const end = await reader.endOffset('intent.events', PARTITION);
      for await (const { records } of reader.read('intent.events', PARTITION, 0n, end))
        values.push(...records.map(({ value }) => value));
      return values.includes('next') && values;
    });
  }

  const ended = (): unknown[] =>
    logged.filter(({ message }) => message === 'a hanging transaction was ended').map(({ fields }) => fields);

  it('is committed where its events are projected', async () => {
    const { log, prefix } = await newLog();
    const start = await hang(prefix, 'aborted');
    const work = new Work();
    work.positions.set(PARTITION, start + 2n);
    const owner = await own(log, work);
    await until('the partition', () => owner.owned().includes(PARTITION));
    expect(ended()).toEqual([expect.objectContaining({ partition: PARTITION, start: '0', committed: true })]);
    expect(await eventsAfterOneMore(log)).toEqual(['hanging', 'next']);
    expect(work.caughtUp).toEqual([]);
  });

  it('is committed, and then projected, where its coordinator had committed it', async () => {
    const { log, prefix } = await newLog();
    await hang(prefix, 'committed');
    const work = new Work();
    const owner = await own(log, work);
    await until('the partition', () => owner.owned().includes(PARTITION));
    expect(ended()).toEqual([expect.objectContaining({ partition: PARTITION, start: '0', committed: true })]);
    expect(await eventsAfterOneMore(log)).toEqual(['hanging', 'next']);
    expect(work.caughtUp).toEqual(['hanging']);
  });

  it('is aborted where its coordinator had aborted it and nothing of it is projected', async () => {
    const { log, prefix } = await newLog();
    await hang(prefix, 'aborted');
    const work = new Work();
    const owner = await own(log, work);
    await until('the partition', () => owner.owned().includes(PARTITION));
    expect(ended()).toEqual([expect.objectContaining({ partition: PARTITION, start: '0', committed: false })]);
    expect(await eventsAfterOneMore(log)).toEqual(['next']);
    expect(work.caughtUp).toEqual([]);
  });

  it('is aborted where the fence aborts it, while it is open', async () => {
    const { log, prefix } = await newLog();
    const { close } = await begin(prefix);
    closing.push(close);
    const owner = await own(log, new Work());
    await until('the partition', () => owner.owned().includes(PARTITION));
    expect(ended()).toEqual([expect.objectContaining({ start: '0', committed: false })]);
    expect(await eventsAfterOneMore(log)).toEqual(['next']);
  });

  it('is not taken for aborted where the former owner commits it before the fence', async () => {
    const { log, prefix } = await newLog();
    const { transaction, close } = await begin(prefix);
    closing.push(close);
    let seen = 0;
    jest.spyOn(Cluster.prototype, 'transaction').mockImplementation(async function (this: Cluster, id) {
      const state = await describeTransaction.call(this, id);
      // The second time is the last one before the fence.
      if (state?.state === 'Ongoing' && ++seen === 2) await transaction.commit();
      return state;
    });
    const work = new Work();
    const owner = await own(log, work);
    await until('the alarm', () => logged.some(({ fields }) => 'alarm' in fields));
    expect(ended()).toEqual([]);
    // The former owner projects what it has committed.
    work.positions.set(PARTITION, 2n);
    await until('the partition', () => owner.owned().includes(PARTITION));
    expect(ended()).toEqual([expect.objectContaining({ start: '0', committed: true })]);
    expect(await eventsAfterOneMore(log)).toEqual(['hanging', 'next']);
  });

  it.each(['committed', 'aborted'] as const)(
    'is ended while its coordinator still knows that it was %s',
    async (how) => {
      const { log, prefix } = await newLog();
      await hang(prefix, how);
      const states: unknown[] = [];
      jest.spyOn(Cluster.prototype, 'endTransaction').mockImplementation(async function (this: Cluster, ...asked) {
        states.push((await this.transaction(`${prefix}intent-writer-${PARTITION}`))?.state);
        return endTransaction.apply(this, asked);
      });
      const owner = await own(log, new Work());
      await until('the partition', () => owner.owned().includes(PARTITION));
      // Not after the fence: a process that dies between the two would take the outcome with it.
      expect(states).toEqual([how === 'committed' ? 'CompleteCommit' : 'CompleteAbort']);
      expect(ended()).toEqual([expect.objectContaining({ start: '0', committed: how === 'committed' })]);
    },
  );

  it('raises an alarm and keeps its partition without an owner where the outcome is not known', async () => {
    const { log, prefix } = await newLog();
    await fenceAndEnd(brokers.addresses, `${prefix}stranger`, `${prefix}intent.dead`, 'committed');
    await append(prefix, `${prefix}stranger`, 0);
    const work = new Work();
    const owner = await own(log, work);
    await until('the alarm', () => logged.some(({ fields }) => 'alarm' in fields));
    expect(logged.find(({ fields }) => 'alarm' in fields)?.fields).toMatchObject({
      alarm: 'hanging_transaction',
      partition: PARTITION,
      start: '0',
    });
    await until('the other partitions', () => owner.owned().length === PARTITIONS - 1);
    expect(owner.owned()).not.toContain(PARTITION);
    // What the runbook does.
    work.positions.set(PARTITION, 2n);
    await until('the partition', () => owner.owned().includes(PARTITION));
  });

  it('is left alone while its coordinator has it open', async () => {
    const { log, prefix } = await newLog();
    const topic = `${prefix}intent.events`;
    const { transaction, close } = await beginTransaction(brokers.addresses, `${prefix}other`, topic, PARTITION);
    closing.push(close);
    const owner = await own(log, new Work());
    await until('the wait', () =>
      logged.some(
        ({ fields }) =>
          'err' in fields &&
          fields.err instanceof Error &&
          fields.err.message.includes(`${prefix}other, which is open`),
      ),
    );
    expect(owner.owned()).not.toContain(PARTITION);
    await transaction.commit();
    await until('the partition', () => owner.owned().includes(PARTITION));
    expect(ended()).toEqual([]);
  });

  it('gets no record of the next transaction when its owner survives the broker', async () => {
    const { log, prefix } = await newLog();
    const work = new Work();
    const owner = await own(log, work);
    await until('the partition', () => owner.owned().includes(PARTITION));
    expect(await eventsAfterOneMore(log)).toEqual(['next']);
    // As if the second commit of this owner had been acknowledged and projected, and then the broker was killed.
    const start = await append(prefix, `${prefix}intent-writer-${PARTITION}`, 1);
    work.positions.set(PARTITION, start + 2n);
    const [broker] = brokers.nodes;
    await broker?.kill();
    await broker?.start();
    const [publisher, reader] = [await log.publisher(), await log.reader('test')];
    closing.push(
      () => publisher.close(),
      () => reader.close(),
    );
    const last = { partition: PARTITION, key: 'key', value: 'last' };
    await publisher.publish('intent.commands', last, AbortSignal.timeout(60_000));
    await until('the last event', () => work.projected.includes('last') || work.caughtUp.includes('last'));
    expect(ended()).toEqual([expect.objectContaining({ start: String(start), committed: true })]);
    const values: (string | null)[] = [];
    for await (const { records } of reader.read('intent.events', PARTITION, 0n, work.positions.get(PARTITION) ?? 0n))
      values.push(...records.map(({ value }) => value));
    expect(values).toEqual(['next', 'hanging', 'last']);
  });
});
