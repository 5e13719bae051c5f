import { decimalsOfTokens, getHeadNumber, identifyChain } from '../evm/calls.ts';
import { soonestPaid } from '../evm/observe/early-look.ts';
import { logSubscription } from '../evm/observe/subscriptions.ts';
import { EvmWalletHistory } from '../evm/wallet-history.ts';
import type { Family } from '../family.ts';
import { TempoAdapter } from './adapter.ts';
import { rulesOfTempo } from './forks.ts';
import { mppNameOf } from './mpp.ts';
import { TempoObserver } from './observer.ts';
import { moveIn, TRANSFER, TRANSFER_WITH_MEMO } from './observe/landings.ts';
import { merge, rewind } from './observe/position.ts';
import { factsOfTip20 } from './token-facts.ts';

export const tempo: Family = {
  dialect: 'evm',
  whyOtherChain: identifyChain,
  decimalsOf: decimalsOfTokens,
  tokenFacts: factsOfTip20,
  rules: rulesOfTempo,
  probe: getHeadNumber,
  adapter: (network, pool, now) => new TempoAdapter(network, pool, now),
  rewind,
  merge,
  alias: mppNameOf,
  subscriptions: ({ tokens }, watch) =>
    logSubscription(
      tokens.map(({ address }) => address),
      [TRANSFER_WITH_MEMO],
      soonestPaid(watch),
    ),
  observer: (network, pool, now) => new TempoObserver(network, pool, now),
  history: (network, pool) => new EvmWalletHistory(network, pool, TRANSFER, moveIn),
};
