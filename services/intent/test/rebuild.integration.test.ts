import { newIntentId } from '@pf/contracts';
import { findOutcomes, type LogSource, rebuildProjection, type RebuildReport, verifyProjection } from '@pf/database';
import type { LogReader } from '@pf/event-log';
import { about, gateway, samples, watcher } from '@pf/domain/testing';
import { type Cluster, compareProjection, readWholeLog, startCluster, until } from '@pf/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { create, observed, of, PARTITIONS } from './messages.ts';
import { CommandClient, type RunningWriter, startWriter } from './running-writer.ts';

// The machine may be busy with the stack.
let cluster: Cluster;
let running: RunningWriter;
let client: CommandClient;
let reader: LogReader;

beforeAll(async () => {
  cluster = await startCluster();
  [client, reader] = [await CommandClient.open(cluster.log, cluster.database), await cluster.log.reader('rebuild')];
  running = await startWriter(cluster);
  // Intents in many states, in all partitions: built, pending, finalized, refunded, cancelled.
  await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const partition = index % PARTITIONS;
      const { intentId } = (await client.execute(create({ metadata: { [`key ${index}`]: 'väl"ue' } }, { partition })))
        .outcome;
      if (index % 5 === 0) await client.execute(of(intentId, gateway.cancel()));
      if (index % 5 === 1) await client.execute(of(intentId, gateway.recordBuild()));
      if (index % 5 === 2) await client.send(observed(about(intentId, watcher.landedFinal(samples.FIRST))));
      if (index % 5 === 3) await client.execute(of(intentId, gateway.simulate('finalized')));
      if (index % 5 === 3) await client.execute(of(intentId, gateway.refund(newIntentId(partition))));
      // When this command has its reply, the observation before it has been decided, or will be soon.
      await client.execute(of(intentId, gateway.detect()));
    }),
  );
});

afterAll(async () => {
  await running.stop();
  await Promise.all([client.close(), reader.close()]);
  await cluster.close();
});

const logOf = (partition: number): LogSource => ({
  end: () => reader.endOffset('intent.events', partition),
  read: (from, end) => reader.read('intent.events', partition, from, end),
});
const verifyAll = (): Promise<readonly RebuildReport[]> =>
  Promise.all(
    Array.from({ length: PARTITIONS }, (_, partition) =>
      verifyProjection(cluster.database, partition, logOf(partition)),
    ),
  );

