import { newIntentId } from '@pf/contracts';
import { type ReadEvents, rebuildProjection, type RebuildReport, verifyProjection } from '@pf/database';
import type { LogReader } from '@pf/event-log';
import { about, gateway, samples, watcher } from '@pf/domain/testing';
import { type Cluster, compareProjection, readWholeLog, startCluster } from '@pf/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { create, observed, of, PARTITIONS } from './messages.ts';
import { Asker, type RunningWriter, startWriter } from './running-writer.ts';

// The machine may be busy with the rest of the stack.
jest.setTimeout(60_000);

let cluster: Cluster;
let running: RunningWriter;
let asker: Asker;
let reader: LogReader;

beforeAll(async () => {
  cluster = await startCluster();
  [asker, reader] = [await Asker.open(cluster.log, cluster.database), await cluster.log.reader('rebuild')];
  running = await startWriter(cluster);
  // A little of everything, in all partitions: paid, finalized, refunded, cancelled, updated.
  await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const partition = index % PARTITIONS;
      const { intentId } = (await asker.ask(create({ metadata: { [`key ${index}`]: 'väl"ue' } }, { partition })))
        .outcome;
      if (index % 5 === 0) await asker.ask(of(intentId, gateway.cancel()));
      if (index % 5 === 1) await asker.ask(of(intentId, gateway.recordBuild()));
      if (index % 5 === 2) await asker.send(observed(about(intentId, watcher.landedFinal(samples.FIRST))));
      if (index % 5 === 3) await asker.ask(of(intentId, gateway.simulate('finalized')));
      if (index % 5 === 3) await asker.ask(of(intentId, gateway.refund(newIntentId(partition))));
      // In the same partition behind it: the observation has been decided when this is answered, or will be soon.
      await asker.ask(of(intentId, gateway.detect()));
    }),
  );
});

afterAll(async () => {
  await running.stop();
  await Promise.all([asker.close(), reader.close()]);
  await cluster.close();
});

const readOf =
  (partition: number): ReadEvents =>
  (from, end) =>
    reader.read('intent.events', partition, from, end);
const verifyAll = (): Promise<readonly RebuildReport[]> =>
  Promise.all(
    Array.from({ length: PARTITIONS }, (_, partition) =>
      verifyProjection(cluster.database, partition, readOf(partition)),
    ),
  );

describe('Folding the log from empty', () => {
  it('gives the projection, byte for byte, while the writer goes on writing', async () => {
    const writing = Promise.all(Array.from({ length: 100 }, () => asker.ask(create())));
    const reports = await verifyAll();
    await writing;
    for (const report of reports) expect(report.differing).toEqual([]);
    expect(reports.reduce((sum, { events }) => sum + events, 0)).toBeGreaterThan(100);
  });

  it('finds a row that was changed by hand, a history that lacks an event, and puts both right', async () => {
    const [first, second] = [
      await asker.ask(create({}, { partition: 0 })),
      await asker.ask(create({}, { partition: 0 })),
    ].map(({ outcome }) => outcome.intentId);
    await cluster.database.sql.query("UPDATE ledger.intents SET fulfiller = '0xsomebody' WHERE id = $1", [first]);
    await cluster.database.sql.query('DELETE FROM ledger.intent_events WHERE intent_id = $1', [second]);
    expect((await verifyProjection(cluster.database, 0, readOf(0))).differing).toEqual([first, second].sort());

    const report = await rebuildProjection(cluster.database, 0, await reader.endOffset('intent.events', 0), readOf(0));
    expect(report.differing).toEqual([first, second].sort());
    expect((await verifyProjection(cluster.database, 0, readOf(0))).differing).toEqual([]);
    // The writer that owns the partition goes on from there.
    expect(await asker.ask(of(first ?? newIntentId(0), gateway.cancel()))).toMatchObject({
      intent: { state: 'cancelled', fulfiller: null },
    });
  });

  it('happens when a writer finds the projection dropped', async () => {
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
