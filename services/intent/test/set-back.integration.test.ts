import { gateway } from '@pf/domain/testing';
import { createLogger } from '@pf/runtime';
import { compareProjection, readWholeLog, until } from '@pf/testing';
import { describe, expect, it } from '@jest/globals';
import { IdlePartitions } from '../src/idle-partitions.ts';
import { create, of, PARTITIONS } from './messages.ts';
import { withOneWriter } from './one-writer.ts';
import type { IntentReply } from './running-writer.ts';

const TABLES = ['ledger.intents', 'ledger.intent_events', 'ledger.checkpoints', 'service.command_outcomes'];

const one = withOneWriter();

const copyOf = (table: string): string => `copy_of_${table.replace('.', '_')}`;

/** Keeps what the tables have now. */
async function copyTables(): Promise<void> {
  for (const table of TABLES)
    await one.cluster.database.sql.query(
      `DROP TABLE IF EXISTS public.${copyOf(table)}; CREATE TABLE public.${copyOf(table)} AS TABLE ${table}`,
    );
}

/** Puts the copy in the place of the tables, all at once: a failover to a standby that was a moment behind. */
async function setBack(): Promise<void> {
  await one.cluster.database.sql.query(
    `BEGIN; TRUNCATE ${TABLES.join(', ')};
     ${TABLES.map((table) => `INSERT INTO ${table} SELECT * FROM public.${copyOf(table)};`).join(' ')} COMMIT`,
  );
}

/** Every version of every intent is in the log once, every command was decided once, and the projection is the fold. */
async function expectSound(): Promise<void> {
  const { problems, intents } = await readWholeLog(one.cluster);
  expect(problems).toEqual([]);
  expect(await compareProjection(one.cluster.database, intents)).toEqual([]);
}

describe('A writer whose database is set back', () => {
  it('loses no acknowledged command and lets none fork the log', async () => {
    const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
    const made = await Promise.all(partitions.map((partition) => one.client.execute(create({}, { partition }))));
    const updateAll = (seen: readonly IntentReply[], key: string): Promise<readonly IntentReply[]> =>
      Promise.all(
        seen.map(({ outcome: { intentId }, intent }) =>
          one.client.execute(
            of(
              intentId,
              gateway.update({ updatedAt: Date.parse(intent?.updatedAt ?? ''), metadata: { [key]: 'set' } }),
            ),
          ),
        ),
      );
    await copyTables();
    // Acknowledged, and not in the copy.
    const updated = await updateAll(made, 'first');
    expect(updated.map(({ outcome }) => outcome.kind)).toEqual(partitions.map(() => 'accepted'));
    await setBack();
    // In the copy these would be current.
    const stale = await updateAll(made, 'stale');
    expect(stale.map(({ outcome }) => outcome.kind)).toEqual(partitions.map(() => 'refused'));
    for (const { intent } of await updateAll(updated, 'second'))
      expect(intent?.metadata).toEqual({ first: 'set', second: 'set' });
    await expectSound();
  });

  it('decides a repeated command once, though its outcome was set back', async () => {
    const { intentId } = (await one.client.execute(create({}, { partition: 2 }))).outcome;
    await copyTables();
    const cancel = of(intentId, gateway.cancel());
    const first = await one.client.execute(cancel);
    const made = create({}, { partition: 2 });
    await one.client.execute(made);
    await setBack();
    // The publisher sends a record again whose response it has lost.
    one.client.replies.clear();
    expect((await one.client.execute(cancel)).outcome).toEqual(first.outcome);
    expect((await one.client.execute(made)).outcome).toMatchObject({ kind: 'accepted', intentId: made.intentId });
    await expectSound();
  });

  it('catches a partition up that gets no input', async () => {
    await copyTables();
    await one.client.execute(create({}, { partition: 4 }));
    await setBack();
    const idle = new IdlePartitions({ owner: one.running.owner, log: createLogger('test', 'silent') });
    await until('the projection to be the fold of the log', async () => {
      idle.look();
      const { intents } = await readWholeLog(one.cluster);
      return (await compareProjection(one.cluster.database, intents)).length === 0;
    });
    await expectSound();
  });

  it('expires nothing on it', async () => {
    const { intentId } = (await one.client.execute(create({}, { partition: 1 }))).outcome;
    await copyTables();
    await one.client.execute(of(intentId, gateway.cancel()));
    await setBack();
    await one.running.owner.run(1, null, () => one.running.writer.expire(1, [intentId]));
    await one.client.execute(create({}, { partition: 1 }));
    await expectSound();
  });
});
