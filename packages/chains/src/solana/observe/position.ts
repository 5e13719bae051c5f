import { randomUUID } from 'node:crypto';
import { bigintText, toJson } from '@pf/contracts';
import { z } from 'zod';
import { least } from '../../bigints.ts';
import type { Cursor } from '../../port.ts';

const position = z.object({
  /** Identifies this position: the observer's memory belongs to one, and is useless at another. */
  id: z.string(),
  /** Every transaction of every watched token account up to this slot was listed and read. */
  slot: bigintText,
  /**
   * Every recipient that was watched when this slot was the head has a bookmark, so that others begin here. Null: no
   * bookmark counts, and all begin at `slot`. Older watchers leave it out, and store no bookmarks.
   */
  known: bigintText.nullable().default(null),
  /** The newest slot that was seen. */
  head: bigintText,
  /** Lost settlements, by their signature: the block height up to which each can land again. */
  lost: z.record(z.string(), bigintText),
});
/** The observer's position: all it needs after a restart. */
export type Position = z.infer<typeof position>;

/** @throws ZodError on a cursor of another observer */
export const readPosition = (cursor: Cursor): Position => position.parse(cursor);
export const writePosition = (value: Position): Cursor => JSON.parse(toJson(value)) as Cursor;

/** Transactions from this slot on are listed again: a new position, to which no memory and no bookmark belongs. */
export function rewind(cursor: Cursor, from: bigint): Cursor {
  const before = readPosition(cursor);
  return writePosition({
    ...before,
    id: randomUUID(),
    slot: from <= before.slot ? from - 1n : before.slot,
    known: null,
  });
}

/** Bookmarks count only where those of every recipient do. */
export function merge(cursors: readonly Cursor[]): Cursor {
  const positions = cursors.map(readPosition);
  const known = positions.flatMap((one) => one.known ?? []);
  return writePosition({
    id: randomUUID(),
    slot: positions.map(({ slot }) => slot).reduce(least),
    known: known.length < positions.length ? null : known.reduce(least),
    head: positions.map(({ head }) => head).reduce(least),
    lost: Object.assign({}, ...positions.map(({ lost }) => lost)) as Position['lost'],
  });
}
