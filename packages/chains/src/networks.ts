import type { Feature } from '@pf/contracts';
import type { ChainFamily, ChainId, TokenAddress, TransactionFormat } from '@pf/domain';

export type { ChainFamily } from '@pf/domain';

/** A token of a network. */
export interface Token {
  /** As its contract or mint has it: `USDC`, `USDC.e`. What the API calls it. */
  readonly symbol: string;
  /**
   * Other names that requests and stored intents have for it, such as an earlier `symbol`. An intent stores its token's
   * address, so none of these changes what it means; no two tokens of a network share a name.
   */
  readonly aliases: readonly string[];
  readonly address: TokenAddress;
  readonly decimals: number;
  /** What it stands for: an ISO 4217 code. */
  readonly currency: 'USD' | 'EUR';
  /** The program of a Solana mint, which never changes it. Absent: the original token program, or another chain. */
  readonly program?: 'token-2022';
}

/** What all networks of a family have in common. */
interface FamilyFacts {
  /** `Base`: in texts. */
  readonly label: string;
  readonly format: TransactionFormat;
  /** ms between blocks or slots that the network aims at. How fast they come is measured where it matters. */
  readonly blockMs: number;
  /** ms between an observer's steps: while a payment is under way, and otherwise. */
  readonly pollMs: { readonly awaiting: number; readonly idle: number };
  /**
   * ms between broadcasts of a live submission. One that was never recorded as broadcast is sent, too, once it can no
   * longer be released (UNRELEASABLE_AFTER_MS).
   */
  readonly rebroadcastAfterMs: number;
  /** What fees are paid in, as wallets name it. */
  readonly coin: { readonly name: string; readonly symbol: string };
  /** What a wallet's address looks like, for the field of a form. */
  readonly addressHint: string;
  /** The browser's wallet (its `rdns`, EIP-6963) that signs without sending; null where none is known by its name. */
  readonly signingWallet: string | null;
}

/** The longest step of an observer, in ms: on a plan of few calls a second most of it waits for their turn. */
export const STEP_MS = 30_000;

const POLL_MS = { awaiting: 400, idle: 1_000 };
/** Each family's facts; `liveFeature` is what the plan must include for its live networks. */
export const families: Readonly<Record<ChainFamily, FamilyFacts & { readonly liveFeature: Feature | null }>> = {
  base: {
    label: 'Base',
    format: 'evm_rlp',
    blockMs: 200,
    pollMs: POLL_MS,
    rebroadcastAfterMs: 15_000,
    coin: { name: 'Ether', symbol: 'ETH' },
    addressHint: '0x…',
    signingWallet: null,
    liveFeature: null,
  },
  solana: {
    label: 'Solana',
    format: 'solana_v0_message',
    blockMs: 200,
    pollMs: POLL_MS,
    rebroadcastAfterMs: 2_000,
    coin: { name: 'Solana', symbol: 'SOL' },
    addressHint: 'Base58',
    signingWallet: null,
    liveFeature: null,
  },
  tempo: {
    label: 'Tempo',
    format: 'tempo_tip20',
    blockMs: 500,
    pollMs: POLL_MS,
    rebroadcastAfterMs: 10_000,
    // It has no coin of its own: fees are paid in dollars.
    coin: { name: 'US Dollar', symbol: 'USD' },
    addressHint: '0x…',
    signingWallet: 'xyz.tempo',
    liveFeature: 'live_tempo',
  },
};

/** A network's facts. Facts that a chain may change (fees, limits of providers) are not among them. */
export interface Network extends FamilyFacts {
  /** CAIP-2. */
  readonly chain: ChainId;
  /** `base-sepolia`: in logs, metrics and the variable of its upstreams. */
  readonly name: string;
  /** `Base Sepolia`: in texts. */
  readonly label: string;
  readonly family: ChainFamily;
  readonly livemode: boolean;
  /** The page of a transaction in a block explorer; `{hash}` stands for its hash. */
  readonly explorer: string;
  /** A node that anyone may ask, for wallets that do not know the network yet; null where all of them know it. */
  readonly publicRpcUrl: string | null;
  /** What the account's plan must include for payments on this network; null where every plan does. */
  readonly feature: Feature | null;
  /** The variable that names its upstreams: `RPC_BASE_SEPOLIA`. */
  readonly upstreamVariable: UpstreamVariable;
  readonly tokens: readonly Token[];
}

