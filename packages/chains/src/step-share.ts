import type { RpcNode } from '@pf/rpc';
import { STEP_MS } from './networks.ts';

/**
 * What the calls of one kind may take of a step where the upstream's rate is known, in ms. A step with more never comes
 * to its end, and would begin again each time: the rest is for the next ones.
 */
const STEP_SHARE_MS = STEP_MS / 8;

/** How many calls of this method an observer makes in one step. Unbounded where the upstream's rate is not known. */
export const callsInStep = (node: Pick<RpcNode, 'callsIn'>, method: string): number =>
  node.callsIn(STEP_SHARE_MS, method);
