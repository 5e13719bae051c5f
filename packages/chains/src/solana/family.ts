import type { Family } from '../family.ts';
import { SolanaAdapter } from './adapter.ts';
import { getHead, identifyGenesis } from './calls.ts';
import { SolanaObserver } from './observer.ts';

export const solana: Family = {
  identify: identifyGenesis,
  probe: getHead,
  adapter: (network, pool) => new SolanaAdapter(network, pool),
  observer: (network, pool) => new SolanaObserver(network, pool),
};
