import { parseIntentId, type LoggedEvent } from '@pf/contracts';
import { pause } from '@pf/runtime';
import type { PoolClient } from 'pg';
import { type Database, inTransaction } from '../postgres/database.ts';
import { readDatabaseTime } from '../postgres/database-time.ts';
import { BY_INDEX } from '../postgres/roles.ts';
import { outcomesIn } from './command-outcomes.ts';
import { type EventRecord, intentsOf, readEvents, salvage } from './fold.ts';
import { openEvents } from '../privacy/intent-keys.ts';
import type { Keyring } from '../webhooks/keyring.ts';
import { IntentStates } from './intent-states.ts';
import { type ProjectionTables, ProjectionWriter } from './projection.ts';

/** Reads committed records of one partition of intent.events from `from` until `end`. LogReader.read gives it. */
export type ReadEvents = (
  from: bigint,
  end: bigint,
) => AsyncIterable<{ readonly records: readonly EventRecord[]; readonly next: bigint }>;

/** One partition of intent.events. */
export interface LogSource {
  /** The position at which the log ends now. */
  end(): Promise<bigint>;
  readonly read: ReadEvents;
}

/** A record that a sound log does not have. */
export interface LogFault {
  readonly kind: 'gap' | 'repeated' | 'unreadable';
  readonly offset: bigint;
  /** Null where the record is unreadable. */
  readonly intentId: string | null;
  readonly version: number | null;
}

export interface RebuildReport {
  readonly partition: number;
  /** The log was folded up to here. */
  readonly position: bigint;
  /** The checkpoint of the projection before. */
  readonly projected: bigint;
  /** Where the log ends: before `projected`, if Kafka has lost its end or cannot show it. */
  readonly end: bigint;
  readonly events: number;
  readonly intents: number;
  /** Intents whose row or history differs, in any byte, from the fold of the log: at most 100 of them. */
  readonly differing: readonly string[];
  /** Those of them that have no row. */
  readonly missing: readonly string[];
  /** Those of them that the log does not have. */
  readonly surplus: readonly string[];
  /** The first 100. */
  readonly faults: readonly LogFault[];
  readonly faultCount: number;
}

/** The log is damaged, or ends before the projection: nothing was rebuilt. */
export class UnsoundLogError extends Error {
  override readonly name = 'UnsoundLogError';
  readonly report: RebuildReport;

  constructor(report: RebuildReport) {
    const { partition, projected, end, faultCount } = report;
    super(
      end < projected
        ? `Partition ${partition} is projected up to ${projected}, but its log ends at ${end}`
        : `The log of partition ${partition} has ${faultCount} records that are repeated, out of order or unreadable`,
    );
    this.report = report;
  }
}

/** Temporary tables, dropped when the transaction ends. */
const REBUILT: ProjectionTables = {
  intents: 'pg_temp.rebuilt_intents',
  events: 'pg_temp.rebuilt_intent_events',
  checkpoints: 'pg_temp.rebuilt_checkpoints',
};
const NAMED_AT_MOST = 100;
/**
 * Kafka shows a commit a moment after it has acknowledged it, and it is projected as soon as it is acknowledged: only a
 * log that ends before the projection for longer has lost something.
 */
const LOOK_AGAIN_MS = 20;
/** However long each takes, the last is a second after the first at least. */
const LOOKS_AGAIN = 50;
/** Whole tables are read and written, and an operator started it: an hour is acceptable. */
const PATIENT = { query_timeout: 3_600_000 };
/** The same on the server, whatever the role's limits are. Between statements the log is read. */
const PATIENT_SERVER = {
  statement_timeout: '1h',
  lock_timeout: '60s',
  idle_in_transaction_session_timeout: '10min',
};
const ROWS_A_FETCH = 10_000;

/**
 * Folds a partition's log from empty, beside the projection, and compares the two in one snapshot. The services can
 * keep running. A damaged log is folded as far as it can be (see salvage).
 */
export function verifyProjection(
  database: Database,
  partition: number,
  log: LogSource,
  keyring: Keyring | null = null,
): Promise<RebuildReport> {
  return inTransaction(database, async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await set(client, PATIENT_SERVER);
    const projected = await projectedUpTo(client, partition, '');
    // Read afterwards: the log only grows.
    const end = await endOf(log, projected);
    const upTo = projected < end ? projected : end;
    const tables: ProjectionTables = { ...REBUILT, withoutKeys: true };
    const folded = await foldFromEmpty(client, partition, log.read, { end: upTo, projected: upTo, keyring, tables });
    return { ...folded, projected, end, ...(await compare(client, partition)).named };
  });
}

