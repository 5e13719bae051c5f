import type { ChainId } from '@pf/domain';
import { type Database, inTransaction } from '../postgres/database.ts';
import { leaseRow, leaseRows, ofShard, type Shard, SHARDS_MAX } from './shards.ts';

/** The lease to watch a network, or a shard of it, as it was acquired. */
export interface WatchLease {
  readonly chain: ChainId;
  readonly shard: Shard;
  /** Grows with every acquisition: what is written under an earlier one is refused. */
  readonly epoch: bigint;
  /** The position of the last holder; null if this network was never watched. */
  readonly cursor: WatchCursor | null;
}

const rowOf = ({ chain, shard }: Pick<WatchLease, 'chain' | 'shard'>): string => leaseRow(chain, shard.index);

/** An observer's state between its steps: JSON that only its chain's adapter reads. */
export type WatchCursor = Readonly<Record<string, unknown>>;

const NO_BOOKMARKS: ReadonlyMap<string, null> = new Map();

/** NetworkWatches in Postgres: one row a shard of a network, and one a bookmark. */
export class SqlNetworkWatches {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async acquire(chain: ChainId, shard: Shard, holder: string, ttlMs: number): Promise<WatchLease | null> {
    const { rows } = await this.#database.sql.query<{ epoch: string; cursor: WatchCursor | null }>(
      // Each row has the number of shards, so that a change of it cannot be missed: this row is locked by both.
      `INSERT INTO service.network_watches AS watch (chain, holder, epoch, expires_at, updated_at)
         SELECT $1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond', clock_timestamp()
           WHERE $4::int = 1 OR EXISTS (SELECT FROM service.network_watches WHERE chain = $1)
       ON CONFLICT (chain) DO UPDATE
         SET holder = excluded.holder, epoch = watch.epoch + 1, expires_at = excluded.expires_at,
           updated_at = excluded.updated_at
         WHERE watch.shards = $4 AND
           (watch.holder IS NULL OR watch.holder = excluded.holder OR watch.expires_at < clock_timestamp())
       RETURNING epoch, cursor`,
      [rowOf({ chain, shard }), holder, ttlMs, shard.count],
    );
    const [row] = rows;
    return row === undefined ? null : { chain, shard, epoch: BigInt(row.epoch), cursor: row.cursor };
  }

  async shards(chain: ChainId): Promise<number> {
    const { rows } = await this.#database.sql.query<{ shards: number }>(
      'SELECT shards FROM service.network_watches WHERE chain = $1',
      [chain],
    );
    return rows[0]?.shards ?? 1;
  }

  async renew(lease: WatchLease, ttlMs: number): Promise<boolean> {
    const { rowCount } = await this.#database.sql.query(
      `UPDATE service.network_watches
        SET expires_at = clock_timestamp() + $3 * interval '1 millisecond' WHERE chain = $1 AND epoch = $2`,
      [rowOf(lease), lease.epoch.toString(), ttlMs],
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
           SET cursor = $3, updated_at = clock_timestamp() WHERE chain = $1 AND epoch = $2 RETURNING $7::text AS chain
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
        rowOf(lease),
        lease.epoch.toString(),
        JSON.stringify(cursor),
        kept.map(([recipient]) => recipient),
        kept.map(([, bookmark]) => bookmark),
        [...bookmarks].filter(([, bookmark]) => bookmark === null).map(([recipient]) => recipient),
        lease.chain,
      ],
    );
    return rowCount === 1;
  }

  async bookmarks(chain: ChainId, shard: Shard): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.#database.sql.query<{ recipient: string; bookmark: string }>(
      `SELECT recipient, bookmark FROM service.watch_bookmarks
        WHERE chain = $1 AND ${ofShard('recipient', '$2', '$3')}`,
      [chain, shard.index, shard.count],
    );
    return new Map(rows.map(({ recipient, bookmark }) => [recipient, bookmark]));
  }

  async release(lease: WatchLease): Promise<void> {
    await this.#database.sql.query(
      'UPDATE service.network_watches SET holder = NULL, expires_at = NULL WHERE chain = $1 AND epoch = $2',
      [rowOf(lease), lease.epoch.toString()],
    );
  }
}

/**
 * Changes the cursors of a network that watchers may be watching, one for each shard: ends their leases, so that the
 * next holders, usually the same, begin with the changed cursors, and nothing of the former ones moves them any more.
 * @param change from the cursors of all shards, in order, to the new ones: another number of them splits the network
 * into as many
 * @returns null if the network was never watched: nothing was written
 */
export async function changeCursors(
  database: Database,
  chain: ChainId,
  change: (cursors: readonly WatchCursor[]) => readonly WatchCursor[],
): Promise<readonly WatchCursor[] | null> {
  return inTransaction(database, async (client) => {
    const { rows } = await client.query<{ cursor: WatchCursor | null; shards: number }>(
      `SELECT cursor, shards FROM service.network_watches JOIN unnest($1::text[]) WITH ORDINALITY AS one (chain, place)
         USING (chain) ORDER BY place FOR UPDATE OF network_watches`,
      [leaseRows(chain)],
    );
    const before = rows.slice(0, rows[0]?.shards ?? 0).map(({ cursor }) => cursor);
    if (before.length === 0 || before.includes(null)) return null;
    const changed = change(before as WatchCursor[]);
    if (changed.length < 1 || changed.length > SHARDS_MAX)
      throw new Error(`${changed.length} cursors: a network has 1 to ${SHARDS_MAX} shards`);
    // Rows of former shards stay, so that no epoch comes twice.
    const rowsAfter = leaseRows(chain).slice(0, Math.max(rows.length, changed.length));
    await client.query(
      `INSERT INTO service.network_watches AS watch (chain, shards, epoch, cursor, updated_at)
         SELECT one.chain, $3, 1, one.cursor::jsonb, clock_timestamp()
           FROM unnest($1::text[], $2::text[]) AS one (chain, cursor)
       ON CONFLICT (chain) DO UPDATE
         SET shards = excluded.shards, epoch = watch.epoch + 1, cursor = excluded.cursor, holder = NULL,
           expires_at = NULL, updated_at = excluded.updated_at`,
      [rowsAfter, rowsAfter.map((_, at) => (at < changed.length ? JSON.stringify(changed[at]) : null)), changed.length],
    );
    return changed;
  });
}
