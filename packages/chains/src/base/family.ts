import { getHeadNumber, identifyChain } from '../evm/calls.ts';
import type { Family } from '../family.ts';
import { BaseAdapter } from './adapter.ts';
import { BaseObserver } from './observer.ts';

export const base: Family = {
  identify: identifyChain,
  probe: getHeadNumber,
  adapter: (network, pool) => new BaseAdapter(network, pool),
  observer: (network, pool, keptBytes) => new BaseObserver(network, pool, Date.now, keptBytes),
};
