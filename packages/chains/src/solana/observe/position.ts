import { bigintText, toJson } from '@pf/contracts';
import { z } from 'zod';
import type { Cursor } from '../../port.ts';

const position = z.object({
  /** Names this position: what is remembered belongs to one, and is worth nothing at another. */
  id: z.string(),
  /** Every transaction up to this slot that names a watched token account was looked at. */
  slot: bigintText,
  /** The newest slot that was seen. */
  head: bigintText,
  /** Settlements that vanished, by their signature: the block height up to which each can land again. */
  lost: z.record(z.string(), bigintText),
});
/** Where the observer stands: all it needs after a restart. */
export type Position = z.infer<typeof position>;

/** Throws a ZodError on what is no cursor of this observer. */
export const readPosition = (cursor: Cursor): Position => position.parse(cursor);
export const writePosition = (value: Position): Cursor => JSON.parse(toJson(value)) as Cursor;
