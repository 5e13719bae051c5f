import { getHeadNumber, identifyChain } from '../evm/calls.ts';
import type { Family } from '../family.ts';
import { TempoAdapter } from './adapter.ts';
import { TempoObserver } from './observer.ts';

export const tempo: Family = {
  identify: identifyChain,
  probe: getHeadNumber,
  adapter: (network, pool) => new TempoAdapter(network, pool),
  observer: (network, pool) => new TempoObserver(network, pool),
};
