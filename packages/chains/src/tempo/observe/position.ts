import { bigintText, toJson } from '@pf/contracts';
import { z } from 'zod';
import { least } from '../../bigints.ts';
import { lowestOf } from '../../evm/observe/chain-position.ts';
import { checkpoints } from '../../evm/observe/checkpoints.ts';
import { wholeOf, writtenWhole } from '../../evm/observe/early-look.ts';
import type { Cursor } from '../../port.ts';
import { type SetAside, setAside } from '../../set-aside.ts';

const position = z.object({
  /** The hash of block 0: which chain this is. */
  genesis: z.string(),
  checkpoints,
  /** Up to this block the logs of all recipients were read (wholeOf). */
  whole: bigintText.optional(),
  /** Up to this block the logs were read a second time, some time after the first. */
  reread: bigintText,
  /** Of the block after that, the logs up to this index were; absent: none. */
  rereadWithin: bigintText.optional(),
  /** The upstream that read what comes after. */
  firstReader: z.string().nullable().default(null),
  /** The transactions that could not be judged; absent where there are none. */
  setAside: z.array(setAside).optional(),
});
/** The observer's position: all it needs after a restart. */
export type Position = z.infer<typeof position>;

/** The transactions that could not be judged. */
export const asideOf = ({ setAside: all = [] }: Position): readonly SetAside[] => all;
/** As they are stored: nothing where there are none, as older versions have it. */
export const writtenAside = (all: readonly SetAside[]): Pick<Position, 'setAside'> =>
  all.length === 0 ? {} : { setAside: [...all] };

/** @throws ZodError on a cursor of another observer */
export const readPosition = (cursor: Cursor): Position => position.parse(cursor);
export const writePosition = (value: Position): Cursor => JSON.parse(toJson(value)) as Cursor;

/** What comes after this block is read a second time. */
export const rereadFrom = (reread: bigint): Pick<Position, 'reread' | 'rereadWithin'> => ({
  reread,
  rereadWithin: undefined,
});

/** The logs from this block on are read a second time again. */
export function rewind(cursor: Cursor, from: bigint): Cursor {
  const before = readPosition(cursor);
  return from > before.reread ? cursor : writePosition({ ...before, ...rereadFrom(from - 1n), firstReader: null });
}

export function merge(cursors: readonly Cursor[]): Cursor {
  const positions = cursors.map(readPosition);
  const lowest = lowestOf(positions);
  return writePosition({
    genesis: lowest.genesis,
    checkpoints: lowest.checkpoints,
    ...writtenWhole(lowest, positions.map(wholeOf).reduce(least)),
    reread: positions.map(({ reread }) => reread).reduce(least),
    firstReader: null,
    ...writtenAside([...new Map(positions.flatMap(asideOf).map((one) => [one.hash, one])).values()]),
  });
}
