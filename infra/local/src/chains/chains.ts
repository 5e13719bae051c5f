/** The chains of the local stack, by their name in stack.json. */
export const CHAINS = {
  base: { label: 'Base Sepolia', caip2: 'eip155:84532', upstreams: 'RPC_BASE_SEPOLIA' },
  baseLive: { label: 'Base', caip2: 'eip155:8453', upstreams: 'RPC_BASE' },
  solana: { label: 'Solana devnet', caip2: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', upstreams: 'RPC_SOLANA_DEVNET' },
  tempo: { label: 'Tempo Moderato', caip2: 'eip155:42431', upstreams: 'RPC_TEMPO_MODERATO' },
} as const satisfies Record<string, LocalNetwork>;

interface LocalNetwork {
  /** The network whose place it takes. */
  readonly label: string;
  readonly caip2: string;
  /** The variable of its nodes' URLs, comma-separated: the services', and ours where nodes elsewhere are to be used. */
  readonly upstreams: string;
}

export type ChainName = keyof typeof CHAINS;
export const CHAIN_NAMES = Object.keys(CHAINS) as ChainName[];

/** One value for each chain. */
export const forEachChain = <T>(value: (name: ChainName) => T): Record<ChainName, T> =>
  Object.fromEntries(CHAIN_NAMES.map((name) => [name, value(name)])) as Record<ChainName, T>;
