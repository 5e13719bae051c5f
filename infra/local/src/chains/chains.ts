import {
  type ChainFamily,
  type Network,
  networkNamed,
  type NetworkName,
  type UpstreamVariable,
} from '@pf/chains/networks';

/** Unused wallets that are sanctioned in the local stack. */
interface Sanctioned {
  /** One that is only on the list, and the label that it has there. */
  readonly listed: { readonly address: string; readonly label: string };
  /** One that only the provider knows. */
  readonly provider: string;
}

/** Of all EVM chains. */
const SANCTIONED_EVM: Sanctioned = {
  listed: { address: '0xb347602026A95B43AaE9dF164E3749Be50f017E1', label: 'USDC' },
  provider: '0x8Fb3F31a7c6A39484053c09D8EbaBcBE12E5014A',
};

interface LocalNetwork {
  /** The label of the network that it stands in for. */
  readonly label: string;
  readonly caip2: Network['chain'];
  readonly family: ChainFamily;
  readonly livemode: boolean;
  readonly sanctioned: Sanctioned;
  /**
   * The variable that lists the network's upstream URLs, comma-separated. The services read it; set where the stack is
   * started, it replaces the local chain by these upstreams.
   */
  readonly upstreams: UpstreamVariable;
}

function standInFor(name: NetworkName, sanctioned: Sanctioned): LocalNetwork {
  const { label, chain, family, livemode, upstreamVariable } = networkNamed(name);
  return { label, caip2: chain, family, livemode, sanctioned, upstreams: upstreamVariable };
}

/** The chains of the local stack, by their name in stack.json. */
export const CHAINS = {
  base: standInFor('base-sepolia', SANCTIONED_EVM),
  baseLive: standInFor('base', SANCTIONED_EVM),
  solana: standInFor('solana-devnet', {
    listed: { address: 'D4q6xdn1P38gQjn3Rkrj5MrAVsediTvNNRZy1ZpX1YeQ', label: 'SOL' },
    provider: 'AfxT3uKwC9pRkkJi82SVXYD4hqE6fYbrnJGLw9D3ELqi',
  }),
  tempo: standInFor('tempo-moderato', SANCTIONED_EVM),
} as const satisfies Record<string, LocalNetwork>;

export type ChainName = keyof typeof CHAINS;
export const CHAIN_NAMES = Object.keys(CHAINS) as ChainName[];

/** One value for each chain. */
export const forEachChain = <T>(value: (name: ChainName) => T): Record<ChainName, T> =>
  Object.fromEntries(CHAIN_NAMES.map((name) => [name, value(name)])) as Record<ChainName, T>;
