import type { ChainId } from '@pf/domain';
import { type Database, inTransaction } from '../postgres/database.ts';

/** The lease to watch a network, as it was acquired. */
export interface WatchLease {
  readonly chain: ChainId;
  /** Grows with every acquisition: what is written under an earlier one is refused. */
  readonly epoch: bigint;
  /** The position of the last holder; null if this network was never watched. */
  readonly cursor: WatchCursor | null;
}

/** An observer's state between its steps: JSON that only its chain's adapter reads. */
export type WatchCursor = Readonly<Record<string, unknown>>;

const NO_BOOKMARKS: ReadonlyMap<string, null> = new Map();

/** NetworkWatches in Postgres: one row a network, and one a bookmark. */
export class SqlNetworkWatches {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async acquire(chain: ChainId, holder: string, ttlMs: number): Promise<WatchLease | null> {
    const { rows } = await this.#database.sql.query<{ epoch: string; cursor: WatchCursor | null }>(
      `INSERT INTO service.network_watches AS watch (chain, holder, epoch, expires_at, updated_at)
       VALUES ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond', clock_timestamp())
       ON CONFLICT (chain) DO UPDATE
         SET holder = excluded.holder, epoch = watch.epoch + 1, expires_at = excluded.expires_at,
           updated_at = excluded.updated_at
         WHERE watch.holder IS NULL OR watch.holder = excluded.holder OR watch.expires_at < clock_timestamp()
       RETURNING epoch, cursor`,
      [chain, holder, ttlMs],
    );
    const [row] = rows;
    return row === undefined ? null : { chain, epoch: BigInt(row.epoch), cursor: row.cursor };
  }

  async renew(lease: WatchLease, ttlMs: number): Promise<boolean> {
    const { rowCount } = await this.#database.sql.query(
      `UPDATE service.network_watches
        SET expires_at = clock_timestamp() + $3 * interval '1 millisecond' WHERE chain = $1 AND epoch = $2`,
      [lease.chain, lease.epoch.toString(), ttlMs],
    );
    return rowCount === 1;
  }

  async moveCursor(
    lease: WatchLease,
    cursor: WatchCursor,
    bookmarks: ReadonlyMap<string, string | null> = NO_BOOKMARKS,
  ): Promise<boolean> {
    const kept = [...bookmarks].filter((entry): entry is [string, string] => entry[1] !== null);
    const { rowCount } = await this.#database.sql.query(
      `WITH moved AS (
         UPDATE service.network_watches
           SET cursor = $3, updated_at = clock_timestamp() WHERE chain = $1 AND epoch = $2 RETURNING chain
       ), kept AS (
         INSERT INTO service.watch_bookmarks (chain, recipient, bookmark)
           SELECT moved.chain, one.recipient, one.bookmark
             FROM moved, unnest($4::text[], $5::text[]) AS one (recipient, bookmark)
           ON CONFLICT (chain, recipient) DO UPDATE SET bookmark = excluded.bookmark
       ), removed AS (
         DELETE FROM service.watch_bookmarks AS one USING moved
           WHERE one.chain = moved.chain AND one.recipient = ANY($6::text[])
       )
       SELECT FROM moved`,
      [
        lease.chain,
        lease.epoch.toString(),
        JSON.stringify(cursor),
        kept.map(([recipient]) => recipient),
        kept.map(([, bookmark]) => bookmark),
        [...bookmarks].filter(([, bookmark]) => bookmark === null).map(([recipient]) => recipient),
      ],
    );
    return rowCount === 1;
  }

  async bookmarks(chain: ChainId): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.#database.sql.query<{ recipient: string; bookmark: string }>(
      'SELECT recipient, bookmark FROM service.watch_bookmarks WHERE chain = $1',
      [chain],
    );
    return new Map(rows.map(({ recipient, bookmark }) => [recipient, bookmark]));
  }

  async release(lease: WatchLease): Promise<void> {
    await this.#database.sql.query(
      'UPDATE service.network_watches SET holder = NULL, expires_at = NULL WHERE chain = $1 AND epoch = $2',
      [lease.chain, lease.epoch.toString()],
    );
  }
}

/**
 * Changes the cursor of a network that some watcher may be watching: ends its lease, so that the next holder, usually
 * the same, begins with the changed cursor, and nothing of the former one moves it any more.
 * @returns null if the network was never watched: nothing was written
 */
export async function changeCursor(
  database: Database,
  chain: ChainId,
  change: (cursor: WatchCursor) => WatchCursor,
): Promise<WatchCursor | null> {
  return inTransaction(database, async (client) => {
    const { rows } = await client.query<{ cursor: WatchCursor | null }>(
      'SELECT cursor FROM service.network_watches WHERE chain = $1 FOR UPDATE',
      [chain],
    );
    const before = rows[0]?.cursor ?? null;
    if (before === null) return null;
    const changed = change(before);
    await client.query(
      `UPDATE service.network_watches
         SET cursor = $2, epoch = epoch + 1, holder = NULL, expires_at = NULL, updated_at = clock_timestamp()
         WHERE chain = $1`,
      [chain, JSON.stringify(changed)],
    );
    return changed;
  });
}
