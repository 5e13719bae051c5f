import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.ts';
import { measurePool } from './measured-pool.ts';

/**
 * One pool of connections. Repositories use `prisma` where a query is plain and rare, and `sql` where it is hot or
 * writes many rows: `INSERT … SELECT FROM unnest(…)` is ten times as fast as createMany.
 */
export interface Database {
  readonly prisma: PrismaClient;
  readonly sql: pg.Pool;
  /** True if the database responds in time. */
  ready(timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** postgresql://user:password@host:port/name */
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly maxConnections?: number;
  /** Server settings of every connection, e.g. BY_INDEX. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called for errors of idle connections: they are dropped and replaced, the caller only logs. */
  readonly onError: (error: Error) => void;
}

/**
 * For a process whose every statement finds its rows by an index. Postgres keeps the plan of a prepared statement: one
 * that was made while a table was empty would scan it after it has grown. The look-ups of 200 creates on 12,000 rows
 * would take 50 ms instead of 3.
 */
export const BY_INDEX: Readonly<Record<string, string>> = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/** Connects lazily: opening needs no running database. */
export function openDatabase({
  url,
  applicationName,
  maxConnections = 8,
  settings = {},
  onError,
}: DatabaseOptions): Database {
  const sql = new pg.Pool({
    connectionString: url,
    application_name: applicationName,
    max: maxConnections,
    connectionTimeoutMillis: 3_000,
    // The callers' deadlines are of this order, so a query that takes longer has failed for them.
    query_timeout: 10_000,
    keepAlive: true,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  });
  sql.on('error', onError);
  const unmeasure = measurePool(sql, new URL(url).pathname.slice(1));
  const prisma = new PrismaClient({ adapter: new PrismaPg(sql) });
  return {
    prisma,
    sql,
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
      unmeasure();
      await prisma.$disconnect();
      if (!sql.ended) await sql.end();
    },
  };
}

/** Runs `work` in one transaction on one connection; rolls back and rethrows if it throws. */
export async function inTransaction<T>(database: Database, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await database.sql.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A connection that cannot roll back is destroyed, not returned to the pool.
    await client.query('ROLLBACK').catch((failure: Error) => (broken = failure));
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Classes of SQLSTATE, and codes of sockets, that mean the server is unavailable, not that the query was wrong. */
const UNAVAILABLE_CODES = /^(08|53|57)|^E(CONN|PIPE|TIMEDOUT|HOSTUNREACH|AI_AGAIN)|^ENOTFOUND/;

/** Messages of node-postgres' errors that have no code. */
const UNAVAILABLE_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error',
];

/** True if an error means that Postgres was unavailable: respond with 503, or try again. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as { code?: unknown }).code;
    if (
      typeof code === 'string' &&
      (UNAVAILABLE_CODES.test(code) ||
        code === 'P1001' ||
        code === 'P1002' ||
        code === 'P1008' ||
        code === 'P1017' ||
        code === 'P2024')
    )
      return true;
    if (UNAVAILABLE_MESSAGES.some((message) => cause.message.includes(message))) return true;
  }
  return false;
}
