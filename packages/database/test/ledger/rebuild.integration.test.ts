import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import { events, samples } from '@pf/domain/testing';
import { ProjectionWriter, readCheckpoint, rebuildProjection, verifyProjection } from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';
import { PartitionLog } from './partition-log.ts';

describe('Folding a partition of the log from empty', () => {
  const partition = 2;
  const log = new PartitionLog(partition);
  const ids = Array.from({ length: 20 }, () => newIntentId(partition));
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await createOwnDatabase();
    const projection = new ProjectionWriter(own.database.sql);
    await readCheckpoint(own.database, partition);
    let position = 0n;
    for (const [index, id] of ids.entries()) {
      const history = [
        events.created({ metadata: { [`key ${index}`]: 'väl"ue' } }),
        events.detected(),
        ...(index % 2 === 0 ? [events.cancelled()] : [events.built(), events.confirmed(samples.FIRST)]),
      ].map((event) => events.of(id, event));
      const next = position + BigInt(history.length);
      await projection.project(log.append(position, next, ...history));
      position = next;
    }
  });
  afterAll(() => own.close());

  const end = () => BigInt(log.envelopes.length);
  const differing = async () => (await verifyProjection(own.database, partition, log.read)).differing;

  it('gives the projection, byte for byte', async () => {
    expect(await verifyProjection(own.database, partition, log.read)).toEqual({
      partition,
      position: end(),
      events: log.envelopes.length,
      intents: ids.length,
      differing: [],
    });
  });

  it('finds a changed row and a missing event, and a rebuild repairs both', async () => {
    const [first = '', second = ''] = ids;
    await own.database.sql.query("UPDATE ledger.intents SET fulfiller = '0xchanged' WHERE id = $1", [first]);
    await own.database.sql.query('DELETE FROM ledger.intent_events WHERE intent_id = $1', [second]);
    expect(await differing()).toEqual([first, second].sort());

    const report = await rebuildProjection(own.database, partition, end(), log.read);
    expect(report.differing).toEqual([first, second].sort());
    expect(await differing()).toEqual([]);
    expect((await readCheckpoint(own.database, partition)).position).toBe(end());
  });

  it('fills an empty projection', async () => {
    await own.database.sql.query('TRUNCATE ledger.intents, ledger.intent_events, ledger.checkpoints');
    const report = await rebuildProjection(own.database, partition, end(), log.read);
    expect([...report.differing].sort()).toEqual([...ids].sort());
    expect(await differing()).toEqual([]);
  });
});
