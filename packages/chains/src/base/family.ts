import { decimalsOfTokens, getHeadNumber, identifyChain } from '../evm/calls.ts';
import { soonestPaid } from '../evm/observe/early-look.ts';
import { logSubscription } from '../evm/observe/subscriptions.ts';
import { factsOfTokens } from '../evm/token-facts.ts';
import { EvmWalletHistory } from '../evm/wallet-history.ts';
import type { Family } from '../family.ts';
import { UNTOLD_RULES } from '../rules.ts';
import { BaseAdapter } from './adapter.ts';
import { BaseObserver } from './observer.ts';
import { readTransfer, TRANSFER } from './observe/landings.ts';
import { merge, rewind } from './observe/position.ts';

export const base: Family = {
  dialect: 'evm',
  whyOtherChain: identifyChain,
  decimalsOf: decimalsOfTokens,
  tokenFacts: factsOfTokens,
  rules: () => Promise.resolve(UNTOLD_RULES),
  probe: getHeadNumber,
  adapter: (network, pool) => new BaseAdapter(network, pool),
  rewind,
  merge,
  alias: () => null,
  subscriptions: ({ tokens }, watch) =>
    logSubscription(
      tokens.map(({ address }) => address),
      [TRANSFER],
      soonestPaid(watch),
    ),
  observer: (network, pool, now, keptBytes) => new BaseObserver(network, pool, now, keptBytes),
  history: (network, pool) => new EvmWalletHistory(network, pool, TRANSFER, readTransfer),
};
