import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { type Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { isCallback, measurePool, type Query, textOf } from './measured-pool.ts';

/**
 * One pool of connections. Repositories use `prisma` where a query is plain and rare, and `sql` where it is hot or
 * writes many rows: `INSERT … SELECT FROM unnest(…)` is ten times as fast as createMany.
 */
export interface Database {
  readonly prisma: PrismaClient;
  readonly sql: pg.Pool;
  /**
   * A few connections for statements that may read many rows: however many of them there are, and however slow, they
   * take no connection of all the others. A statement that gets none in time fails as if the database were unavailable.
   */
  readonly scans: pg.Pool;
  /** True if the database responds in time. */
  ready(timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** A transaction of Prisma. */
export type PrismaTransaction = Prisma.TransactionClient;

export interface DatabaseOptions {
  /** postgresql://user:password@host:port/name, in plain text unless it ends with ?sslmode=verify-full */
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Default 8. */
  readonly maxConnections?: number;
  /** How many of them are for `scans`; default 0: they share the others'. */
  readonly maxScans?: number;
  /**
   * Settings of its sessions. Where the user has them already, as the program's own role does, nothing is sent: a
   * pooler in transaction mode would give them to other clients. Default none.
   */
  readonly settings?: Readonly<Record<string, string>>;
  /** Told of failed idle connections, which are dropped and replaced. Default: nothing is logged. */
  readonly log?: { warn(details: { readonly err: Error }, message: string): void };
}

/** Connects lazily: opening needs no running database. */
export function openDatabase({
  url,
  applicationName,
  maxConnections = 8,
  maxScans = 0,
  settings = {},
  log,
}: DatabaseOptions): Database {
  const options: pg.PoolConfig = {
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: 3_000,
    // The callers' deadlines are of this order, so a query that takes longer has failed for them. It only breaks the
    // connection; the limits that end the query on the server are settings of the role (roles.ts). Nothing is set by a
    // startup option: poolers refuse them.
    query_timeout: 10_000,
    keepAlive: true,
    // Before a new connection is used for the first time.
    verify: (client, done) => void establish(client, settings).then(() => done(), done),
  };
  const sql = new pg.Pool({ ...options, max: maxConnections - maxScans });
  const scans = maxScans === 0 ? sql : new pg.Pool({ ...options, max: maxScans });
  const pools = [...new Set([sql, scans])];
  for (const pool of pools) {
    pool.on('error', (error) => log?.warn({ err: error }, 'an idle database connection failed'));
    // The pool listens only to idle connections. One that breaks while it is in use fails its statement, and without a
    // listener it would end the process as well.
    pool.on('connect', (client) => client.on('error', () => undefined));
    closeUnusable(pool);
  }
  const unmeasure = pools.map((pool) => measurePool(pool, new URL(url).pathname.slice(1)));
  const prisma = new PrismaClient({ adapter: new PrismaPg(sql) });
  return {
    prisma,
    sql,
    scans,
    async ready(timeoutMs) {
      const signal = AbortSignal.timeout(timeoutMs);
      const late = new Promise<false>((resolve) =>
        signal.addEventListener('abort', () => resolve(false), { once: true }),
      );
      return Promise.race([
        late,
        sql.query('SELECT 1').then(
          () => true,
          () => false,
        ),
      ]);
    },
    async close() {
      for (const end of unmeasure) end();
      await prisma.$disconnect();
      await Promise.all(pools.filter(({ ended }) => !ended).map((pool) => pool.end()));
    },
  };
}

async function establish(client: pg.ClientBase, settings: Readonly<Record<string, string>>): Promise<void> {
  const names = Object.keys(settings);
  if (names.length === 0) return;
  await client.query(
    `SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
      WHERE current_setting(name) <> value`,
    [names, Object.values(settings)],
  );
}

/** Runs `work` in one transaction on one connection; rolls back and rethrows if it throws. */
export async function inTransaction<T>(database: Database, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await database.sql.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A connection on which this fails is not used again: `closeUnusable`.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

/**
 * Closes a connection on which nothing could be rolled back, or whose server has become a standby, when it is returned:
 * the next transaction would fail, too. A new connection goes where the name leads now. It is seen at the connection,
 * because Prisma returns one whatever has happened on it, and the sign-in library catches what its statements throw.
 */
function closeUnusable(pool: pg.Pool): void {
  const unusable = new WeakSet<pg.ClientBase>();
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as Query;
    const watched: Query = async (...parameters) => {
      try {
        return await query(...parameters);
      } catch (error) {
        if (sqlStateOf(error) === READ_ONLY || textOf(parameters[0]) === 'ROLLBACK') unusable.add(client);
        throw error;
      }
    };
    // Calls with a callback are the pool's own: it closes the connection of each that fails.
    Object.assign(client, { query: (...given: unknown[]) => (given.some(isCallback) ? query : watched)(...given) });
  });
  pool.on('release', (_error, client) => {
    if (unusable.has(client)) void client.end();
  });
}

/** SQLSTATE read_only_sql_transaction: the server is a standby. */
const READ_ONLY = '25006';

/**
 * SQLSTATEs, or their classes, and codes of sockets that mean the server is unavailable, not that the query was wrong:
 * a standby, a transaction ended for being idle (25P03), a lock that was not to be had in time (55P03), a statement
 * that took too long (57014).
 */
const UNAVAILABLE_CODES = /^(08|53|57|25006|25P03|55P03)|^E(CONN|PIPE|TIMEDOUT|HOSTUNREACH|AI_AGAIN)|^ENOTFOUND/;

/** Messages of node-postgres' errors that have no code. */
const UNAVAILABLE_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error',
];

/** Codes of Prisma's own that mean the same. */
const UNAVAILABLE_IN_PRISMA: ReadonlySet<unknown> = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028']);
/** What Prisma's driver adapter makes of errors of sockets. */
const UNREACHABLE_KINDS: ReadonlySet<unknown> = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout']);

/** An error, or what one comes from. */
interface Failure {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  /** Of Prisma, whose driver adapter has thrown an error with a cause that has Postgres' code. */
  readonly meta?: { readonly driverAdapterError?: unknown };
  readonly originalCode?: unknown;
  readonly kind?: unknown;
}

/** An error and what it comes from, as node-postgres and Prisma say it. */
function* failuresOf(error: unknown): Generator<Failure> {
  let failure = error;
  while (typeof failure === 'object' && failure !== null) {
    yield failure;
    const { meta, cause } = failure as Failure;
    failure = meta?.driverAdapterError ?? cause;
  }
}

/** The SQLSTATE of an error of Postgres, also where Prisma hides it behind a code of its own. */
function sqlStateOf(error: unknown): unknown {
  const failures = [...failuresOf(error)];
  return failures.find(({ originalCode }) => originalCode !== undefined)?.originalCode ?? failures[0]?.code;
}

/** True if an error means that the role of this program has no right to do it. */
export const isDenied = (error: unknown): boolean => sqlStateOf(error) === '42501';

/** True if an error means that Postgres was unavailable: respond with 503, or try again. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return [...failuresOf(error)].some(
    ({ code, originalCode, kind, message }) =>
      [code, originalCode].some((one) => typeof one === 'string' && UNAVAILABLE_CODES.test(one)) ||
      UNAVAILABLE_IN_PRISMA.has(code) ||
      UNREACHABLE_KINDS.has(kind) ||
      UNAVAILABLE_MESSAGES.some((words) => typeof message === 'string' && message.includes(words)),
  );
}