/**
 * Folds a partition's log from empty and replaces the projection with the result, in one transaction. Meanwhile the
 * partition's writer cannot project: its batches fail, and afterwards it catches up.
 *
 * @param options.keyring of SECRETS_KEY; null: the log has no sealed events
 * @param options.acceptLog rebuilds from a log that is damaged (see salvage), or that ends before the projection: what
 *   Kafka has lost is then gone from the projection, too.
 * @returns what was wrong before.
 * @throws UnsoundLogError without `acceptLog`; nothing is changed.
 */
export function rebuildProjection(
  database: Database,
  partition: number,
  log: LogSource,
  { acceptLog = false, keyring = null }: { readonly acceptLog?: boolean; readonly keyring?: Keyring | null } = {},
): Promise<RebuildReport> {
  return inTransaction(database, async (client) => {
    await set(client, PATIENT_SERVER);
    await client.query(
      `INSERT INTO ledger.checkpoints (partition, position, last_at)
        VALUES ($1, 0, to_timestamp(0)) ON CONFLICT (partition) DO NOTHING`,
      [partition],
    );
    // The writer locks this row to project, so it cannot until this transaction ends.
    const projected = await projectedUpTo(client, partition, 'FOR UPDATE');
    const end = await endOf(log, projected);
    const folded = await foldFromEmpty(client, partition, log.read, { end, projected, keyring, tables: REBUILT });
    const { named, orphans } = await compare(client, partition);
    const report = { ...folded, projected, end, ...named };
    if (!acceptLog && (end < projected || report.faultCount > 0)) throw new UnsoundLogError(report);
    const run = (text: string, ...values: unknown[]): Promise<unknown> => client.query({ text, values, ...PATIENT });
    await run(`DELETE FROM ledger.intent_events WHERE intent_id IN (${OF_PARTITION})`, partition);
    await run('DELETE FROM ledger.intent_events WHERE intent_id = ANY($1)', orphans);
    await run('DELETE FROM ledger.intents WHERE partition = $1', partition);
    await run(`INSERT INTO ledger.intents SELECT * FROM ${REBUILT.intents}`);
    await run(`INSERT INTO ledger.intent_events SELECT * FROM ${REBUILT.events}`);
    await run(
      `UPDATE ledger.checkpoints AS kept
        SET position = rebuilt.position, last_at = rebuilt.last_at, rebuilds = kept.rebuilds + 1
        FROM ${REBUILT.checkpoints} AS rebuilt WHERE kept.partition = $1`,
      partition,
    );
    return report;
  });
}

/** Where the log ends, once it shows what is projected, or does not for too long. */
async function endOf(log: LogSource, projected: bigint): Promise<bigint> {
  for (let again = 0; ; again += 1) {
    const end = await log.end();
    if (end >= projected || again === LOOKS_AGAIN) return end;
    await pause(LOOK_AGAIN_MS);
  }
}

/** The intents of the partition, by the projection or by the log: a history can be there without its row. */
const OF_PARTITION = `SELECT id FROM ledger.intents WHERE partition = $1 UNION SELECT id FROM ${REBUILT.intents}`;

async function projectedUpTo(client: PoolClient, partition: number, lock: '' | 'FOR UPDATE'): Promise<bigint> {
  const { rows } = await client.query<{ position: string }>({
    text: `SELECT position FROM ledger.checkpoints WHERE partition = $1 ${lock}`,
    values: [partition],
    ...PATIENT,
  });
  return BigInt(rows[0]?.position ?? 0);
}

type FoldReport = Pick<RebuildReport, 'partition' | 'position' | 'events' | 'intents' | 'faults' | 'faultCount'>;

/** @param projected from here on no writer has stored the outcomes of the commands, and none will */
async function foldFromEmpty(
  client: PoolClient,
  partition: number,
  read: ReadEvents,
  {
    end,
    projected,
    keyring,
    tables,
  }: {
    readonly end: bigint;
    readonly projected: bigint;
    readonly keyring: Keyring | null;
    readonly tables: ProjectionTables;
  },
): Promise<FoldReport> {
  const now = await readDatabaseTime({ sql: client });
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
  const writer = new ProjectionWriter(client, tables);
  let position = 0n;
  let count = 0;
  let intents = 0;
  const faults: LogFault[] = [];
  let faultCount = 0;
  for await (const { records, next } of read(0n, end)) {
    const { readable, unreadable } = parsed(records.filter(({ offset }) => offset < end));
    const { events, recovered: keys } = await openEvents(
      client,
      keyring,
      readable.map(({ event }) => event),
    );
    const { unfit, ...folded } = salvage(await states.find(intentsOf(events)), events);
    const upTo = next < end ? next : end;
    const isUnfit = new Set(unfit.map(({ index }) => index));
    const unprojected = readable.filter(({ offset }, index) => offset >= projected && !isUnfit.has(index));
    const outcomes = outcomesIn(
      unprojected.map(({ event }) => event),
      now,
    );
    await writer.project({ partition, from: position, next: upTo, ...folded, outcomes, keys });
    position = upTo;
    count += events.length;
    intents += folded.intents.filter(({ before }) => before === 0).length;
    const found = [
      ...unreadable,
      ...unfit.flatMap(({ kind, index }): LogFault[] => {
        const one = readable[index];
        return one ? [{ kind, offset: one.offset, intentId: one.event.intentId, version: one.event.version }] : [];
      }),
    ];
    faultCount += found.length;
    faults.push(...found.slice(0, NAMED_AT_MOST - faults.length));
  }
  // What follows scans whole tables.
  await set(client, Object.fromEntries(Object.keys(BY_INDEX).map((name) => [name, 'on'])));
  return { partition, position, events: count, intents, faults, faultCount };
}

