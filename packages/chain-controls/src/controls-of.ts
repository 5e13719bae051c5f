import type { ChainControls } from './controls.ts';
import { baseRules, tempoRules } from './evm/rules.ts';
import { evmControls } from './evm/evm-controls.ts';
import { nodeAt } from './node.ts';
import { solanaControls } from './solana/solana-controls.ts';

/** A chain as stack.json names it. */
export interface LocalChain {
  readonly caip2: string;
  readonly rpcUrl: string;
}

const TEMPO = new Set(['eip155:4217', 'eip155:42431']);

/** Nothing is asked of the node before the first control; a node that is no local one is refused then. */
export function controlsOf({ caip2, rpcUrl }: LocalChain): ChainControls {
  const node = nodeAt(rpcUrl);
  if (caip2.startsWith('solana:')) return solanaControls(node);
  return evmControls(node, TEMPO.has(caip2) ? tempoRules : baseRules);
}
