import {
  isDepositEvent,
  type LoggedDepositEvent,
  type LoggedEvent,
  type LoggedRecord,
  parseDepositId,
  parseIntentId,
} from '@pf/contracts';
import type { Instant } from '@pf/domain';
import { pause } from '@pf/runtime';
import type { PoolClient } from 'pg';
import { type Database, inTransaction } from '../postgres/database.ts';
import { readDatabaseTime } from '../postgres/database-time.ts';
import { BY_INDEX } from '../postgres/roles.ts';
import { digestOf } from './cold-intents.ts';
import { outcomesIn } from './command-outcomes.ts';
import { type EventRecord, intentsOf, readRecords, salvage, salvageDeposits, type UnfitEvent } from './fold.ts';
import { openEvents, type OpenedEvents } from '../privacy/intent-keys.ts';
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
  /** Intents and deposits whose row or history differs in any byte from the fold of the log: at most 100 of them. */
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
  deposits: 'pg_temp.rebuilt_deposits',
  events: 'pg_temp.rebuilt_intent_events',
  checkpoints: 'pg_temp.rebuilt_checkpoints',
};
/** Intents and deposits that may differ from the log: compared while the writer went on. */
const SUSPECTS = 'pg_temp.suspects';
/** Intents that do. */
const WRONG = 'pg_temp.wrong';
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
/** Events that are folded with one look-up and one statement: some 10 MB of the log. */
const FOLDED_AT_ONCE = 5_000;
/** Offsets that may be left to be folded while the writer waits. */
const LEFT_FOR_THE_SWITCH = 1_000n;
/** A writer that is faster than the fold does not keep a rebuild from its end. */
const ROUNDS_BEFORE_THE_SWITCH = 10;

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
    const tables: ProjectionTables = { ...REBUILT, withoutKeys: true };
    const refold = await Refold.begin(client, { partition, read: log.read, keyring, tables });
    await refold.upTo(earlier(projected, end), projected);
    await compare(client, partition, WRONG);
    return { ...refold.report(), projected, end, ...(await named(client)) };
  });
}

/**
 * Folds a partition's log from empty and writes what differs from it into the projection, in one transaction. The
 * writer goes on meanwhile, until everything but its latest events is folded and compared. For the rest, and for the
 * rows that differ, it has to wait: its batches fail, and afterwards it catches up.
 *
 * @param options.keyring of SECRETS_KEY; null: the log has no sealed events
 * @param options.acceptLog rebuilds from a log that is damaged (see salvage), or that ends before the projection: what
 *   Kafka has lost is then gone from the projection, too.
 * @param options.bringBack also stores the rows again of intents that have left for the archive
 * @returns what was wrong before.
 * @throws UnsoundLogError without `acceptLog`; nothing is changed.
 */
export function rebuildProjection(
  database: Database,
  partition: number,
  log: LogSource,
  {
    acceptLog = false,
    keyring = null,
    bringBack = false,
  }: { readonly acceptLog?: boolean; readonly keyring?: Keyring | null; readonly bringBack?: boolean } = {},
): Promise<RebuildReport> {
  return inTransaction(database, async (client) => {
    await set(client, PATIENT_SERVER);
    const refold = await foldBesideWriter(client, partition, log, keyring);
    // The writer locks this row to project, so it cannot until this transaction ends.
    const projected = await projectedUpTo(client, partition, 'FOR UPDATE');
    const end = await endOf(log, projected);
    await refold.upTo(end, projected);
    await compare(client, partition, WRONG, SUSPECTS);
    const report = { ...refold.report(), projected, end, ...(await named(client)) };
    if (!acceptLog && (end < projected || report.faultCount > 0)) throw new UnsoundLogError(report);
    const run = (text: string, ...values: unknown[]): Promise<unknown> => client.query({ text, values, ...PATIENT });
    if (bringBack)
      await run(
        `INSERT INTO ${WRONG} (id) SELECT id FROM ledger.cold_intents WHERE partition = $1 ON CONFLICT (id) DO NOTHING`,
        partition,
      );
    await run(`DELETE FROM ledger.cold_intents WHERE id IN (SELECT id FROM ${WRONG})`);
    await run(`DELETE FROM ledger.intent_events WHERE intent_id IN (SELECT id FROM ${WRONG})`);
    await run(`DELETE FROM ledger.intents WHERE id IN (SELECT id FROM ${WRONG})`);
    await run(`DELETE FROM ledger.deposits WHERE id IN (SELECT id FROM ${WRONG})`);
    await run(`INSERT INTO ledger.intents SELECT * FROM ${REBUILT.intents} WHERE id IN (SELECT id FROM ${WRONG})`);
    await run(`INSERT INTO ledger.deposits SELECT * FROM ${REBUILT.deposits} WHERE id IN (SELECT id FROM ${WRONG})`);
    await run(
      `INSERT INTO ledger.intent_events
        SELECT * FROM ${REBUILT.events} WHERE intent_id IN (SELECT id FROM ${WRONG})`,
    );
    await run(
      `UPDATE ledger.checkpoints AS kept
        SET position = rebuilt.position, last_at = rebuilt.last_at, rebuilds = kept.rebuilds + 1
        FROM ${REBUILT.checkpoints} AS rebuilt WHERE kept.partition = $1`,
      partition,
    );
    return report;
  });
}

