import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { EventLog, EventLogOptions, InputTopic, LogReader, PartitionOwner, Publisher } from '../src/index.ts';
import { type Hooks, Ledger, LedgerWork, type TestCommand, type TestEvent } from './ledger.ts';
import { collect, freshLog, freshOptions, PARTITIONS, until } from './stack.ts';

// A busy machine is slow, not wrong.
jest.setTimeout(30_000);

const PARTITION = 2;

describe('the partition owner', () => {
  let options: EventLogOptions;
  let log: EventLog;
  let reader: LogReader;
  let publisher: Publisher;
  let ledger: Ledger;
  let handled: number[];
  let lost: number[];
  let owner: PartitionOwner<unknown> | null;

  beforeEach(async () => {
    options = freshOptions();
    log = await freshLog(options);
    reader = await log.reader('test');
    publisher = await log.publisher();
    ledger = new Ledger(':memory:');
    handled = [];
    lost = [];
    owner = null;
  });

  afterEach(async () => {
    await owner?.stop();
    await Promise.all([publisher.close(), reader.close()]);
    ledger.close();
  });

  const send = (id: number, more: Partial<TestCommand> = {}, topic: InputTopic = 'intent.commands'): Promise<void> => publisher.publish(topic, { partition: PARTITION, key: String(id), value: JSON.stringify({ id, ...more }) });
  const workOf = (hooks: Hooks = {}): LedgerWork => new LedgerWork(ledger, { published: (_, ids) => handled.push(...ids), lost: (partition) => lost.push(partition), ...hooks });

  async function start(work = workOf()): Promise<PartitionOwner<unknown>> {
    const starting = log.partitionOwner(work, (error) => {
      throw error;
    });
    owner = starting;
    await starting.start();
    await until(() => starting.owned().length === PARTITIONS, 'all partitions');
    return starting;
  }

  /** The events of the partition, once they are so many: a commit is visible to others some milliseconds after its answer. */
  async function events(count: number): Promise<(TestEvent & { readonly offset: bigint })[]> {
    let found = await readEvents();
    await until(async () => (found = await readEvents()).length >= count, `${count} events`);
    return found;
  }

  async function readEvents(): Promise<(TestEvent & { readonly offset: bigint })[]> {
    const batches = await collect(reader.read('intent.events', PARTITION, 0n, await reader.endOffset('intent.events', PARTITION)));
    return batches.flatMap(({ records }) => records.map(({ value, offset }) => ({ ...(JSON.parse(value ?? '') as TestEvent), offset })));
  }

  it('turns the inputs of both topics into events, and moves the consumed offsets with them', async () => {
    await start();
    await Promise.all([send(1), send(2, {}, 'chain.observations'), send(3)]);
    await until(() => handled.length === 3, 'three inputs');
    expect((await events(3)).map(({ id }) => id).sort()).toEqual([1, 2, 3]);
    await until(async () => (await reader.committed('intent', 'intent.commands', PARTITION)) === 2n, 'the offsets of commands');
    expect(await reader.committed('intent', 'chain.observations', PARTITION)).toBe(1n);
    expect(await reader.committed('intent', 'intent.commands', 0)).toBe(0n);
  });

  it('handles the commands of a partition in order, and takes turns with the other topic while many wait', async () => {
    const count = 1_000;
    await Promise.all(Array.from({ length: count }, (_, index) => Promise.all([send(index, { pad: 'x'.repeat(200) }), send(count + index, {}, 'chain.observations')])));
    await start();
    await until(() => handled.length === 2 * count, 'all inputs');
    const commands = handled.filter((id) => id < count);
    expect(commands).toEqual(Array.from({ length: count }, (_, index) => index));
    // Neither topic waits until the other is empty.
    expect(handled.indexOf(count)).toBeLessThan(count / 2);
    expect(handled.indexOf(0)).toBeLessThan(count / 2);
    expect((await events(2 * count)).map(({ version }) => version)).toEqual(Array.from({ length: 2 * count }, (_, index) => index + 1));
  });

  it('moves the offset over commands that lead to nothing, and projects their outcome', async () => {
    await start();
    await send(1, { refuse: true });
    await until(() => handled.length === 1, 'the refusal');
    expect(await events(0)).toEqual([]);
    await until(async () => (await reader.committed('intent', 'intent.commands', PARTITION)) === 1n, 'the offset');
    await send(2);
    await until(() => handled.length === 2, 'the next command');
    expect((await events(1)).map(({ id }) => id)).toEqual([2]);
  });

  it('appends more than the broker takes in one request in one transaction', async () => {
    await start();
    await send(1, { copies: 30, pad: 'x'.repeat(60_000) });
    await until(() => handled.length === 1, 'the command');
    expect(await events(30)).toHaveLength(30);
    await send(2);
    await until(() => handled.length === 2, 'the next command');
    expect((await events(31)).at(-1)).toMatchObject({ id: 2, version: 31, offset: 31n });
  });

  it('projects what was committed when the projection failed, and goes on behind it', async () => {
    let failures = 1;
    const work = workOf({ at: async (moment) => { if (moment === 'committed' && failures-- > 0) throw new Error('the database is away'); } });
    await start(work);
    await send(1);
    await until(() => work.caughtUp === 1, 'the catch-up');
    await send(2);
    await until(() => handled.includes(2), 'the next command');
    expect(lost).toEqual([PARTITION]);
    expect((await events(2)).map(({ id, version }) => [id, version])).toEqual([[1, 1], [2, 2]]);
    expect(ledger.load(PARTITION).count).toBe(2);
  });

  it('decides a slice again when deciding failed, and loses nothing', async () => {
    let failures = 2;
    await start(workOf({ at: async (moment) => { if (moment === 'decided' && failures-- > 0) throw new Error('the database is away'); } }));
    await Promise.all([send(1), send(2)]);
    await until(() => handled.length === 2, 'both commands');
    expect((await events(2)).map(({ id }) => id)).toEqual([1, 2]);
  });

  it('gives the partition up when somebody else has moved the checkpoint, and takes it up where that one stands', async () => {
    await start();
    await send(1);
    await until(() => handled.length === 1, 'the first command');
    const { position, count, hash } = ledger.load(PARTITION);
    // As if a process had projected the next event, which is at this offset, under us.
    const values = [JSON.stringify({ id: 2, version: 2 })];
    expect(ledger.move(PARTITION, position, { position: position + 2n, count: count + values.length, hash })).toBe(true);
    await send(2);
    await until(() => lost.length === 1, 'the partition to be given up');
    await send(3);
    await until(() => handled.includes(3), 'the next command');
    expect((await events(3)).map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  describe('with work of its own', () => {
    const expiry = (id: number) => async () => ({ append: [{ partition: PARTITION, key: String(id), value: JSON.stringify({ id, version: 0 }) }], context: { values: [], ids: [id] } });

    it('runs it only after the input that was there before', async () => {
      const gate = Promise.withResolvers<void>();
      const running = await start(workOf({ at: async (moment) => (moment === 'decided' ? gate.promise : undefined) }));
      await Promise.all([send(1, {}, 'chain.observations'), send(2, {}, 'chain.observations')]);
      const after = { topic: 'chain.observations', offset: await reader.endOffset('chain.observations', PARTITION) } as const;
      const done = running.run(PARTITION, after, expiry(99));
      gate.resolve();
      await done;
      expect(handled).toEqual([1, 2, 99]);
      expect((await events(3)).map(({ id }) => id)).toEqual([1, 2, 99]);
      await running.run(PARTITION, null, expiry(100));
      await running.run(PARTITION, after, expiry(101));
      expect(handled.slice(3)).toEqual([100, 101]);
    });

    it('resolves without having run when the partition is lost meanwhile, or is not owned at all', async () => {
      const running = await start();
      const waiting = running.run(PARTITION, { topic: 'intent.commands', offset: 1_000n }, expiry(99));
      await running.stop();
      await waiting;
      await running.run(PARTITION, null, expiry(100));
      expect(handled).toEqual([]);
      expect(await events(0)).toEqual([]);
    });
  });

  it('finishes what is begun when it is stopped, and leaves the rest to the next', async () => {
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const running = await start(workOf({ at: async (moment) => { if (moment === 'decided') { begun.resolve(); await gate.promise; } } }));
    await send(1);
    await begun.promise;
    await send(2);
    const stopped = running.stop();
    gate.resolve();
    await stopped;
    expect(handled).toEqual([1]);
    expect(lost).toContain(PARTITION);
    await start();
    await until(() => handled.length === 2, 'the rest');
    expect((await events(2)).map(({ id }) => id)).toEqual([1, 2]);
  });

  it('says how long the group has been silent', async () => {
    const running = await start();
    await until(() => running.idleMs() < 100, 'a heartbeat');
    expect(running.owned()).toEqual([0, 1, 2, 3, 4, 5]);
  });
});
