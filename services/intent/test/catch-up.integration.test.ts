import { trustedClock } from '@pf/clock';
import { encodeEvent } from '@pf/contracts';
import {
  createStore,
  type ProjectionBatch,
  ProjectionWriter,
  readCheckpoint,
  RepeatedVersionError,
} from '@pf/database';
import { VersionGapError } from '@pf/domain';
import { createLogger } from '@pf/runtime';
import { gateway } from '@pf/domain/testing';
import { type Cluster, startCluster } from '@pf/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IntentWriter } from '../src/writer.ts';
import { create, of } from './messages.ts';
import { NOW, PartitionModel, raw } from './batches.ts';

// The machine may be busy with the stack.
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

/** A partition without events. */
const emptyPartition = async () => {
  await readCheckpoint(cluster.database, partition);
  const model = new PartitionModel();
  const made = create({}, { partition });
  const batch = (
    from: bigint,
    next: bigint,
    ...messages: Parameters<PartitionModel['process']>[0]
  ): ProjectionBatch => {
    const { at, intents, events, outcomes } = model.process(messages, NOW);
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

describe('A writer that catches up with the log', () => {
  const writerLoggingTo = (errors: object[]) => {
    const log = createLogger('test', 'silent');
    jest.spyOn(log, 'error').mockImplementation((fields: unknown) => void errors.push(fields as object));
    return new IntentWriter({
      partitions: 6,
      ledger: createStore(cluster.database).ledger,
      publisher: {
        publish: () => Promise.reject(new Error('nothing is published here')),
        close: async () => undefined,
      },
      announcer: { announce: () => undefined },
      clock: trustedClock(),
      log,
    });
  };
  const record = (model: PartitionModel, index: number) => ({
    ...raw(encodeEvent(model.log[index] ?? outOfRange())),
    topic: 'intent.events' as const,
    offset: BigInt(index),
  });
  const outOfRange = (): never => {
    throw new Error('the log is shorter');
  };

  it('stops at a version gap, with an alarm, and writes nothing', async () => {
    const { partition: at, made, batch, model } = await emptyPartition();
    await projection.project(batch(0n, 1n, made));
    batch(0n, 0n, of(made.intentId, gateway.detect()));
    batch(0n, 0n, of(made.intentId, gateway.cancel()));
    const errors: object[] = [];
    await expect(writerLoggingTo(errors).catchUp(at, 1n, [record(model, 2)], 3n)).rejects.toBeInstanceOf(
      VersionGapError,
    );
    expect(errors).toMatchObject([{ alarm: 'version_gap', partition: at }]);
    expect([await rowsOf(at), await positionOf(at)]).toEqual([[{ id: made.intentId, version: 1 }], 1n]);
  });

  it('stops at a version that the log repeats, with an alarm, and writes nothing', async () => {
    const { partition: at, made, batch, model } = await emptyPartition();
    await projection.project(batch(0n, 1n, made));
    const errors: object[] = [];
    await expect(writerLoggingTo(errors).catchUp(at, 1n, [record(model, 0)], 2n)).rejects.toBeInstanceOf(
      RepeatedVersionError,
    );
    expect(errors).toMatchObject([{ alarm: 'repeated_version', partition: at }]);
    expect([await rowsOf(at), await positionOf(at)]).toEqual([[{ id: made.intentId, version: 1 }], 1n]);
  });

  it('leaves alone what another owner has projected since its checkpoint was read', async () => {
    const { partition: at, made, batch, model } = await emptyPartition();
    await projection.project(batch(0n, 1n, made));
    expect(await writerLoggingTo([]).catchUp(at, 0n, [record(model, 0)], 1n)).toBe(false);
    expect([await rowsOf(at), await positionOf(at)]).toEqual([[{ id: made.intentId, version: 1 }], 1n]);
  });

  it('stops at a record that is not an event', async () => {
    const { partition: at } = await emptyPartition();
    await expect(
      writerLoggingTo([]).catchUp(at, 0n, [{ ...raw('{}'), topic: 'intent.events', offset: 9n }], 10n),
    ).rejects.toThrow(/offset 9 /);
    expect(await positionOf(at)).toBe(0n);
  });
});
