/** What the registry does not say of a network, because only payers' browsers need it. */
interface Places {
  /** The page of a transaction in a block explorer. */
  readonly transaction: (hash: string) => string;
  /** For `wallet_addEthereumChain`, where a wallet does not know the network yet. */
  readonly added?: {
    readonly rpcUrl: string;
    readonly explorer: string;
    readonly currency: { readonly name: string; readonly symbol: string };
  };
}

const ether = { name: 'Ether', symbol: 'ETH' };
/** Tempo has no coin of its own: fees are paid in dollars. */
const dollar = { name: 'US Dollar', symbol: 'USD' };

function evm(rpcUrl: string, explorer: string, currency: typeof ether): Places {
  return { transaction: (hash) => `${explorer}/tx/${hash}`, added: { rpcUrl, explorer, currency } };
}

/** By CAIP-2. */
const PLACES: Readonly<Record<string, Places>> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': { transaction: (hash) => `https://explorer.solana.com/tx/${hash}` },
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': {
    transaction: (hash) => `https://explorer.solana.com/tx/${hash}?cluster=devnet`,
  },
  'eip155:8453': evm('https://mainnet.base.org', 'https://basescan.org', ether),
  'eip155:84532': evm('https://sepolia.base.org', 'https://sepolia.basescan.org', ether),
  'eip155:4217': evm('https://rpc.tempo.xyz', 'https://explore.tempo.xyz', dollar),
  'eip155:42431': evm('https://rpc.moderato.tempo.xyz', 'https://explore.testnet.tempo.xyz', dollar),
};

export const placesOf = (chain: string): Places | undefined => PLACES[chain];

/** The page of a transaction in a block explorer; null where none is known. */
export const explorerLink = (chain: string, hash: string): string | null =>
  PLACES[chain]?.transaction(encodeURIComponent(hash)) ?? null;
