import { KeyedPlaces, Places } from '@pf/runtime';
import type pg from 'pg';
import type { Database } from './database.ts';
import { type Owner, OwnerBusyError, ownerNow } from './owners.ts';

/** As long as a pool itself lets wait for a connection (database.ts). */
const WAIT_MS = 3_000;
/** For the turn of an owner: its own waits fill its own time, and end before those for a lock do (roles.ts). */
const OWNER_WAIT_MS = 2_000;
/** What comes beyond fails at once: of all, and of one owner. */
const WAITING = { all: 1_000, owner: 256 } as const;

interface Share {
  readonly sql: number;
  readonly scans: number;
  /**
   * Connections of either kind that the work of one owner has at once (owners.ts), but half of the kind at most. One of
   * its members leaves the others one of them.
   */
  readonly perOwner: number;
  readonly waitMs?: number;
}

/**
 * A part of a database's connections: so many at a time, and the others stay free for those who use the database
 * itself. An owner's work waits for the owner's own turn first, so that it takes neither the connections nor the places
 * in line of others. Who gets none in time fails as if the database were unavailable. Prisma has no part: it takes
 * connections of the database itself.
 * @throws OwnerBusyError from a query or `connect`, if the turn of the owner does not come in time
 */
export const shareOf = (
  database: Database,
  { sql, scans, perOwner, waitMs = WAIT_MS }: Share,
): Pick<Database, 'sql' | 'scans'> => ({
  sql: limited(database.sql, { most: sql, perOwner, waitMs }),
  scans: limited(database.scans, { most: scans, perOwner, waitMs }),
});

type Query = (...parameters: readonly unknown[]) => Promise<unknown>;

function limited(
  pool: pg.Pool,
  { most, perOwner, waitMs }: { readonly most: number; readonly perOwner: number; readonly waitMs: number },
): pg.Pool {
  const places = new Places(most, WAITING.all);
  const owners = new KeyedPlaces(WAITING.owner);
  const ofOwner = Math.min(perOwner, Math.ceil(most / 2));
  const members = new KeyedPlaces(WAITING.owner);
  // Where an owner has but one, all its members take turns.
  const ofMember = Math.max(1, ofOwner - 1);
  /** The turn of the member, so that the others do not wait in line behind its work, then that of the owner. */
  const turnOf = async ({ name, member }: Owner, began: number): Promise<() => void> => {
    const turn = { until: began + Math.min(waitMs, OWNER_WAIT_MS), refuse: () => new OwnerBusyError() };
    const leave = await members.take({ key: JSON.stringify([name, member]), most: ofMember, ...turn });
    try {
      const free = await owners.take({ key: name, most: ofOwner, ...turn });
      return () => {
        free();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  };
  /** @returns gives the place back */
  const enter = async (): Promise<() => void> => {
    const began = performance.now();
    const owner = ownerNow();
    const leave = owner === undefined ? () => undefined : await turnOf(owner, began);
    if (await places.take(Math.max(0, began + waitMs - performance.now())))
      return () => {
        places.free();
        leave();
      };
    leave();
    // The words of a pool that has no connection in time.
    throw new Error('timeout exceeded when trying to connect');
  };
  const query: Query = async (...parameters) => {
    const leave = await enter();
    try {
      return await (pool.query as Query)(...parameters);
    } finally {
      leave();
    }
  };
  const connect = async (): Promise<pg.PoolClient> => {
    const leave = await enter();
    try {
      const client = await pool.connect();
      const release = client.release.bind(client);
      client.release = (error) => {
        // The pool sets another one when it gives the connection away again.
        client.release = release;
        leave();
        release(error);
      };
      return client;
    } catch (error) {
      leave();
      throw error;
    }
  };
  return Object.assign(Object.create(pool) as pg.Pool, { query, connect });
}
