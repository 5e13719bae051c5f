import type { z } from 'zod';
import type { Chain } from '../chain.ts';
import type { Commitment } from '../clock.ts';
import { explain, invalidParams, minContextSlotNotReached } from './error.ts';

/** What methods work on. */
export interface Node {
  readonly chain: Chain;
  /** Base58 of the first block's hash; a CAIP-2 reference is its first 32 characters. */
  readonly genesisHash: string;
  /** How far behind the cluster the node says it is; 0: it is well. */
  slotsBehind: number;
}

/** A method by its name: reads its parameters, or throws an RpcError of -32602. */
export type Method = (node: Node, params: unknown) => unknown;
export type Methods = Readonly<Record<string, Method>>;

/** A method that takes parameters of this schema; all of them by position. */
export function method<Schema extends z.ZodType>(
  schema: Schema,
  run: (node: Node, params: z.output<Schema>) => unknown,
): Method {
  return (node, params) => {
    const parsed = schema.safeParse(params);
    if (!parsed.success)
      throw invalidParams(
        `Invalid params: ${explain(parsed.error)}`.replace('Invalid params: Invalid param:', 'Invalid param:'),
      );
    return run(node, parsed.data);
  };
}

export interface BankConfig {
  readonly commitment?: Commitment | undefined;
  readonly minContextSlot?: number | undefined;
}

/** The slot that a request is answered from. Without a commitment it is the finalized one, as on every node. */
export function bankSlot({ chain }: Node, { commitment = 'finalized', minContextSlot = 0 }: BankConfig = {}): number {
  const slot = chain.clock.slot(commitment);
  if (slot < minContextSlot) throw minContextSlotNotReached(slot);
  return slot;
}

export const VERSION = '3.0.0';
/** An answer with the slot that it is true of. */
export const inContext = <T>(slot: number, value: T): { context: { apiVersion: string; slot: number }; value: T } => ({
  context: { apiVersion: VERSION, slot },
  value,
});

/** getTransaction and its like: blocks that are not confirmed are not served. */
export function blockSlot(node: Node, config: BankConfig = {}): number {
  if (config.commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`');
  return bankSlot(node, config);
}
