import type { z } from 'zod';
import type { Chain } from '../chain.ts';
import type { Commitment } from '../clock.ts';
import { explain, invalidParams, minContextSlotNotReached } from './error.ts';

/** What the methods work on. */
export interface Node {
  readonly chain: Chain;
  /** The genesis hash in base58; its first 32 characters are the CAIP-2 reference. */
  readonly genesisHash: string;
  /** The slots that the node reports to be behind the cluster; 0: it is healthy. */
  slotsBehind: number;
}

/** A method: parses its parameters, or throws an RpcError of -32602. */
export type Method = (node: Node, params: unknown) => unknown;
export type Methods = Readonly<Record<string, Method>>;

/** A method whose positional parameters have this schema. */
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

/** The slot that a request reads at; without a commitment the finalized one, as on every node. */
export function bankSlot({ chain }: Node, { commitment = 'finalized', minContextSlot = 0 }: BankConfig = {}): number {
  const slot = chain.clock.slot(commitment);
  if (slot < minContextSlot) throw minContextSlotNotReached(slot);
  return slot;
}

export const VERSION = '3.0.0';
/** A response with its context slot. */
export const inContext = <T>(slot: number, value: T): { context: { apiVersion: string; slot: number }; value: T } => ({
  context: { apiVersion: VERSION, slot },
  value,
});

/** For getTransaction and similar methods: only confirmed blocks are served. */
export function blockSlot(node: Node, config: BankConfig = {}): number {
  if (config.commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`');
  return bankSlot(node, config);
}