/** Folds what is projected, and lists the intents that may differ. What is left is short, however long this took. */
async function foldBesideWriter(
  client: PoolClient,
  partition: number,
  log: LogSource,
  keyring: Keyring | null,
): Promise<Refold> {
  await client.query(
    `INSERT INTO ledger.checkpoints (partition, position, last_at)
      VALUES ($1, 0, to_timestamp(0)) ON CONFLICT (partition) DO NOTHING`,
    [partition],
  );
  const refold = await Refold.begin(client, { partition, read: log.read, keyring, tables: REBUILT });
  const foldProjected = async (): Promise<void> => {
    const projected = await projectedUpTo(client, partition, '');
    await refold.upTo(earlier(projected, await endOf(log, projected)), projected);
  };
  await foldProjected();
  await compare(client, partition, SUSPECTS);
  // From here on what is folded has changed since the comparison, or was never projected.
  refold.suspects = SUSPECTS;
  for (let round = 0; round < ROUNDS_BEFORE_THE_SWITCH; round++) {
    const before = refold.position;
    await foldProjected();
    if (refold.position - before <= LEFT_FOR_THE_SWITCH) break;
  }
  return refold;
}

const earlier = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** Where the log ends, once it shows what is projected, or does not for too long. */
async function endOf(log: LogSource, projected: bigint): Promise<bigint> {
  for (let again = 0; ; again += 1) {
    const end = await log.end();
    if (end >= projected || again === LOOKS_AGAIN) return end;
    await pause(LOOK_AGAIN_MS);
  }
}

/** The intents and deposits of the partition, by the projection or by the log: a history may have no row. */
const OF_PARTITION = `SELECT id FROM ledger.intents WHERE partition = $1 UNION SELECT id FROM ${REBUILT.intents}
  UNION SELECT id FROM ledger.deposits WHERE partition = $1 UNION SELECT id FROM ${REBUILT.deposits}`;

async function projectedUpTo(client: PoolClient, partition: number, lock: '' | 'FOR UPDATE'): Promise<bigint> {
  const { rows } = await client.query<{ position: string }>({
    text: `SELECT position FROM ledger.checkpoints WHERE partition = $1 ${lock}`,
    values: [partition],
    ...PATIENT,
  });
  return BigInt(rows[0]?.position ?? 0);
}

type FoldReport = Pick<RebuildReport, 'partition' | 'position' | 'events' | 'intents' | 'faults' | 'faultCount'>;

/** A partition's log, folded from empty into temporary tables. */
class Refold {
  /** It is folded up to here. */
  position = 0n;
  /** The table to which the intents go whose events are folded. */
  suspects: string | null = null;
  readonly #client: PoolClient;
  readonly #source: FoldSource;
  readonly #states: IntentStates;
  readonly #writer: ProjectionWriter;
  readonly #now: Instant;
  #events = 0;
  #intents = 0;
  readonly #faults: LogFault[] = [];
  #faultCount = 0;

  private constructor(client: PoolClient, source: FoldSource, now: Instant) {
    this.#client = client;
    this.#source = source;
    this.#now = now;
    this.#states = new IntentStates(client, source.tables);
    this.#writer = new ProjectionWriter(client, source.tables);
  }

