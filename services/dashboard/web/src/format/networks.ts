import { findNetwork, type Network, networks } from '@pf/chains/networks';
import type { Mode } from '../api/client.ts';

/** `Base Sepolia`; the id itself for a network that this version does not know. */
export const networkLabel = (chain: string): string => findNetwork(chain)?.label ?? chain;

export const networksOf = (mode: Mode): readonly Network[] =>
  networks.filter(({ livemode }) => livemode === (mode === 'live'));
