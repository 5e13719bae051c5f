import { getHeadNumber, identifyChain } from '../evm/calls.ts';
import type { Family } from '../family.ts';
import { TempoAdapter } from './adapter.ts';
import { TempoObserver } from './observer.ts';
import { rewind } from './observe/position.ts';

export const tempo: Family = {
  dialect: 'evm',
  identify: identifyChain,
  probe: getHeadNumber,
  adapter: (network, pool, now) => new TempoAdapter(network, pool, now),
  rewind,
  observer: (network, pool, now) => new TempoObserver(network, pool, now),
};