  /** Creates the tables. Only their primary keys: what serves filters is not needed to fold and to compare. */
  static async begin(client: PoolClient, source: FoldSource): Promise<Refold> {
    await client.query(`
      CREATE TEMPORARY TABLE rebuilt_intents
        (LIKE ledger.intents INCLUDING ALL EXCLUDING INDEXES, PRIMARY KEY (id)) ON COMMIT DROP;
      CREATE TEMPORARY TABLE rebuilt_deposits
        (LIKE ledger.deposits INCLUDING ALL EXCLUDING INDEXES, PRIMARY KEY (id)) ON COMMIT DROP;
      CREATE TEMPORARY TABLE rebuilt_intent_events
        (LIKE ledger.intent_events INCLUDING ALL EXCLUDING INDEXES, PRIMARY KEY (intent_id, version)) ON COMMIT DROP;
      CREATE TEMPORARY TABLE rebuilt_checkpoints (LIKE ledger.checkpoints INCLUDING ALL) ON COMMIT DROP;
      CREATE TEMPORARY TABLE suspects (id text PRIMARY KEY, missing boolean, surplus boolean) ON COMMIT DROP;
      CREATE TEMPORARY TABLE wrong (id text PRIMARY KEY, missing boolean, surplus boolean) ON COMMIT DROP;`);
    await client.query(
      `INSERT INTO ${REBUILT.checkpoints} (partition, position, last_at) VALUES ($1, 0, to_timestamp(0))`,
      [source.partition],
    );
    return new Refold(client, source, await readDatabaseTime({ sql: client }));
  }

  /** @param projected from here on no writer has stored the outcomes of the commands, and none will */
  async upTo(end: bigint, projected: bigint): Promise<void> {
    if (end <= this.position) return;
    // Autovacuum does not analyze these tables while they grow: a plan made for an empty one would scan a million rows
    // for each batch.
    await set(this.#client, BY_INDEX);
    let writing: Promise<unknown> = Promise.resolve();
    for await (const batch of gathered(this.#source.read(this.position, end))) {
      // Parsed while Postgres writes what was folded before.
      const records = parsed(batch.records.filter(({ offset }) => offset < end));
      await writing;
      writing = this.#write(records, earlier(batch.next, end), projected, await this.#opened(records));
      // Awaited above, or below, unless the log fails meanwhile: that is the cause then.
      writing.catch(() => undefined);
    }
    await writing;
    // What follows scans whole tables.
    await set(this.#client, Object.fromEntries(Object.keys(BY_INDEX).map((name) => [name, 'on'])));
  }

  report(): FoldReport {
    return {
      partition: this.#source.partition,
      position: this.position,
      events: this.#events,
      intents: this.#intents,
      faults: this.#faults,
      faultCount: this.#faultCount,
    };
  }

  #opened({ intents }: ParsedRecords): Promise<OpenedEvents> {
    return openEvents(
      this.#client,
      this.#source.keyring,
      intents.map(({ event }) => event),
    );
  }

  async #write(
    { intents, deposits, unreadable }: ParsedRecords,
    next: bigint,
    projected: bigint,
    { events, recovered: keys }: OpenedEvents,
  ): Promise<void> {
    const ids = intentsOf(events);
    const { unfit, ...folded } = salvage(await this.#states.find(ids), events);
    const ofDeposits = deposits.map(({ event }) => event);
    const depositIds = [...new Set(ofDeposits.map(({ depositId }) => depositId))];
    const received = salvageDeposits(await this.#states.findDeposits(depositIds), ofDeposits);
    const unprojected = [...fitOf(intents, unfit), ...fitOf(deposits, received.unfit)].filter(
      ({ offset }) => offset >= projected,
    );
    const outcomes = outcomesIn(
      unprojected.map(({ event }) => event),
      this.#now,
    );
    const { partition } = this.#source;
    const from = this.position;
    this.position = next;
    await this.#writer.project({
      partition,
      from,
      next,
      ...folded,
      lastAt: Math.max(folded.lastAt, received.lastAt),
      deposits: received.deposits,
      events: [...folded.events, ...received.events],
      outcomes,
      keys,
    });
    if (this.suspects !== null)
      await this.#client.query(
        `INSERT INTO ${this.suspects} (id) SELECT unnest($1::text[]) ON CONFLICT (id) DO NOTHING`,
        [[...ids, ...depositIds]],
      );
    this.#events += events.length + ofDeposits.length;
    this.#intents += folded.intents.filter(({ before }) => before === 0).length;
    const found = [...unreadable, ...faultsOf(unfit, intents), ...faultsOf(received.unfit, deposits)];
    this.#faultCount += found.length;
    this.#faults.push(...found.slice(0, NAMED_AT_MOST - this.#faults.length));
  }
}

