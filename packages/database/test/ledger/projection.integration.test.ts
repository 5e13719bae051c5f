import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import type { IntentId } from '@pf/domain';
import { events } from '@pf/domain/testing';
import { findOutcomes, ProjectionGapError, ProjectionWriter, readCheckpoint } from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';
import { NOW, PartitionLog } from './partition-log.ts';

describe('Projecting a batch', () => {
  const partition = 3;
  let own: OwnDatabase;
  let projection: ProjectionWriter;
  let log: PartitionLog;
  let id: IntentId;
  beforeAll(async () => {
    own = await createOwnDatabase();
    projection = new ProjectionWriter(own.database.sql);
  });
  afterAll(() => own.close());
  beforeEach(async () => {
    await own.database.sql.query(
      'TRUNCATE ledger.intents, ledger.intent_events, ledger.checkpoints, service.command_outcomes',
    );
    await readCheckpoint(own.database, partition);
    log = new PartitionLog(partition);
    id = newIntentId(partition);
  });

  const created = (of = id) => events.of(of, events.created());
  const detected = () => events.of(id, events.detected());
  const rows = async () =>
    (
      await own.database.sql.query<{ id: string; version: number }>(
        'SELECT id, version FROM ledger.intents WHERE partition = $1 ORDER BY version',
        [partition],
      )
    ).rows;
  const position = async () => (await readCheckpoint(own.database, partition)).position;

  it('writes it once: at another checkpoint nothing changes', async () => {
    const first = log.append(0n, 2n, created());
    expect([await projection.project(first), await projection.project(first)]).toEqual([true, false]);
    const second = log.append(2n, 4n, detected());
    expect(await projection.project({ ...second, from: 1n })).toBe(false);
    expect([await rows(), await position()]).toEqual([[{ id, version: 1 }], 2n]);
    expect(await projection.project(second)).toBe(true);
    expect([await rows(), await position()]).toEqual([[{ id, version: 2 }], 4n]);
  });

  it.each([
    ['is at another version', 'UPDATE ledger.intents SET version = 7 WHERE id = $1'],
    ['is missing', 'DELETE FROM ledger.intents WHERE id = $1'],
  ])('writes nothing of it if one intent %s', async (_what, damage) => {
    await projection.project(log.append(0n, 2n, created()));
    await own.database.sql.query(damage, [id]);
    const before = await rows();
    const batch = log.append(2n, 5n, created(newIntentId(partition)), detected());
    await expect(projection.project(batch)).rejects.toBeInstanceOf(ProjectionGapError);
    const commandIds = batch.outcomes.map(({ outcome }) => outcome.commandId);
    expect(commandIds).toHaveLength(2);
    expect([await rows(), await position(), await findOutcomes(own.database, commandIds)]).toEqual([before, 2n, []]);
  });

  it('writes nothing of it if an intent that it creates exists already', async () => {
    const first = log.append(0n, 2n, created());
    await projection.project(first);
    await expect(projection.project({ ...first, from: 2n, next: 4n, events: [], outcomes: [] })).rejects.toBeInstanceOf(
      ProjectionGapError,
    );
    expect(await position()).toBe(2n);
  });

  it('never moves the last time back', async () => {
    await projection.project(log.append(0n, 2n, created()));
    await projection.project({ ...log.append(2n, 3n), lastAt: NOW - 1_000 });
    expect((await readCheckpoint(own.database, partition)).lastAt).toBe(NOW);
  });
});
