import { findNetwork } from '@pf/chains/networks';
import type { ChainControls } from './controls.ts';
import { baseRules, evmRules } from './evm/rules.ts';
import { evmControls } from './evm/evm-controls.ts';
import { nodeAt } from './node.ts';
import { solanaControls } from './solana/solana-controls.ts';

/** A chain as stack.json names it. */
export interface LocalChain {
  readonly caip2: string;
  readonly rpcUrl: string;
}

/** Nothing is asked of the node before the first control; a node that is no local one is refused then. */
export function controlsOf({ caip2, rpcUrl }: LocalChain): ChainControls {
  const node = nodeAt(rpcUrl);
  const family = findNetwork(caip2)?.family;
  // A chain id of a test's own: an anvil like Base.
  if (family === undefined) return evmControls(node, baseRules);
  return family === 'solana' ? solanaControls(node) : evmControls(node, evmRules[family]);
}