/** Those that were folded. */
function fitOf<Event extends LoggedRecord>(
  events: readonly Placed<Event>[],
  unfit: readonly UnfitEvent[],
): readonly Placed<Event>[] {
  const isUnfit = new Set(unfit.map(({ index }) => index));
  return events.filter((_, index) => !isUnfit.has(index));
}

interface FoldSource {
  readonly partition: number;
  readonly read: ReadEvents;
  readonly keyring: Keyring | null;
  readonly tables: ProjectionTables;
}

interface ReadBatch {
  readonly records: readonly EventRecord[];
  readonly next: bigint;
}

/** The batches of the log, joined until they are worth a statement. */
async function* gathered(batches: AsyncIterable<ReadBatch>): AsyncGenerator<ReadBatch> {
  let records: EventRecord[] = [];
  let next: bigint | null = null;
  for await (const batch of batches) {
    for (const record of batch.records) records.push(record);
    next = batch.next;
    if (records.length < FOLDED_AT_ONCE) continue;
    yield { records, next };
    [records, next] = [[], null];
  }
  if (next !== null) yield { records, next };
}

interface Placed<Event extends LoggedRecord> {
  readonly offset: bigint;
  readonly event: Event;
}

const faultsOf = (unfit: readonly UnfitEvent[], events: readonly Placed<LoggedRecord>[]): readonly LogFault[] =>
  unfit.flatMap(({ kind, index }) => {
    const one = events[index];
    if (!one) return [];
    const { event, offset } = one;
    return [
      { kind, offset, intentId: isDepositEvent(event) ? event.depositId : event.intentId, version: event.version },
    ];
  });

interface ParsedRecords {
  readonly intents: readonly Placed<LoggedEvent>[];
  readonly deposits: readonly Placed<LoggedDepositEvent>[];
  readonly unreadable: readonly LogFault[];
}

/** The events in these records, and the records that are none. */
function parsed(records: readonly EventRecord[]): ParsedRecords {
  const intents: Placed<LoggedEvent>[] = [];
  const deposits: Placed<LoggedDepositEvent>[] = [];
  const unreadable: LogFault[] = [];
  for (const record of records) {
    const { offset } = record;
    try {
      for (const event of readRecords([record]))
        if (isDepositEvent(event)) deposits.push({ offset, event });
        else intents.push({ offset, event });
    } catch {
      unreadable.push({ kind: 'unreadable', offset, intentId: null, version: null });
    }
  }
  return { intents, deposits, unreadable };
}

/** Changes server settings for the rest of the transaction. */
async function set(client: PoolClient, settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings))
    await client.query('SELECT set_config($1, $2, true)', [name, value]);
}

/**
 * Puts the intents that differ from the fold into a table. Compares rows as text: every column, byte for byte.
 * @param among compares only the intents in this table
 */
