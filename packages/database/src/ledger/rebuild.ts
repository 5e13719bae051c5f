import type { PoolClient } from 'pg';
import { BY_INDEX, type Database, inTransaction } from '../postgres/database.ts';
import { type EventRecord, fold, intentsOf, parseEvents } from './fold.ts';
import { IntentStates } from './intent-states.ts';
import { type ProjectionTables, ProjectionWriter } from './projection.ts';

/** Reads committed records of one partition of intent.events from `from` until `end`. LogReader.read gives it. */
export type ReadEvents = (
  from: bigint,
  end: bigint,
) => AsyncIterable<{ readonly records: readonly EventRecord[]; readonly next: bigint }>;

export interface RebuildReport {
  readonly partition: number;
  /** The log was folded up to here. */
  readonly position: bigint;
  readonly events: number;
  readonly intents: number;
  /** Intents whose row or history differs, in any byte, from the fold of the log: at most 100 of them. */
  readonly differing: readonly string[];
}

/** Temporary tables, dropped when the transaction ends. */
const REBUILT: ProjectionTables = {
  intents: 'pg_temp.rebuilt_intents',
  events: 'pg_temp.rebuilt_intent_events',
  checkpoints: 'pg_temp.rebuilt_checkpoints',
};
const NAMED_AT_MOST = 100;
/** Whole tables are read and written, and an operator started it: an hour is acceptable. */
const PATIENT = { query_timeout: 3_600_000 };

/**
 * Folds a partition's log from empty, beside the projection, and compares the two in one snapshot. The services can
 * keep running.
 */
export function verifyProjection(database: Database, partition: number, read: ReadEvents): Promise<RebuildReport> {
  return inTransaction(database, async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    const position = await projectedUpTo(client, partition, '');
    const folded = await foldFromEmpty(client, partition, read, position);
    return { ...folded, differing: await compare(client, partition) };
  });
}

/**
 * Folds a partition's log from empty and replaces the projection with the result, in one transaction. Meanwhile the
 * partition's writer waits, or its batch is refused and it reacquires the partition.
 * @param end the end of the partition's log.
 * @returns what was wrong before.
 */
export function rebuildProjection(
  database: Database,
  partition: number,
  end: bigint,
  read: ReadEvents,
): Promise<RebuildReport> {
  return inTransaction(database, async (client) => {
    await client.query(
      `INSERT INTO ledger.checkpoints (partition, position, last_at)
        VALUES ($1, 0, to_timestamp(0)) ON CONFLICT (partition) DO NOTHING`,
      [partition],
    );
    // The writer locks this row to project, so it cannot until this transaction ends.
    const projected = await projectedUpTo(client, partition, 'FOR UPDATE');
    const folded = await foldFromEmpty(client, partition, read, projected > end ? projected : end);
    const differing = await compare(client, partition);
    const run = (text: string, ...values: unknown[]): Promise<unknown> => client.query({ text, values, ...PATIENT });
    await run(
      'DELETE FROM ledger.intent_events WHERE intent_id IN (SELECT id FROM ledger.intents WHERE partition = $1)',
      partition,
    );
    await run('DELETE FROM ledger.intents WHERE partition = $1', partition);
    await run(`INSERT INTO ledger.intents SELECT * FROM ${REBUILT.intents}`);
    await run(`INSERT INTO ledger.intent_events SELECT * FROM ${REBUILT.events}`);
    await run(
      `UPDATE ledger.checkpoints AS kept
        SET position = rebuilt.position, last_at = rebuilt.last_at
        FROM ${REBUILT.checkpoints} AS rebuilt WHERE kept.partition = $1`,
      partition,
    );
    return { ...folded, differing };
  });
}

async function projectedUpTo(client: PoolClient, partition: number, lock: '' | 'FOR UPDATE'): Promise<bigint> {
  const { rows } = await client.query<{ position: string }>(
    `SELECT position FROM ledger.checkpoints WHERE partition = $1 ${lock}`,
    [partition],
  );
  return BigInt(rows[0]?.position ?? 0);
}

async function foldFromEmpty(
  client: PoolClient,
  partition: number,
  read: ReadEvents,
  end: bigint,
): Promise<Omit<RebuildReport, 'differing'>> {
  await client.query(`
    CREATE TEMPORARY TABLE rebuilt_intents (LIKE ledger.intents INCLUDING ALL) ON COMMIT DROP;
    CREATE TEMPORARY TABLE rebuilt_intent_events (LIKE ledger.intent_events INCLUDING ALL) ON COMMIT DROP;
    CREATE TEMPORARY TABLE rebuilt_checkpoints (LIKE ledger.checkpoints INCLUDING ALL) ON COMMIT DROP;`);
  await client.query(
    `INSERT INTO ${REBUILT.checkpoints} (partition, position, last_at) VALUES ($1, 0, to_timestamp(0))`,
    [partition],
  );
  // Autovacuum does not analyze these tables while they grow: a plan made for an empty one would scan a million rows
  // for each batch.
  await set(client, BY_INDEX);
  const states = new IntentStates(client, REBUILT);
  const writer = new ProjectionWriter(client, REBUILT);
  let position = 0n;
  let count = 0;
  let intents = 0;
  for await (const { records, next } of read(0n, end)) {
    const events = parseEvents(records.filter(({ offset }) => offset < end));
    const folded = fold(await states.find(intentsOf(events)), events);
    const upTo = next < end ? next : end;
    await writer.project({ partition, from: position, next: upTo, ...folded, outcomes: [] });
    position = upTo;
    count += events.length;
    intents += folded.intents.filter(({ before }) => before === 0).length;
  }
  // What follows scans whole tables.
  await set(client, Object.fromEntries(Object.keys(BY_INDEX).map((name) => [name, 'on'])));
  return { partition, position, events: count, intents };
}

/** Changes server settings for the rest of the transaction. */
async function set(client: PoolClient, settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings))
    await client.query('SELECT set_config($1, $2, true)', [name, value]);
}

/** Compares rows as text: every column, byte for byte. */
async function compare(client: PoolClient, partition: number): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>({
    text: `
      SELECT DISTINCT id FROM (
        SELECT coalesce(kept.id, rebuilt.id) AS id
        FROM (SELECT * FROM ledger.intents WHERE partition = $1) AS kept
          FULL JOIN ${REBUILT.intents} AS rebuilt ON kept.id = rebuilt.id
        WHERE kept::text IS DISTINCT FROM rebuilt::text
        UNION ALL
        SELECT coalesce(kept.intent_id, rebuilt.intent_id)
        FROM (SELECT event.* FROM ledger.intent_events AS event
          JOIN ledger.intents AS intent ON intent.id = event.intent_id WHERE intent.partition = $1) AS kept
        FULL JOIN ${REBUILT.events} AS rebuilt ON kept.intent_id = rebuilt.intent_id AND kept.version = rebuilt.version
        WHERE kept::text IS DISTINCT FROM rebuilt::text
      ) AS differing
      ORDER BY id LIMIT $2`,
    values: [partition, NAMED_AT_MOST],
    ...PATIENT,
  });
  return rows.map(({ id }) => id);
}
