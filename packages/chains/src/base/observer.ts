import type { ChainObserver, Cursor, Network, Step, WatchSet } from '../port.ts';
import type { RpcPool } from '../rpc/pool.ts';

/** Follows Base. */
export class BaseObserver implements ChainObserver {
  readonly network: Network;
  readonly intervalMs = 500;
  readonly rebroadcastAfterMs = 15_000;
  readonly #pool: RpcPool;

  constructor(network: Network, pool: RpcPool) {
    this.network = network;
    this.#pool = pool;
  }

  async step(_cursor: Cursor | null, _synchronise: () => Promise<WatchSet>): Promise<Step> {
    throw this.#pool.unavailable(undefined);
  }
}
