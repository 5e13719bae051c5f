import { findNetwork, type Network, networks } from '@pf/chains/networks';
import type { Mode } from '../api/client.ts';

/** Where anybody can look a transaction up. By CAIP-2. */
const EXPLORERS: Readonly<Record<string, (hash: string) => string>> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': (hash) => `https://explorer.solana.com/tx/${hash}`,
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': (hash) => `https://explorer.solana.com/tx/${hash}?cluster=devnet`,
  'eip155:8453': (hash) => `https://basescan.org/tx/${hash}`,
  'eip155:84532': (hash) => `https://sepolia.basescan.org/tx/${hash}`,
  'eip155:4217': (hash) => `https://explore.tempo.xyz/tx/${hash}`,
  'eip155:42431': (hash) => `https://explore.testnet.tempo.xyz/tx/${hash}`,
};

/** `Base Sepolia`; the id itself for a network that this version does not know. */
export const networkLabel = (chain: string): string => findNetwork(chain)?.label ?? chain;

/** The page of a transaction in a block explorer; null where none is known. */
export const explorerLink = (chain: string, hash: string): string | null =>
  EXPLORERS[chain]?.(encodeURIComponent(hash)) ?? null;

export const networksOf = (mode: Mode): readonly Network[] =>
  networks.filter(({ livemode }) => livemode === (mode === 'live'));
