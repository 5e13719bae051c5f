import type { ChainId } from '@pf/domain';
import type { RpcPool, RpcPoolOptions } from '@pf/rpc';
import type { ChainAdapter, ChainObserver, KeptBytes, Network } from './port.ts';

/** How the networks of one family are served. Each family's folder has one in its `family.ts`. */
export interface Family {
  /** What finds out an upstream that serves another chain. */
  identify(chain: ChainId): RpcPoolOptions['identify'];
  /** A cheap call that reports an upstream's head. */
  probe(): RpcPoolOptions['probe'];
  adapter(network: Network, pool: RpcPool): ChainAdapter;
  observer(network: Network, pool: RpcPool, keptBytes: KeptBytes): ChainObserver;
}