async function compare(client: PoolClient, partition: number, into: string, among?: string): Promise<void> {
  // Autovacuum does not, and the writer may be waiting: once, or only what is short.
  await client.query(`ANALYZE ${among ?? `${REBUILT.intents}, ${REBUILT.deposits}, ${REBUILT.events}`}`);
  const filter = (column: string): string => (among === undefined ? 'true' : `${column} IN (SELECT id FROM ${among})`);
  await client.query({
    text: `
      WITH rightly_cold AS MATERIALIZED (
        -- Of an intent that has left for the archive the projection has a digest only.
        SELECT cold.id FROM ledger.cold_intents AS cold JOIN ${REBUILT.intents} AS rebuilt USING (id, version)
        WHERE cold.partition = $1 AND ${filter('cold.id')} AND cold.digest = ${digestOf('rebuilt', REBUILT)}
          AND NOT EXISTS (SELECT FROM ledger.intents WHERE id = cold.id)
          AND NOT EXISTS (SELECT FROM ledger.intent_events WHERE intent_id = cold.id)
      )
      INSERT INTO ${into} (id, missing, surplus)
      SELECT id, bool_or(missing), bool_or(surplus) FROM (
        SELECT coalesce(kept.id, rebuilt.id) AS id, kept.id IS NULL AS missing, rebuilt.id IS NULL AS surplus
        FROM (SELECT * FROM ledger.intents WHERE partition = $1 AND ${filter('id')}) AS kept
          FULL JOIN (SELECT * FROM ${REBUILT.intents} WHERE ${filter('id')}) AS rebuilt ON kept.id = rebuilt.id
        WHERE kept::text IS DISTINCT FROM rebuilt::text
        UNION ALL
        SELECT coalesce(kept.id, rebuilt.id), kept.id IS NULL, rebuilt.id IS NULL
        FROM (SELECT * FROM ledger.deposits WHERE partition = $1 AND ${filter('id')}) AS kept
          FULL JOIN (SELECT * FROM ${REBUILT.deposits} WHERE ${filter('id')}) AS rebuilt ON kept.id = rebuilt.id
        WHERE kept::text IS DISTINCT FROM rebuilt::text
        UNION ALL
        SELECT id, false, NOT EXISTS (SELECT FROM ${REBUILT.intents} WHERE id = cold.id)
        FROM ledger.cold_intents AS cold
        WHERE partition = $1 AND ${filter('id')}
        UNION ALL
        SELECT coalesce(kept.intent_id, rebuilt.intent_id), false,
          NOT EXISTS (SELECT FROM ${REBUILT.intents} WHERE id = coalesce(kept.intent_id, rebuilt.intent_id))
            AND NOT EXISTS (SELECT FROM ${REBUILT.deposits} WHERE id = coalesce(kept.intent_id, rebuilt.intent_id))
        FROM (SELECT * FROM ledger.intent_events WHERE
            intent_id IN (${among === undefined ? OF_PARTITION : `SELECT id FROM ${among}`})) AS kept
        FULL JOIN (SELECT * FROM ${REBUILT.events} WHERE ${filter('intent_id')}) AS rebuilt
          ON kept.intent_id = rebuilt.intent_id AND kept.version = rebuilt.version
        WHERE kept::text IS DISTINCT FROM rebuilt::text
      ) AS differing
      WHERE NOT EXISTS (SELECT FROM rightly_cold WHERE rightly_cold.id = differing.id)
      GROUP BY id`,
    values: [partition],
    ...PATIENT,
  });
  if (among !== undefined) return;
  const orphans = await orphansOf(client, partition);
  await client.query(
    `INSERT INTO ${into} (id, missing, surplus) SELECT unnest($1::text[]), false, true
    ON CONFLICT (id) DO NOTHING`,
    [orphans],
  );
}

/** The intents that differ, for the report. */
async function named(client: PoolClient): Promise<Pick<RebuildReport, 'differing' | 'missing' | 'surplus'>> {
  const ids = async (condition: string): Promise<readonly string[]> => {
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM ${WRONG} WHERE ${condition} ORDER BY id COLLATE "C" LIMIT ${NAMED_AT_MOST}`,
    );
    return rows.map(({ id }) => id);
  };
  return { differing: await ids('true'), missing: await ids('missing'), surplus: await ids('surplus') };
}

/** The ids of the partition that have a history, but neither a row nor an event in the log. */
async function orphansOf(client: PoolClient, partition: number): Promise<readonly string[]> {
  await client.query({
    text: `DECLARE orphans NO SCROLL CURSOR FOR SELECT DISTINCT intent_id FROM ledger.intent_events AS event
      WHERE NOT EXISTS (SELECT FROM ledger.intents WHERE id = event.intent_id)
        AND NOT EXISTS (SELECT FROM ${REBUILT.intents} WHERE id = event.intent_id)
        AND NOT EXISTS (SELECT FROM ledger.deposits WHERE id = event.intent_id)
        AND NOT EXISTS (SELECT FROM ${REBUILT.deposits} WHERE id = event.intent_id)`,
    ...PATIENT,
  });
  const orphans: string[] = [];
  for (;;) {
    const { rows } = await client.query<{ intent_id: string }>({
      text: `FETCH ${ROWS_A_FETCH} FROM orphans`,
      ...PATIENT,
    });
    for (const { intent_id: id } of rows)
      if ((parseIntentId(id, 256) ?? parseDepositId(id, 256))?.partition === partition) orphans.push(id);
    if (rows.length < ROWS_A_FETCH) return orphans;
  }
}
