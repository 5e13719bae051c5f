import { getHeadNumber, identifyChain } from '../evm/calls.ts';
import type { Family } from '../family.ts';
import { BaseAdapter } from './adapter.ts';
import { BaseObserver } from './observer.ts';
import { rewind } from './observe/position.ts';

export const base: Family = {
  dialect: 'evm',
  identify: identifyChain,
  probe: getHeadNumber,
  adapter: (network, pool) => new BaseAdapter(network, pool),
  rewind,
  observer: (network, pool, now, keptBytes) => new BaseObserver(network, pool, now, keptBytes),
};
