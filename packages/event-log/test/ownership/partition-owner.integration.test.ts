import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PARTITION, PATIENCE_MS, Stage } from '../harness.ts';
import { until } from '../stack.ts';

describe('PartitionOwner', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.open();
  });
  afterEach(() => stage.close());

  it('appends events for the input of both topics and moves the consumed offsets', async () => {
    await stage.start();
    await Promise.all([stage.send(1), stage.send(2, {}, 'chain.observations'), stage.send(3)]);
    await until(() => stage.handled.length === 3, 'three inputs');
    expect((await stage.events(3)).map(({ id }) => id).sort()).toEqual([1, 2, 3]);
    await until(
      async () => (await stage.reader.committed('intent', 'intent.commands', PARTITION)) === 2n,
      'the offsets of commands',
    );
    expect(await stage.reader.committed('intent', 'chain.observations', PARTITION)).toBe(1n);
    expect(await stage.reader.committed('intent', 'intent.commands', 0)).toBe(0n);
  });

  it('processes the commands of a partition in order, in turns with the other topic', async () => {
    const count = 1_000;
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        Promise.all([stage.send(index, { pad: 'x'.repeat(200) }), stage.send(count + index, {}, 'chain.observations')]),
      ),
    );
    // In the order of the log: commands that were not acknowledged in time are published again.
    const [commands, observations] = [await stage.read('intent.commands'), await stage.read('chain.observations')];
    const all = commands.length + observations.length;
    await stage.start();
    await until(() => stage.ledger.load(PARTITION).count === all, 'all inputs', PATIENCE_MS);
    const events = await stage.events(all);
    const ids = events.map(({ id }) => id);
    expect(ids.filter((id) => id < count)).toEqual(commands.map(({ key }) => Number(key)));
    // Neither topic waits until the other is empty.
    expect(ids.indexOf(count)).toBeLessThan(count / 2);
    expect(ids.indexOf(0)).toBeLessThan(count / 2);
    expect(events.map(({ version }) => version)).toEqual(events.map((_, index) => index + 1));
  });

  it('moves the offset over commands without events and projects their outcome', async () => {
    await stage.start();
    await stage.send(1, { refuse: true });
    await until(() => stage.handled.length === 1, 'the refusal');
    expect(await stage.events(0)).toEqual([]);
    await until(
      async () => (await stage.reader.committed('intent', 'intent.commands', PARTITION)) === 1n,
      'the offset',
    );
    await stage.send(2);
    await until(() => stage.handled.length === 2, 'the next command');
    expect((await stage.events(1)).map(({ id }) => id)).toEqual([2]);
  });

  it('appends more than one request can hold in one transaction', async () => {
    await stage.start();
    await stage.send(1, { copies: 30, pad: 'x'.repeat(60_000) });
    await until(() => stage.handled.length === 1, 'the command');
    expect(await stage.events(30)).toHaveLength(30);
    await stage.send(2);
    await until(() => stage.handled.length === 2, 'the next command');
    expect((await stage.events(31)).at(-1)).toMatchObject({ id: 2, version: 31, offset: 31n });
  });

  it('projects committed events after a failed projection, and goes on after them', async () => {
    let failures = 1;
    const work = stage.work({
      at: async (moment) => {
        if (moment === 'committed' && failures-- > 0) throw new Error('the database is unavailable');
      },
    });
    await stage.start(work);
    await stage.send(1);
    await until(() => work.caughtUp === 1, 'the catch-up');
    await stage.send(2);
    await until(() => stage.handled.includes(2), 'the next command');
    expect(stage.lost).toEqual([PARTITION]);
    expect((await stage.events(2)).map(({ id, version }) => [id, version])).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(stage.ledger.load(PARTITION).count).toBe(2);
  });

  it('decides a batch again after deciding failed, and loses nothing', async () => {
    let failures = 2;
    await stage.start(
      stage.work({
        at: async (moment) => {
          if (moment === 'decided' && failures-- > 0) throw new Error('the database is unavailable');
        },
      }),
    );
    await Promise.all([stage.send(1), stage.send(2)]);
    await until(() => stage.handled.length === 2, 'both commands');
    expect((await stage.events(2)).map(({ id }) => id)).toEqual([1, 2]);
  });

  it('loses the partition when another process moved the checkpoint, and reacquires it from there', async () => {
    await stage.start();
    await stage.send(1);
    await until(() => stage.handled.length === 1, 'the first command');
    const { position, count, hash } = stage.ledger.load(PARTITION);
    // As if another process had projected the next event, which is at this offset.
    const values = [JSON.stringify({ id: 2, version: 2 })];
    expect(
      stage.ledger.move(PARTITION, position, { position: position + 2n, count: count + values.length, hash }),
    ).toBe(true);
    await stage.send(2);
    await until(() => stage.lost.length === 1, 'the partition to be given up');
    await stage.send(3);
    await until(() => stage.handled.includes(3), 'the next command');
    expect((await stage.events(3)).map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  describe('with its own work', () => {
    const expiry = (id: number) => async () => ({
      append: [{ partition: PARTITION, key: String(id), value: JSON.stringify({ id, version: 0 }) }],
      context: { values: [], ids: [id] },
    });

    it('runs it only after the input that was there before', async () => {
      const gate = Promise.withResolvers<void>();
      const running = await stage.start(
        stage.work({ at: async (moment) => (moment === 'decided' ? gate.promise : undefined) }),
      );
      await Promise.all([stage.send(1, {}, 'chain.observations'), stage.send(2, {}, 'chain.observations')]);
      const after = {
        topic: 'chain.observations',
        offset: await stage.reader.endOffset('chain.observations', PARTITION),
      } as const;
      const done = running.run(PARTITION, after, expiry(99));
      gate.resolve();
      await done;
      expect(stage.handled).toEqual([1, 2, 99]);
      expect((await stage.events(3)).map(({ id }) => id)).toEqual([1, 2, 99]);
      await running.run(PARTITION, null, expiry(100));
      await running.run(PARTITION, after, expiry(101));
      expect(stage.handled.slice(3)).toEqual([100, 101]);
    });

    it('resolves without running it when the partition is lost meanwhile or not owned', async () => {
      const running = await stage.start();
      const waiting = running.run(PARTITION, { topic: 'intent.commands', offset: 1_000n }, expiry(99));
      await running.stop();
      await waiting;
      await running.run(PARTITION, null, expiry(100));
      expect(stage.handled).toEqual([]);
      expect(await stage.events(0)).toEqual([]);
    });
  });

  it('finishes the batch in progress when it is stopped, and leaves the rest to the next owner', async () => {
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const running = await stage.start(
      stage.work({
        at: async (moment) => {
          if (moment === 'decided') {
            begun.resolve();
            await gate.promise;
          }
        },
      }),
    );
    await stage.send(1);
    await begun.promise;
    await stage.send(2);
    const stopped = running.stop();
    gate.resolve();
    await stopped;
    expect(stage.handled).toEqual([1]);
    expect(stage.lost).toContain(PARTITION);
    await stage.start();
    await until(() => stage.handled.length === 2, 'the rest');
    expect((await stage.events(2)).map(({ id }) => id)).toEqual([1, 2]);
  });

  it('measures how long the group has been silent', async () => {
    const running = await stage.start();
    await until(() => running.idleMs() < 100, 'a heartbeat');
    expect(running.owned()).toEqual([0, 1, 2, 3, 4, 5]);
  });
});
