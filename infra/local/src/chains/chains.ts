import {
  type ChainFamily,
  type Network,
  networkNamed,
  type NetworkName,
  type UpstreamVariable,
} from '@pf/chains/networks';

interface LocalNetwork {
  /** The label of the network that it stands in for. */
  readonly label: string;
  readonly caip2: Network['chain'];
  readonly family: ChainFamily;
  readonly livemode: boolean;
  /**
   * The variable that lists the network's upstream URLs, comma-separated. The services read it; set where the stack is
   * started, it replaces the local chain by these upstreams.
   */
  readonly upstreams: UpstreamVariable;
}

function standInFor(name: NetworkName): LocalNetwork {
  const { label, chain, family, livemode, upstreamVariable } = networkNamed(name);
  return { label, caip2: chain, family, livemode, upstreams: upstreamVariable };
}

/** The chains of the local stack, by their name in stack.json. */
export const CHAINS = {
  base: standInFor('base-sepolia'),
  baseLive: standInFor('base'),
  solana: standInFor('solana-devnet'),
  tempo: standInFor('tempo-moderato'),
} as const satisfies Record<string, LocalNetwork>;

export type ChainName = keyof typeof CHAINS;
export const CHAIN_NAMES = Object.keys(CHAINS) as ChainName[];

/** One value for each chain. */
export const forEachChain = <T>(value: (name: ChainName) => T): Record<ChainName, T> =>
  Object.fromEntries(CHAIN_NAMES.map((name) => [name, value(name)])) as Record<ChainName, T>;
