import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PARTITION, PATIENCE_MS, Harness } from '../harness.ts';
import { until } from '../stack.ts';

describe('PartitionOwner', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await Harness.open();
  });
  afterEach(() => harness.close());

  it('appends events for the input of both topics and moves the consumed offsets', async () => {
    await harness.start();
    await Promise.all([harness.send(1), harness.send(2, {}, 'chain.observations'), harness.send(3)]);
    await until(() => harness.handled.length === 3, 'three inputs');
    expect((await harness.events(3)).map(({ id }) => id).sort()).toEqual([1, 2, 3]);
    await until(
      async () => (await harness.reader.committed('intent', 'intent.commands', PARTITION)) === 2n,
      'the offsets of commands',
    );
    expect(await harness.reader.committed('intent', 'chain.observations', PARTITION)).toBe(1n);
    expect(await harness.reader.committed('intent', 'intent.commands', 0)).toBe(0n);
  });

  it('processes the commands of a partition in order, in turns with the other topic', async () => {
    const count = 1_000;
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        Promise.all([
          harness.send(index, { pad: 'x'.repeat(200) }),
          harness.send(count + index, {}, 'chain.observations'),
        ]),
      ),
    );
    // In the order of the log: commands that were not acknowledged in time are published again.
    const [commands, observations] = [await harness.read('intent.commands'), await harness.read('chain.observations')];
    const all = commands.length + observations.length;
    await harness.start();
    await until(() => harness.ledger.load(PARTITION).count === all, 'all inputs', PATIENCE_MS);
    const events = await harness.events(all);
    const ids = events.map(({ id }) => id);
    expect(ids.filter((id) => id < count)).toEqual(commands.map(({ key }) => Number(key)));
    // Neither topic waits until the other is empty.
    expect(ids.indexOf(count)).toBeLessThan(count / 2);
    expect(ids.indexOf(0)).toBeLessThan(count / 2);
    expect(events.map(({ version }) => version)).toEqual(events.map((_, index) => index + 1));
  });

  it('moves the offset over commands without events and projects their outcome', async () => {
    await harness.start();
    await harness.send(1, { refuse: true });
    await until(() => harness.handled.length === 1, 'the refusal');
    expect(await harness.events(0)).toEqual([]);
    await until(
      async () => (await harness.reader.committed('intent', 'intent.commands', PARTITION)) === 1n,
      'the offset',
    );
    await harness.send(2);
    await until(() => harness.handled.length === 2, 'the next command');
    expect((await harness.events(1)).map(({ id }) => id)).toEqual([2]);
  });

  it('appends more than one request can hold in one transaction', async () => {
    await harness.start();
    await harness.send(1, { copies: 30, pad: 'x'.repeat(60_000) });
    await until(() => harness.handled.length === 1, 'the command');
    expect(await harness.events(30)).toHaveLength(30);
    await harness.send(2);
    await until(() => harness.handled.length === 2, 'the next command');
    expect((await harness.events(31)).at(-1)).toMatchObject({ id: 2, version: 31, offset: 31n });
  });

  it('projects committed events after a failed projection, and goes on after them', async () => {
    let failures = 1;
    const work = harness.work({
      at: async (moment) => {
        if (moment === 'committed' && failures-- > 0) throw new Error('the database is unavailable');
      },
    });
    await harness.start(work);
    await harness.send(1);
    await until(() => work.caughtUp === 1, 'the catch-up');
    await harness.send(2);
    await until(() => harness.handled.includes(2), 'the next command');
    expect(harness.lost).toEqual([PARTITION]);
    expect((await harness.events(2)).map(({ id, version }) => [id, version])).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(harness.ledger.load(PARTITION).count).toBe(2);
  });

  it('decides a batch again after deciding failed, and loses nothing', async () => {
    let failures = 2;
    await harness.start(
      harness.work({
        at: async (moment) => {
          if (moment === 'decided' && failures-- > 0) throw new Error('the database is unavailable');
        },
      }),
    );
    await Promise.all([harness.send(1), harness.send(2)]);
    await until(() => harness.handled.length === 2, 'both commands');
    expect((await harness.events(2)).map(({ id }) => id)).toEqual([1, 2]);
  });

  it('loses the partition when another process moved the checkpoint, and reacquires it from there', async () => {
    await harness.start();
    await harness.send(1);
    await until(() => harness.handled.length === 1, 'the first command');
    const { position, count, hash } = harness.ledger.load(PARTITION);
    // As if another process had projected the next event, which is at this offset.
    const values = [JSON.stringify({ id: 2, version: 2 })];
    expect(
      harness.ledger.move(PARTITION, position, { position: position + 2n, count: count + values.length, hash }),
    ).toBe(true);
    await harness.send(2);
    await until(() => harness.lost.length === 1, 'the partition to be given up');
    await harness.send(3);
    await until(() => harness.handled.includes(3), 'the next command');
    expect((await harness.events(3)).map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  it('commits nothing that was decided on a projection that was set back, and catches up first', async () => {
    const work = harness.work({ rereads: true });
    await harness.start(work);
    await harness.send(1);
    await until(() => harness.handled.length === 1, 'the first command');
    const copy = harness.ledger.load(PARTITION);
    await harness.send(2);
    await until(() => harness.handled.length === 2, 'the second command');
    harness.ledger.setBack(PARTITION, copy);
    await harness.send(3);
    await until(() => harness.handled.length === 3, 'the third command');
    expect((await harness.events(3)).map(({ id, version }) => [id, version])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    expect(work.caughtUp).toBe(1);
    expect(harness.ledger.load(PARTITION).count).toBe(3);
  });

  describe('with its own work', () => {
    const expiry = (id: number) => async () => ({
      append: [{ partition: PARTITION, key: String(id), value: JSON.stringify({ id, version: 0 }) }],
      position: null,
      context: { values: [], ids: [id] },
    });

    it('runs it only after the input that was there before', async () => {
      const gate = Promise.withResolvers<void>();
      const running = await harness.start(
        harness.work({ at: async (moment) => (moment === 'decided' ? gate.promise : undefined) }),
      );
      await Promise.all([harness.send(1, {}, 'chain.observations'), harness.send(2, {}, 'chain.observations')]);
      const after = {
        topic: 'chain.observations',
        offset: await harness.reader.endOffset('chain.observations', PARTITION),
      } as const;
      const done = running.run(PARTITION, after, expiry(99));
      gate.resolve();
      await done;
      expect(harness.handled).toEqual([1, 2, 99]);
      expect((await harness.events(3)).map(({ id }) => id)).toEqual([1, 2, 99]);
      await running.run(PARTITION, null, expiry(100));
      await running.run(PARTITION, after, expiry(101));
      expect(harness.handled.slice(3)).toEqual([100, 101]);
    });

    it('resolves without running it when the partition is lost meanwhile or not owned', async () => {
      const running = await harness.start();
      const waiting = running.run(PARTITION, { topic: 'intent.commands', offset: 1_000n }, expiry(99));
      await running.stop();
      await waiting;
      await running.run(PARTITION, null, expiry(100));
      expect(harness.handled).toEqual([]);
      expect(await harness.events(0)).toEqual([]);
    });
  });

  it('finishes the batch in progress when it is stopped, and leaves the rest to the next owner', async () => {
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const running = await harness.start(
      harness.work({
        at: async (moment) => {
          if (moment === 'decided') {
            begun.resolve();
            await gate.promise;
          }
        },
      }),
    );
    await harness.send(1);
    await begun.promise;
    await harness.send(2);
    const stopped = running.stop();
    gate.resolve();
    await stopped;
    expect(harness.handled).toEqual([1]);
    expect(harness.lost).toContain(PARTITION);
    await harness.start();
    await until(() => harness.handled.length === 2, 'the rest');
    expect((await harness.events(2)).map(({ id }) => id)).toEqual([1, 2]);
  });

  it('measures how long the group has been silent', async () => {
    const running = await harness.start();
    await until(() => running.idleMs() < 100, 'a heartbeat');
    expect(running.owned()).toEqual([0, 1, 2, 3, 4, 5]);
  });
});