describe('Folding the log from empty', () => {
  it('equals the projection, byte for byte, while the writer keeps writing', async () => {
    const writing = Promise.all(Array.from({ length: 100 }, () => client.execute(create())));
    const reports = await verifyAll();
    await writing;
    for (const report of reports) expect(report.differing).toEqual([]);
    expect(reports.reduce((sum, { events }) => sum + events, 0)).toBeGreaterThan(100);
  });

  it('finds a changed row and a missing event, and a rebuild repairs both while the writer runs', async () => {
    const [first, second] = [
      await client.execute(create({}, { partition: 0 })),
      await client.execute(create({}, { partition: 0 })),
    ].map(({ outcome }) => outcome.intentId);
    await cluster.database.sql.query("UPDATE ledger.intents SET fulfiller = '0xchanged' WHERE id = $1", [first]);
    await cluster.database.sql.query('DELETE FROM ledger.intent_events WHERE intent_id = $1', [second]);
    expect((await verifyProjection(cluster.database, 0, logOf(0))).differing).toEqual([first, second].sort());

    const report = await rebuildProjection(cluster.database, 0, logOf(0));
    expect(report.differing).toEqual([first, second].sort());
    expect((await verifyProjection(cluster.database, 0, logOf(0))).differing).toEqual([]);
    // The writer that owns the partition continues from there.
    expect(await client.execute(of(first ?? newIntentId(0), gateway.cancel()))).toMatchObject({
      intent: { state: 'cancelled', fulfiller: null },
    });
  });

  it('leaves the partition writable, and takes over what the writer appends meanwhile', async () => {
    const log = logOf(0);
    const [reading, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const rebuilding = rebuildProjection(cluster.database, 0, {
      ...log,
      read: async function* (from, end) {
        reading.resolve();
        await gate.promise;
        yield* log.read(from, end);
      },
    });
    await reading.promise;
    const { intentId } = (await client.execute(create({}, { partition: 0 }))).outcome;
    await client.execute(of(intentId, gateway.cancel()));
    gate.resolve();
    const { position, end, differing } = await rebuilding;
    expect([position, differing]).toEqual([end, []]);
    expect((await verifyProjection(cluster.database, 0, log)).differing).toEqual([]);
  });

  it('lets the writer’s projections fail at once during the switch, and it recovers afterwards', async () => {
    const log = logOf(0);
    const [locked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const isLocked = (): Promise<boolean> =>
      cluster.database.sql.query('SELECT FROM ledger.checkpoints WHERE partition = 0 FOR UPDATE NOWAIT').then(
        () => false,
        () => true,
      );
    const rebuilding = rebuildProjection(cluster.database, 0, {
      ...log,
      end: async () => {
        const end = await log.end();
        if (await isLocked()) {
          locked.resolve();
          await gate.promise;
        }
        return end;
      },
    });
    await locked.promise;
    const command = create({}, { partition: 0 });
    await client.send(command);
    try {
      await until('the partition to be lost', () => !running.owner.owned().includes(0));
      const { rows } = await cluster.database.sql.query(
        `SELECT query FROM pg_locks JOIN pg_stat_activity USING (pid)
          WHERE datname = current_database() AND NOT granted`,
      );
      expect(rows).toEqual([]);
    } finally {
      gate.resolve();
    }
    expect((await rebuilding).differing).toEqual([]);
    await client.outcome(command.commandId);
    expect((await verifyProjection(cluster.database, 0, log)).differing).toEqual([]);
    expect(await client.execute(of(command.intentId, gateway.cancel()))).toMatchObject({
      intent: { state: 'cancelled' },
    });
  });

  it('writes the intents, and the outcomes of commands, whose events were not projected before a rebuild', async () => {
    const command = create({}, { partition: 1 });
    await client.execute(command);
    await running.stop();
    const { sql } = cluster.database;
    await sql.query('DELETE FROM service.command_outcomes WHERE command_id = $1', [command.commandId]);
    await sql.query('DELETE FROM ledger.intents WHERE id = $1', [command.intentId]);
    await sql.query('DELETE FROM ledger.intent_events WHERE intent_id = $1', [command.intentId]);
    await sql.query('UPDATE ledger.checkpoints SET position = position - 2 WHERE partition = 1');
    await rebuildProjection(cluster.database, 1, logOf(1));
    const [outcome] = await findOutcomes(cluster.database, [command.commandId]);
    expect(outcome).toMatchObject({ kind: 'accepted', intentId: command.intentId });
    // And the intents: the next owner finds nothing left to catch up with.
    expect((await verifyProjection(cluster.database, 1, logOf(1))).differing).toEqual([]);
    running = await startWriter(cluster);
  });

  it('restores a dropped projection when the writer starts', async () => {
    const before = (await cluster.database.sql.query<{ state: string }>('SELECT state FROM ledger.intents ORDER BY id'))
      .rows;
    await running.stop();
    await cluster.database.sql.query('TRUNCATE ledger.intents, ledger.intent_events, ledger.checkpoints');
    running = await startWriter(cluster);
    expect((await cluster.database.sql.query('SELECT state FROM ledger.intents ORDER BY id')).rows).toEqual(before);
    for (const report of await verifyAll()) expect(report.differing).toEqual([]);
    const { intents, problems } = await readWholeLog(cluster);
    expect([problems, await compareProjection(cluster.database, intents)]).toEqual([[], []]);
  });
});
