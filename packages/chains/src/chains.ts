import type { ChainId, TransactionHash } from '@pf/domain';
import { RpcPool, type RpcPoolOptions } from '@pf/rpc';
import { type Logger, variables } from '@pf/runtime';
import { BaseAdapter } from './base/adapter.ts';
import { BaseObserver } from './base/observer.ts';
import { getHeadNumber, identifyChain } from './evm/calls.ts';
import { type ChainFamily, type Network, networkOf, networks, type UpstreamVariable } from './networks.ts';
import type { ChainAdapter, ChainObserver, KeptBytes } from './port.ts';
import { SolanaAdapter } from './solana/adapter.ts';
import { getHead, identifyGenesis } from './solana/calls.ts';
import { SolanaObserver } from './solana/observer.ts';
import { TempoAdapter } from './tempo/adapter.ts';
import { TempoObserver } from './tempo/observer.ts';

/** The networks that are served, each with its adapter (gateway) and its observer (watcher) over one pool of upstreams. */
export interface Chains {
  readonly adapters: ReadonlyMap<ChainId, ChainAdapter>;
  readonly observers: ReadonlyMap<ChainId, ChainObserver>;
  /** Closes the connections to the upstreams. */
  close(): Promise<void>;
}

export interface ChainsOptions {
  /** URLs by network, in order of preference: upstreamsOf(config). A network that is absent is not served. */
  readonly upstreams: ReadonlyMap<ChainId, readonly string[]>;
  readonly log: Logger;
  /** For observers: the signed bytes of a transaction as they are kept for being broadcast again; null where they are not. */
  readonly keptBytes?: (chain: ChainId, hash: TransactionHash) => Promise<Uint8Array | null>;
}

/** What is made for a network of each family. */
interface Family {
  /** How an upstream of another chain is found out. */
  identify(chain: ChainId): RpcPoolOptions['identify'];
  probe(): RpcPoolOptions['probe'];
  adapter(network: Network, pool: RpcPool): ChainAdapter;
  observer(network: Network, pool: RpcPool, keptBytes: KeptBytes): ChainObserver;
}
const families: Readonly<Record<ChainFamily, Family>> = {
  base: {
    identify: identifyChain,
    probe: getHeadNumber,
    adapter: (network, pool) => new BaseAdapter(network, pool),
    observer: (network, pool, keptBytes) => new BaseObserver(network, pool, Date.now, keptBytes),
  },
  tempo: {
    identify: identifyChain,
    probe: getHeadNumber,
    adapter: (network, pool) => new TempoAdapter(network, pool),
    observer: (network, pool) => new TempoObserver(network, pool),
  },
  solana: {
    identify: identifyGenesis,
    probe: getHead,
    adapter: (network, pool) => new SolanaAdapter(network, pool),
    observer: (network, pool) => new SolanaObserver(network, pool),
  },
};

/** Connects to nothing yet: upstreams are asked when something is asked of them. */
export function createChains({ upstreams, log, keptBytes = () => Promise.resolve(null) }: ChainsOptions): Chains {
  const adapters = new Map<ChainId, ChainAdapter>();
  const observers = new Map<ChainId, ChainObserver>();
  const pools: RpcPool[] = [];
  for (const [chain, urls] of upstreams) {
    const network = networkOf(chain);
    const family = families[network.family];
    const pool = new RpcPool({
      network: network.name,
      urls,
      identify: family.identify(chain),
      probe: family.probe(),
      log,
    });
    pools.push(pool);
    adapters.set(chain, family.adapter(network, pool));
    observers.set(
      chain,
      family.observer(network, pool, (hash) => keptBytes(chain, hash)),
    );
  }
  return {
    adapters,
    observers,
    close: async () => {
      await Promise.all(pools.map((pool) => pool.close()));
    },
  };
}

const urls = variables.urls.optional();
/** The variables that name the upstreams of each network: for loadConfig. A network without one is not served. */
export const upstreamVariables: Readonly<Record<UpstreamVariable, typeof urls>> = Object.fromEntries(
  networks.map(({ upstreamVariable }) => [upstreamVariable, urls]),
) as Record<UpstreamVariable, typeof urls>;

/** What createChains takes, from a configuration that has `upstreamVariables`. */
export function upstreamsOf(
  config: Readonly<Partial<Record<UpstreamVariable, readonly string[] | undefined>>>,
): ReadonlyMap<ChainId, readonly string[]> {
  return new Map(
    networks.flatMap(({ chain, upstreamVariable }): [ChainId, readonly string[]][] => {
      const upstreams = config[upstreamVariable];
      return upstreams === undefined ? [] : [[chain, upstreams]];
    }),
  );
}
