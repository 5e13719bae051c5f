import type { ChainId, TransactionHash } from '@pf/domain';
import { RpcPool, type RpcPoolOptions } from '@pf/rpc';
import { type Logger, variables } from '@pf/runtime';
import { BaseAdapter } from './base/adapter.ts';
import { BaseObserver } from './base/observer.ts';
import { getHeadNumber, identifyChain } from './evm/calls.ts';
import { networks } from './networks.ts';
import type { ChainAdapter, ChainObserver, KeptBytes, Network } from './port.ts';
import { networkOf } from './resolve.ts';
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
const families: Readonly<Record<Network['family'], Family>> = {
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

/** The variables that name the upstreams of each network: for loadConfig. An absent one is not served. */
export const upstreamVariables = {
  RPC_SOLANA: variables.urls.optional(),
  RPC_SOLANA_DEVNET: variables.urls.optional(),
  RPC_BASE: variables.urls.optional(),
  RPC_BASE_SEPOLIA: variables.urls.optional(),
  RPC_TEMPO: variables.urls.optional(),
  RPC_TEMPO_MODERATO: variables.urls.optional(),
} as const;
type UpstreamVariable = keyof typeof upstreamVariables;

/** The name of a network's variable: `RPC_BASE_SEPOLIA` for base-sepolia. */
const variableOf = ({ name }: Network): string => `RPC_${name.toUpperCase().replaceAll('-', '_')}`;

/** What createChains takes, from a configuration that has `upstreamVariables`. */
export function upstreamsOf(config: {
  readonly [Name in UpstreamVariable]?: readonly string[] | undefined;
}): ReadonlyMap<ChainId, readonly string[]> {
  const values = new Map(Object.entries(config));
  return new Map(
    networks.flatMap((network): [ChainId, readonly string[]][] => {
      const urls = Object.hasOwn(upstreamVariables, variableOf(network)) ? values.get(variableOf(network)) : undefined;
      return urls === undefined ? [] : [[network.chain, urls]];
    }),
  );
}
