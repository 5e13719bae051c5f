import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeEvent, newIntentId } from '@pf/contracts';
import { deposits, events, samples } from '@pf/domain/testing';
import {
  createStore,
  type EventRecord,
  type LogFault,
  type LogSource,
  ProjectionWriter,
  readCheckpoint,
  rebuildProjection,
  UnsoundLogError,
  verifyProjection,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';
import { DepositLog, newDeposit } from './deposit-log.ts';
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
  const differing = async () => (await verifyProjection(own.database, partition, log)).differing;

  it('gives the projection, byte for byte', async () => {
    expect(await verifyProjection(own.database, partition, log)).toEqual({
      partition,
      position: end(),
      events: log.envelopes.length,
      intents: ids.length,
      projected: end(),
      end: end(),
      differing: [],
      missing: [],
      surplus: [],
      faults: [],
      faultCount: 0,
    });
  });

  it('finds a changed row and a missing event, and a rebuild repairs both', async () => {
    const [first = '', second = ''] = ids;
    await own.database.sql.query("UPDATE ledger.intents SET fulfiller = '0xchanged' WHERE id = $1", [first]);
    await own.database.sql.query('DELETE FROM ledger.intent_events WHERE intent_id = $1', [second]);
    expect(await differing()).toEqual([first, second].sort());

    const { watchedIntents } = createStore(own.database);
    expect(await watchedIntents.rebuilds()).toBe(0);
    const report = await rebuildProjection(own.database, partition, log);
    expect(report.differing).toEqual([first, second].sort());
    expect(await differing()).toEqual([]);
    expect(await watchedIntents.rebuilds()).toBe(1);
    expect((await readCheckpoint(own.database, partition)).position).toBe(end());
  });

  it('waits for a log that shows its last commit a moment after it was projected', async () => {
    let looks = 0;
    const late: LogSource = {
      end: async () => (++looks % 3 === 0 ? end() : end() - 1n),
      read: (from, to) => log.read(from, to),
    };
    expect(await verifyProjection(own.database, partition, late)).toMatchObject({ end: end(), differing: [] });
    expect(await rebuildProjection(own.database, partition, late)).toMatchObject({ end: end(), differing: [] });
  });

  it('fills an empty projection', async () => {
    await own.database.sql.query('TRUNCATE ledger.intents, ledger.intent_events, ledger.checkpoints');
    const report = await rebuildProjection(own.database, partition, log);
    expect([...report.differing].sort()).toEqual([...ids].sort());
    expect(await differing()).toEqual([]);
  });

  it('finds missing and surplus rows, also those without their intent, and a rebuild repairs both', async () => {
    const [first = '', second = ''] = ids;
    const [extra, orphan, elsewhere] = [newIntentId(partition), newIntentId(partition), newIntentId(partition + 1)];
    const { sql } = own.database;
    await sql.query('DELETE FROM ledger.intents WHERE id = $1', [first]);
    const columns = (await sql.query('SELECT * FROM ledger.intents WHERE id = $1', [second])).fields
      .map(({ name }) => name)
      .filter((name) => name !== 'id')
      .join(', ');
    await sql.query(
      `INSERT INTO ledger.intents (id, ${columns}) SELECT $2, ${columns} FROM ledger.intents WHERE id = $1`,
      [second, extra],
    );
    for (const id of [orphan, elsewhere])
      await sql.query(
        `INSERT INTO ledger.intent_events (intent_id, version, event_id, type, body, at)
          VALUES ($1, 1, 'evt', 'intent.created', '{}', now())`,
        [id],
      );
    const found = { missing: [first], surplus: [extra, orphan].sort(), differing: [first, extra, orphan].sort() };
    expect(await verifyProjection(own.database, partition, log)).toMatchObject(found);
    expect(await rebuildProjection(own.database, partition, log)).toMatchObject(found);
    expect(await differing()).toEqual([]);
    const { rows } = await sql.query<{ intent_id: string }>(
      'SELECT intent_id FROM ledger.intent_events WHERE body = $1',
      ['{}'],
    );
    expect(rows).toEqual([{ intent_id: elsewhere }]);
  });

  describe('of a damaged log', () => {
    const damaged = (damage: (records: EventRecord[]) => EventRecord[]): LogSource => {
      const records = damage(
        log.envelopes.map((envelope, index) => ({ offset: BigInt(index), value: encodeEvent(envelope) })),
      );
      return {
        end: () => Promise.resolve(BigInt(records.length)),
        read: async function* (from, to) {
          const batch = records.slice(Number(from), Number(to));
          if (batch.length > 0) yield { records: batch, next: to };
        },
      };
    };
    const numbered = (records: readonly EventRecord[]): EventRecord[] =>
      records.map(({ value }, index) => ({ offset: BigInt(index), value }));
    const last = () => end() - 1n;
    const idOf = (offset: bigint) => log.envelopes[Number(offset)]?.intentId ?? '';

    it.each<[string, (records: EventRecord[]) => EventRecord[], () => readonly Partial<LogFault>[]]>([
      [
        'repeats a version',
        (records) => numbered([...records, ...records.slice(1, 2)]),
        () => [{ kind: 'repeated', offset: end(), intentId: idOf(1n), version: 2 }],
      ],
      [
        'comes after a missing version',
        (records) => numbered(records.toSpliced(1, 1)),
        () => [{ kind: 'gap', offset: 1n, intentId: idOf(2n), version: 3 }],
      ],
      [
        'is unreadable',
        (records) => [...records, { offset: end(), value: '{}' }],
        () => [{ kind: 'unreadable', offset: end(), intentId: null, version: null }],
      ],
    ])(
      'names the record that %s, changes nothing, and rebuilds only where it is told to',
      async (_what, damage, faults) => {
        const broken = damaged(damage);
        const before = (await readCheckpoint(own.database, partition)).position;
        await own.database.sql.query('UPDATE ledger.checkpoints SET position = $2 WHERE partition = $1', [
          partition,
          await broken.end(),
        ]);
        expect(await verifyProjection(own.database, partition, broken)).toMatchObject({
          faults: faults(),
          faultCount: 1,
          missing: [],
          surplus: [],
        });
        await expect(rebuildProjection(own.database, partition, broken)).rejects.toBeInstanceOf(UnsoundLogError);
        expect((await rebuildProjection(own.database, partition, broken, { acceptLog: true })).faults).toEqual(
          faults(),
        );
        expect((await verifyProjection(own.database, partition, broken)).differing).toEqual([]);
        // Sound again.
        expect((await rebuildProjection(own.database, partition, log, { acceptLog: true })).end).toBe(before);
        expect(await differing()).toEqual([]);
      },
    );

    it('refuses a log that ends before the projection, and goes back to its end only where it is told to', async () => {
      const truncated = damaged((records) => records.slice(0, -1));
      const lost = idOf(last());
      expect(await verifyProjection(own.database, partition, truncated)).toMatchObject({
        projected: end(),
        end: last(),
        position: last(),
        differing: [lost],
      });
      await expect(rebuildProjection(own.database, partition, truncated)).rejects.toThrow(
        `is projected up to ${end()}, but its log ends at ${last()}`,
      );
      expect((await readCheckpoint(own.database, partition)).position).toBe(end());
      await rebuildProjection(own.database, partition, truncated, { acceptLog: true });
      expect((await readCheckpoint(own.database, partition)).position).toBe(last());
      expect((await verifyProjection(own.database, partition, truncated)).differing).toEqual([]);
    });
  });
});