const token = (
  symbol: string,
  address: string,
  {
    aliases = [],
    currency = 'USD',
    decimals = 6,
    program,
  }: Partial<Pick<Token, 'aliases' | 'currency' | 'decimals' | 'program'>> = {},
): Token => ({
  symbol,
  aliases,
  address: address as TokenAddress,
  decimals,
  currency,
  ...(program !== undefined && { program }),
});

interface Entry<Name> extends Pick<Network, 'label' | 'family' | 'livemode' | 'explorer' | 'publicRpcUrl' | 'tokens'> {
  readonly name: Name;
}

function network<const Name extends string>(chain: string, entry: Entry<Name>): Network & { readonly name: Name } {
  const { liveFeature, ...facts } = families[entry.family];
  return {
    ...facts,
    ...entry,
    chain: chain as ChainId,
    feature: entry.livemode ? liveFeature : null,
    upstreamVariable: `RPC_${entry.name.toUpperCase().replaceAll('-', '_')}` as UpstreamVariable,
  };
}

/**
 * The registry: every network the API knows, and the tokens it accepts there, each address in canonical form (EIP-55 or
 * base58). It is the only list of networks: everything else derives from it. A network is served only where upstreams
 * are configured for it. Never remove an entry: old intents would be missing from lists by chain and token. A symbol
 * that changes stays as an alias. docs/operations/networks.md says where each fact was read.
 */
