import type { ChainId } from '@pf/domain';
import type { Database } from '../postgres/database.ts';

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

/**
 * The lease and the cursor of each watched network, in one row. Times are the database's, so the holders' clocks need
 * not agree. Every method rejects if the database is unavailable.
 */
export class NetworkWatches {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Acquires the lease if it is free, has expired, or is held by this holder already.
   * @param holder unique to a process
   * @returns null while another holds it
   */
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

  /** @returns false if another holder has acquired the lease since */
  async renew(lease: WatchLease, ttlMs: number): Promise<boolean> {
    const { rowCount } = await this.#database.sql.query(
      `UPDATE service.network_watches
        SET expires_at = clock_timestamp() + $3 * interval '1 millisecond' WHERE chain = $1 AND epoch = $2`,
      [lease.chain, lease.epoch.toString(), ttlMs],
    );
    return rowCount === 1;
  }

  /**
   * Moves the cursor, by compare-and-set on the epoch.
   * @returns false, and nothing is written, if another holder has acquired the lease since
   */
  async moveCursor(lease: WatchLease, cursor: WatchCursor): Promise<boolean> {
    const { rowCount } = await this.#database.sql.query(
      'UPDATE service.network_watches SET cursor = $3, updated_at = clock_timestamp() WHERE chain = $1 AND epoch = $2',
      [lease.chain, lease.epoch.toString(), JSON.stringify(cursor)],
    );
    return rowCount === 1;
  }

  /**
   * Releases the lease, so that a standby need not wait until it expires. Does nothing if another holder has acquired
   * it.
   */
  async release(lease: WatchLease): Promise<void> {
    await this.#database.sql.query(
      'UPDATE service.network_watches SET holder = NULL, expires_at = NULL WHERE chain = $1 AND epoch = $2',
      [lease.chain, lease.epoch.toString()],
    );
  }
}
