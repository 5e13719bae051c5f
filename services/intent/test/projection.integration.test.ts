import { encodeEvent } from '@pf/contracts';
import { findOutcomes, type ProjectionBatch, ProjectionGapError, ProjectionWriter, readCheckpoint } from '@pf/database';
import { VersionGapError } from '@pf/domain';
import { createLogger } from '@pf/runtime';
import { gateway } from '@pf/domain/testing';
import { type Cluster, startCluster } from '@pf/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IntentWriter } from '../src/writer.ts';
import { create, of } from './messages.ts';
import { NOW, PartitionModel, raw } from './batches.ts';

// The machine may be busy with the rest of the stack.
jest.setTimeout(60_000);

let cluster: Cluster;
let projection: ProjectionWriter;

beforeAll(async () => {
  cluster = await startCluster();
  projection = new ProjectionWriter(cluster.database.sql);
});

afterAll(() => cluster.close());

const partition = 3;
beforeEach(async () => {
  await cluster.database.sql.query(
    'TRUNCATE ledger.intents, ledger.intent_events, ledger.checkpoints, service.command_outcomes',
  );
});

/** A partition that nothing has happened in. */
const fresh = async () => {
  await readCheckpoint(cluster.database, partition);
  const model = new PartitionModel();
  const made = create({}, { partition });
  const batch = (from: bigint, next: bigint, ...messages: Parameters<PartitionModel['take']>[0]): ProjectionBatch => {
    const { at, intents, events, outcomes } = model.take(messages, NOW);
    return { partition, from, next, lastAt: at, intents, events, outcomes };
  };
  return { partition, made, batch, model };
};
const rowsOf = async (at: number) =>
  (
    await cluster.database.sql.query<{ id: string; version: number }>(
      'SELECT id, version FROM ledger.intents WHERE partition = $1 ORDER BY version',
      [at],
    )
  ).rows;
const positionOf = async (at: number) => (await readCheckpoint(cluster.database, at)).position;

describe('Projecting a batch', () => {
  it('writes it once: at another checkpoint nothing changes', async () => {
    const { partition: at, made, batch } = await fresh();
    const first = batch(0n, 2n, made);
    expect([await projection.project(first), await projection.project(first)]).toEqual([true, false]);
    const second = batch(2n, 4n, of(made.intentId, gateway.detect()));
    expect(await projection.project({ ...second, from: 1n })).toBe(false);
    expect([await rowsOf(at), await positionOf(at)]).toEqual([[{ id: made.intentId, version: 1 }], 2n]);
    expect(await projection.project(second)).toBe(true);
    expect([await rowsOf(at), await positionOf(at)]).toEqual([[{ id: made.intentId, version: 2 }], 4n]);
  });

  it.each([
    ['is at another version', 'UPDATE ledger.intents SET version = 7 WHERE id = $1'],
    ['is not there', 'DELETE FROM ledger.intents WHERE id = $1'],
  ])('writes nothing of it where one intent %s', async (_what, damage) => {
    const { partition: at, made, batch } = await fresh();
    await projection.project(batch(0n, 2n, made));
    await cluster.database.sql.query(damage, [made.intentId]);
    const [before, other, detect] = [
      await rowsOf(at),
      create({}, { partition: at }),
      of(made.intentId, gateway.detect()),
    ];
    await expect(projection.project(batch(2n, 5n, other, detect))).rejects.toBeInstanceOf(ProjectionGapError);
    expect([
      await rowsOf(at),
      await positionOf(at),
      await findOutcomes(cluster.database, [other.commandId, detect.commandId]),
    ]).toEqual([before, 2n, []]);
  });

  it('writes nothing of it where an intent that it makes is there already', async () => {
    const { partition: at, made, batch } = await fresh();
    const first = batch(0n, 2n, made);
    await projection.project(first);
    await expect(projection.project({ ...first, from: 2n, next: 4n, events: [], outcomes: [] })).rejects.toBeInstanceOf(
      ProjectionGapError,
    );
    expect(await positionOf(at)).toBe(2n);
  });

  it('never lets the last time go back', async () => {
    const { partition: at, made, batch } = await fresh();
    await projection.project(batch(0n, 2n, made));
    await projection.project({ ...batch(2n, 3n), lastAt: NOW - 1_000 });
    expect((await readCheckpoint(cluster.database, at)).lastAt).toBe(NOW);
  });
});

describe('Catching up with a log', () => {
  const writerWith = (lines: object[]) => {
    const log = createLogger('test', 'silent');
    jest.spyOn(log, 'error').mockImplementation((fields: unknown) => void lines.push(fields as object));
    return new IntentWriter({
      partitions: 6,
      database: cluster.database,
      publisher: {
        publish: () => Promise.reject(new Error('nothing is published here')),
        close: async () => undefined,
      },
      announcer: { announce: () => undefined },
      log,
    });
  };
  const record = (model: PartitionModel, index: number) => ({
    ...raw(encodeEvent(model.log[index] ?? never())),
    topic: 'intent.events' as const,
    offset: BigInt(index),
  });
  const never = (): never => {
    throw new Error('the log is shorter');
  };

  it('stops at a gap, with an alarm, and writes nothing', async () => {
    const { partition: at, made, batch, model } = await fresh();
    await projection.project(batch(0n, 1n, made));
    batch(0n, 0n, of(made.intentId, gateway.detect()));
    batch(0n, 0n, of(made.intentId, gateway.cancel()));
    const alarms: object[] = [];
    await expect(writerWith(alarms).catchUp(at, 1n, [record(model, 2)], 3n)).rejects.toBeInstanceOf(VersionGapError);
    expect(alarms).toMatchObject([{ alarm: 'version_gap', partition: at }]);
    expect([await rowsOf(at), await positionOf(at)]).toEqual([[{ id: made.intentId, version: 1 }], 1n]);
  });

  it('passes over what has been applied before', async () => {
    const { partition: at, made, batch, model } = await fresh();
    await projection.project(batch(0n, 0n, made));
    batch(0n, 0n, of(made.intentId, gateway.detect()));
    expect(await writerWith([]).catchUp(at, 0n, [record(model, 0), record(model, 1)], 2n)).toBe(true);
    expect([await rowsOf(at), await positionOf(at)]).toEqual([[{ id: made.intentId, version: 2 }], 2n]);
  });

  it('stops at a record that is no event', async () => {
    const { partition: at } = await fresh();
    await expect(
      writerWith([]).catchUp(at, 0n, [{ ...raw('{}'), topic: 'intent.events', offset: 9n }], 10n),
    ).rejects.toThrow(/offset 9 /);
    expect(await positionOf(at)).toBe(0n);
  });
});