describe('Folding deposits from empty', () => {
  const partition = 4;
  const { id, hash } = newDeposit(partition);
  const log = new DepositLog(partition);
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await createOwnDatabase();
    await readCheckpoint(own.database, partition);
    const projection = new ProjectionWriter(own.database.sql);
    const landed = deposits.depositLanded({ arrival: deposits.arrival({ hash }) }, id);
    await projection.project(log.append(0n, 1n, landed));
    await projection.project(log.append(1n, 3n, deposits.depositLost(deposits.arrival(), id), landed));
  });
  afterAll(() => own.close());
  const differences = async () => {
    const { differing, missing, surplus, faultCount } = await verifyProjection(own.database, partition, log);
    return { differing, missing, surplus, faultCount };
  };
  const SOUND = { differing: [], missing: [], surplus: [], faultCount: 0 };

  it('gives the projection, byte for byte', async () => {
    expect(await differences()).toEqual(SOUND);
  });

  it.each([
    ['a changed row', "UPDATE ledger.deposits SET level = 'lost'", { differing: [id] }],
    ['a missing row', 'DELETE FROM ledger.deposits', { differing: [id], missing: [id] }],
    ['a missing event', 'DELETE FROM ledger.intent_events WHERE version = 2', { differing: [id] }],
  ])('finds %s, and a rebuild repairs it', async (_what, damage, found) => {
    await own.database.sql.query(damage);
    expect(await differences()).toEqual({ ...SOUND, ...found });
    await rebuildProjection(own.database, partition, log);
    expect(await differences()).toEqual(SOUND);
  });

  it('finds a row that the log does not have, and a rebuild removes it', async () => {
    const other = id.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'));
    await own.database.sql.query(
      `INSERT INTO ledger.deposits SELECT (jsonb_populate_record(d, jsonb_build_object('id', $1::text))).*
        FROM ledger.deposits d`,
      [other],
    );
    expect(await differences()).toEqual({ ...SOUND, differing: [other], surplus: [other] });
    await rebuildProjection(own.database, partition, log);
    expect(await differences()).toEqual(SOUND);
  });
});