/** The events in these records, and the records that are none. */
function parsed(records: readonly EventRecord[]): {
  readonly readable: readonly { readonly offset: bigint; readonly event: LoggedEvent }[];
  readonly unreadable: readonly LogFault[];
} {
  const readable: { offset: bigint; event: LoggedEvent }[] = [];
  const unreadable: LogFault[] = [];
  for (const record of records) {
    try {
      for (const event of readEvents([record])) readable.push({ offset: record.offset, event });
    } catch {
      unreadable.push({ kind: 'unreadable', offset: record.offset, intentId: null, version: null });
    }
  }
  return { readable, unreadable };
}

/** Changes server settings for the rest of the transaction. */
async function set(client: PoolClient, settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings))
    await client.query('SELECT set_config($1, $2, true)', [name, value]);
}

/** Compares rows as text: every column, byte for byte. */
async function compare(
  client: PoolClient,
  partition: number,
): Promise<{
  readonly named: Pick<RebuildReport, 'differing' | 'missing' | 'surplus'>;
  readonly orphans: readonly string[];
}> {
  const { rows } = await client.query<{ id: string; missing: boolean; surplus: boolean }>({
    text: `
      SELECT id, bool_or(missing) AS missing, bool_or(surplus) AS surplus FROM (
        SELECT coalesce(kept.id, rebuilt.id) AS id, kept.id IS NULL AS missing, rebuilt.id IS NULL AS surplus
        FROM (SELECT * FROM ledger.intents WHERE partition = $1) AS kept
          FULL JOIN ${REBUILT.intents} AS rebuilt ON kept.id = rebuilt.id
        WHERE kept::text IS DISTINCT FROM rebuilt::text
        UNION ALL
        SELECT coalesce(kept.intent_id, rebuilt.intent_id), false, false
        FROM (SELECT * FROM ledger.intent_events WHERE intent_id IN (${OF_PARTITION})) AS kept
        FULL JOIN ${REBUILT.events} AS rebuilt ON kept.intent_id = rebuilt.intent_id AND kept.version = rebuilt.version
        WHERE kept::text IS DISTINCT FROM rebuilt::text
      ) AS differing
      GROUP BY id ORDER BY id LIMIT $2`,
    values: [partition, NAMED_AT_MOST],
    ...PATIENT,
  });
  const orphans = await orphansOf(client, partition);
  const surplus = [...rows.filter((row) => row.surplus).map(({ id }) => id), ...orphans];
  return {
    named: {
      differing: [...rows.map(({ id }) => id), ...orphans].sort().slice(0, NAMED_AT_MOST),
      missing: rows.filter((row) => row.missing).map(({ id }) => id),
      surplus: surplus.sort().slice(0, NAMED_AT_MOST),
    },
    orphans,
  };
}

/** The ids of the partition that have a history, but neither a row nor an event in the log. */
async function orphansOf(client: PoolClient, partition: number): Promise<readonly string[]> {
  await client.query({
    text: `DECLARE orphans NO SCROLL CURSOR FOR SELECT DISTINCT intent_id FROM ledger.intent_events AS event
      WHERE NOT EXISTS (SELECT FROM ledger.intents WHERE id = event.intent_id)
        AND NOT EXISTS (SELECT FROM ${REBUILT.intents} WHERE id = event.intent_id)`,
    ...PATIENT,
  });
  const orphans: string[] = [];
  for (;;) {
    const { rows } = await client.query<{ intent_id: string }>({
      text: `FETCH ${ROWS_A_FETCH} FROM orphans`,
      ...PATIENT,
    });
    for (const { intent_id: id } of rows) if (parseIntentId(id, 256)?.partition === partition) orphans.push(id);
    if (rows.length < ROWS_A_FETCH) return orphans;
  }
}
