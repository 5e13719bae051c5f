import { Places } from '@pf/runtime';
import type pg from 'pg';
import type { Database } from './database.ts';

/** As long as a pool itself lets wait for a connection (database.ts). */
const WAIT_MS = 3_000;
/** What comes beyond fails at once. */
const WAITING_MAX = 1_000;

/**
 * A part of a database's connections: so many at a time, and the others stay free for those who use the database
 * itself. Who gets none in time fails as if the database were unavailable. Prisma has no part: it takes connections of
 * the database itself.
 */
export const shareOf = (
  database: Database,
  { sql, scans, waitMs = WAIT_MS }: { readonly sql: number; readonly scans: number; readonly waitMs?: number },
): Pick<Database, 'sql' | 'scans'> => ({
  sql: limited(database.sql, sql, waitMs),
  scans: limited(database.scans, scans, waitMs),
});

type Query = (...parameters: readonly unknown[]) => Promise<unknown>;

function limited(pool: pg.Pool, most: number, waitMs: number): pg.Pool {
  const places = new Places(most, WAITING_MAX);
  const enter = async (): Promise<void> => {
    // The words of a pool that has no connection in time.
    if (!(await places.take(waitMs))) throw new Error('timeout exceeded when trying to connect');
  };
  const query: Query = async (...parameters) => {
    await enter();
    try {
      return await (pool.query as Query)(...parameters);
    } finally {
      places.free();
    }
  };
  const connect = async (): Promise<pg.PoolClient> => {
    await enter();
    try {
      const client = await pool.connect();
      const release = client.release.bind(client);
      client.release = (error) => {
        // The pool sets another one when it gives the connection away again.
        client.release = release;
        places.free();
        release(error);
      };
      return client;
    } catch (error) {
      places.free();
      throw error;
    }
  };
  return Object.assign(Object.create(pool) as pg.Pool, { query, connect });
}
