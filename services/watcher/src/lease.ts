import type { NetworkWatches, Shard, WatchCursor, WatchLease } from '@pf/database';
import { type Logger, pause } from '@pf/runtime';

/** Renewed three times within its lifetime, so that one failure does not lose it. */
const RENEWALS = 3;

/** Another process may watch this network, or this shard of it, now. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

/** The right to watch a network, or a shard of it, renewed in the background until it is released or lost. */
export class Lease {
  readonly #watches: NetworkWatches;
  readonly #lease: WatchLease;
  readonly #ttlMs: number;
  readonly #lost = new AbortController();
  readonly #released = new AbortController();
  readonly #renewing: Promise<void>;

  /** @param takenAt performance.now() before it was acquired: it lasts at least `ttlMs` from then */
  private constructor(watches: NetworkWatches, lease: WatchLease, ttlMs: number, takenAt: number, log: Logger) {
    this.#watches = watches;
    this.#lease = lease;
    this.#ttlMs = ttlMs;
    this.#renewing = this.#renew(takenAt + ttlMs, log);
  }

  /**
   * @param holder unique to this process
   * @returns null while another process holds it, or the network is split into another number of shards
   */
  static async acquire(
    watches: NetworkWatches,
    chain: WatchLease['chain'],
    shard: Shard,
    holder: string,
    ttlMs: number,
    log: Logger,
  ): Promise<Lease | null> {
    const requestedAt = performance.now();
    const lease = await watches.acquire(chain, shard, holder, ttlMs);
    return lease && new Lease(watches, lease, ttlMs, requestedAt, log);
  }

  get epoch(): bigint {
    return this.#lease.epoch;
  }

  /** The last holder's cursor; null where this network was never watched. */
  get cursor(): WatchCursor | null {
    return this.#lease.cursor;
  }

  /** Aborts, with a LeaseLostError, when it was taken over or could not be renewed in time. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * @param bookmarks that changed since the last one, stored with it
   * @throws LeaseLostError where another has taken over: nothing was written
   */
  async moveCursor(cursor: WatchCursor, bookmarks: ReadonlyMap<string, string | null> = new Map()): Promise<void> {
    if (!(await this.#watches.moveCursor(this.#lease, cursor, bookmarks)))
      throw this.#lose('another watcher has taken over');
  }

  /** Releases it at once. Rejects when the database is unavailable: then it expires by itself. */
  async release(): Promise<void> {
    this.#released.abort();
    await this.#renewing;
    if (!this.#lost.signal.aborted) await this.#watches.release(this.#lease);
  }

  async #renew(until: number, log: Logger): Promise<void> {
    const ended = AbortSignal.any([this.#lost.signal, this.#released.signal]);
    let expiresAt = until;
    for (;;) {
      await pause(this.#ttlMs / RENEWALS, ended);
      if (ended.aborted) return;
      const requestedAt = performance.now();
      try {
        if (await this.#watches.renew(this.#lease, this.#ttlMs)) expiresAt = requestedAt + this.#ttlMs;
        else this.#lose('another watcher has taken over');
      } catch (error) {
        log.warn({ err: error, chain: this.#lease.chain }, 'renewing the lease failed');
        if (performance.now() >= expiresAt) this.#lose('it could not be renewed in time');
      }
    }
  }

  #lose(reason: string): LeaseLostError {
    const error = new LeaseLostError(
      `The lease of ${this.#lease.chain} (epoch ${this.#lease.epoch}) is lost: ${reason}`,
    );
    this.#lost.abort(error);
    return error;
  }
}