const registry = [
  network('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', {
    name: 'solana',
    label: 'Solana',
    family: 'solana',
    livemode: true,
    explorer: 'https://explorer.solana.com/tx/{hash}',
    publicRpcUrl: null,
    tokens: [
      token('USDC', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
      token('USDT', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'),
      token('PYUSD', '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo', { program: 'token-2022' }),
      token('OUSD', 'ousd2mJsPEckLHcSCDxyKD7NDGARZcfLbDZkKiatYHB', { program: 'token-2022' }),
      token('USDG', '2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH', { program: 'token-2022' }),
      token('EURC', 'HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr', { currency: 'EUR' }),
    ],
  }),
  network('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', {
    name: 'solana-devnet',
    label: 'Solana devnet',
    family: 'solana',
    livemode: false,
    explorer: 'https://explorer.solana.com/tx/{hash}?cluster=devnet',
    publicRpcUrl: null,
    tokens: [
      token('USDC', '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'),
      token('PYUSD', 'CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM', { program: 'token-2022' }),
      token('USDG', '4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7', { program: 'token-2022' }),
      token('EURC', 'HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr', { currency: 'EUR' }),
    ],
  }),
  network('eip155:8453', {
    name: 'base',
    label: 'Base',
    family: 'base',
    livemode: true,
    explorer: 'https://basescan.org/tx/{hash}',
    publicRpcUrl: 'https://mainnet.base.org',
    tokens: [
      token('USDC', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'),
      token('EURC', '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42', { currency: 'EUR' }),
      // Not issued by Tether: the bridge of the OP stack mints it.
      token('USDT', '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2'),
      // A B20 token: part of the chain, without a contract of its own.
      token('OUSD', '0xB2000000000000000000002fEb517dFeC7415344'),
    ],
  }),
  network('eip155:84532', {
    name: 'base-sepolia',
    label: 'Base Sepolia',
    family: 'base',
    livemode: false,
    explorer: 'https://sepolia.basescan.org/tx/{hash}',
    publicRpcUrl: 'https://sepolia.base.org',
    tokens: [
      token('USDC', '0x036CbD53842c5426634e7929541eC2318f3dCF7e'),
      token('EURC', '0x808456652fdb597867f38412077A9182bf77359F', { currency: 'EUR' }),
    ],
  }),
  network('eip155:4217', {
    name: 'tempo',
    label: 'Tempo',
    family: 'tempo',
    livemode: true,
    explorer: 'https://explore.tempo.xyz/tx/{hash}',
    publicRpcUrl: 'https://rpc.tempo.xyz',
    tokens: [
      token('pathUSD', '0x20C0000000000000000000000000000000000000'),
      // Bridged: the issuers may bring tokens of their own, with the names that these had here first.
      token('USDC.e', '0x20C000000000000000000000b9537d11c60E8b50', { aliases: ['USDC'] }),
      token('USDT0', '0x20C00000000000000000000014f22CA97301EB73', { aliases: ['USDT'] }),
      token('EURC.e', '0x20c0000000000000000000001621e21F71CF12fb', { aliases: ['EURC'], currency: 'EUR' }),
      token('OUSD', '0x20c0000000000000000000006a37DA5C996874BE'),
    ],
  }),
  network('eip155:42431', {
    name: 'tempo-moderato',
    label: 'Tempo Moderato',
    family: 'tempo',
    livemode: false,
    explorer: 'https://explore.testnet.tempo.xyz/tx/{hash}',
    publicRpcUrl: 'https://rpc.moderato.tempo.xyz',
    tokens: [
      token('pathUSD', '0x20C0000000000000000000000000000000000000'),
      token('AlphaUSD', '0x20C0000000000000000000000000000000000001'),
      token('BetaUSD', '0x20C0000000000000000000000000000000000002'),
      token('ThetaUSD', '0x20C0000000000000000000000000000000000003'),
      token('USDC.e', '0x20C0000000000000000000009e8d7eB59B783726', { aliases: ['USDC'] }),
      token('OUSD', '0x20c0000000000000000000006a37DA5C996874BE'),
      token('EURC.e', '0x20c000000000000000000000D72572838BbEe59C', { aliases: ['EURC'], currency: 'EUR' }),
    ],
  }),
] as const;
export const networks: readonly Network[] = registry;

export type NetworkName = (typeof registry)[number]['name'];
type SnakeCase<Text extends string> = Text extends `${infer Head}-${infer Tail}` ? `${Head}_${SnakeCase<Tail>}` : Text;
export type UpstreamVariable = `RPC_${Uppercase<SnakeCase<NetworkName>>}`;

const byChain: ReadonlyMap<string, Network> = new Map(networks.map((network) => [network.chain, network]));
const byName: ReadonlyMap<string, Network> = new Map(networks.map((network) => [network.name, network]));

/** The network of a CAIP-2 chain id, if the registry has it. */
export const findNetwork = (chain: string): Network | undefined => byChain.get(chain);

/** True where this is one of the token's names, in any case. */
export function isCalled({ symbol, aliases }: Token, text: string): boolean {
  const name = text.toUpperCase();
  return [symbol, ...aliases].some((one) => one.toUpperCase() === name);
}

/** The page of a transaction in a block explorer; null on a network that this version does not know. */
export const explorerPage = (chain: string, hash: string): string | null =>
  byChain.get(chain)?.explorer.replace('{hash}', encodeURIComponent(hash)) ?? null;

/** The network of a chain id that the service itself wrote. @throws Error on one that is not in the registry */
export function networkOf(chain: ChainId): Network {
  const network = byChain.get(chain);
  if (network === undefined) throw new Error(`the registry has no network ${chain}`);
  return network;
}

/** The network of this name, such as `base-sepolia`. */
export function networkNamed(name: NetworkName): Network {
  const network = byName.get(name);
  if (network === undefined) throw new Error(`the registry has no network named ${name}`);
  return network;
}

/** The network of the same family in the other mode: a live network's testnet, and back. */
export const counterpartOf = ({ family, livemode }: Network): Network | undefined =>
  networks.find((other) => other.family === family && other.livemode !== livemode);
