import type { Family } from '../family.ts';
import { SolanaAdapter } from './adapter.ts';
import { decimalsOfMints, getHead, identifyGenesis, rulesOfSolana } from './calls.ts';
import { factsOfMints } from './mint-facts.ts';
import { SolanaObserver } from './observer.ts';
import { merge, rewind } from './observe/position.ts';
import { subscriptionsOf } from './subscriptions.ts';
import { SolanaWalletHistory } from './wallet-history.ts';

export const solana: Family = {
  dialect: 'solana',
  whyOtherChain: identifyGenesis,
  decimalsOf: decimalsOfMints,
  tokenFacts: factsOfMints,
  rules: rulesOfSolana,
  probe: getHead,
  adapter: (network, pool) => new SolanaAdapter(network, pool),
  rewind,
  merge,
  alias: () => null,
  subscriptions: (_network, watch) => subscriptionsOf(watch),
  observer: (network, pool, now) => new SolanaObserver(network, pool, now),
  history: (network, pool) => new SolanaWalletHistory(network, pool),
};
