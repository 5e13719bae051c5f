import { bigintText, instant, intentId, toJson, transactionHash, transfer } from '@pf/contracts';
import { z } from 'zod';
import { checkpoints } from '../../evm/observe/checkpoints.ts';
import type { Cursor } from '../../port.ts';

const seen = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('landed'),
    intentId,
    hash: transactionHash,
    transfer,
    seenAt: instant,
    reported: z.boolean(),
  }),
  z.object({
    kind: z.literal('reverted'),
    intentId,
    hash: transactionHash,
    block: bigintText,
    blockHash: z.string(),
    reason: z.string(),
    seenAt: instant,
  }),
]);
/** A transaction seen in a block, until it has stayed there long enough, and a landing until the ledger knows it. */
export type Seen = z.infer<typeof seen>;

const position = z.object({
  /** The hash of block 0: which chain this is. */
  genesis: z.string(),
  checkpoints,
  /** Up to here the logs were read a second time, when the blocks were safe. */
  rescanned: bigintText,
  seen: z.array(seen),
});
/** Where the observer stands: all it needs after a restart. */
export type Position = z.infer<typeof position>;

/** Throws a ZodError on what is no cursor of this observer. */
export const readPosition = (cursor: Cursor): Position => position.parse(cursor);
export const writePosition = (value: Position): Cursor => JSON.parse(toJson(value)) as Cursor;

/** The block of what was seen. */
export const placeOf = (one: Seen): { readonly block: bigint; readonly blockHash: string | null } =>
  one.kind === 'landed' ? { block: one.transfer.block, blockHash: one.transfer.blockHash } : one;

/** The same thing seen: a transaction in one block. In another block it is seen anew. */
const sameAs =
  (one: Seen) =>
  (other: Seen): boolean =>
    one.kind === other.kind &&
    one.hash === other.hash &&
    one.intentId === other.intentId &&
    placeOf(one).blockHash === placeOf(other).blockHash;

/** What was seen before, with what was seen now and is new. */
export function withSeen(before: readonly Seen[], now: readonly Seen[]): Seen[] {
  const all = [...before];
  for (const one of now) if (!all.some(sameAs(one))) all.push(one);
  return all;
}
