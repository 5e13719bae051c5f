import { bigintText, instant, intentId, toJson, transactionHash, transfer } from '@pf/contracts';
import { z } from 'zod';
import { least } from '../../bigints.ts';
import { lowestOf } from '../../evm/observe/chain-position.ts';
import { checkpoints, newestOf } from '../../evm/observe/checkpoints.ts';
import { wholeOf, writtenWhole } from '../../evm/observe/early-look.ts';
import { placeKeyOf } from '../../deposits.ts';
import type { Cursor } from '../../port.ts';
import { setAside } from '../../set-aside.ts';
import { NO_REFERENCE } from './no-reference.ts';
import { sightings } from './sighting.ts';

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
/** A transaction seen in a block: kept until it has stayed there long enough, a landing until the ledger has it. */
export type Seen = z.infer<typeof seen>;

const position = z.object({
  /** The hash of block 0: which chain this is. */
  genesis: z.string(),
  checkpoints,
  /** Up to this block the logs of all recipients were read (wholeOf). */
  whole: bigintText.optional(),
  /** Up to this block the logs were read a second time, once the blocks were safe. */
  rescanned: bigintText,
  /** Of the block after that, the logs up to this index were; absent: none. */
  rescannedWithin: bigintText.optional(),
  /** The upstream that read what comes after. */
  firstReader: z.string().nullable().default(null),
  seen: z.array(seen),
  /** What pays no intent: kept until the ledger has it as a deposit. Older watchers drop it, and find it again. */
  arrivals: sightings.default([]),
  /** What could not be judged, and is looked at again. */
  setAside: z.array(setAside).default([]),
});
/** The observer's position: all it needs after a restart. */
export type Position = z.infer<typeof position>;

/** @throws ZodError on a cursor of another observer */
export const readPosition = (cursor: Cursor): Position => position.parse(cursor);
export const writePosition = (value: Position): Cursor => JSON.parse(toJson(value)) as Cursor;

/** What comes after this block is read a second time. */
export const rescanFrom = (rescanned: bigint): Pick<Position, 'rescanned' | 'rescannedWithin'> => ({
  rescanned,
  rescannedWithin: undefined,
});

/**
 * The logs from this block on are read a second time again, then what that finds is reported. What was reported and is
 * not in the ledger is reported again: the log may have lost it.
 */
export function rewind(cursor: Cursor, from: bigint): Cursor {
  const { seen: landings, ...before } = readPosition(cursor);
  const seen = landings.map((one) => (one.kind === 'landed' ? { ...one, reported: false } : one));
  return writePosition(
    from > before.rescanned ? { ...before, seen } : { ...before, seen, ...rescanFrom(from - 1n), firstReader: null },
  );
}

/** What was seen above the newest checkpoint is found again when that is read. */
export function merge(cursors: readonly Cursor[]): Cursor {
  const positions = cursors.map(readPosition);
  const lowest = lowestOf(positions);
  const newest = newestOf(lowest).number;
  return writePosition({
    genesis: lowest.genesis,
    checkpoints: lowest.checkpoints,
    ...writtenWhole(lowest, positions.map(wholeOf).reduce(least)),
    rescanned: positions.map(({ rescanned }) => rescanned).reduce(least),
    firstReader: null,
    seen: withSeen(
      [],
      positions.flatMap(({ seen }) => seen).filter((one) => placeOf(one).block <= newest),
    ),
    arrivals: [
      ...new Map(
        positions
          .flatMap(({ arrivals }) => arrivals.filter(({ block }) => block <= newest))
          .map((one) => [placeKeyOf(one), one]),
      ).values(),
    ],
    setAside: [...new Map(positions.flatMap(({ setAside }) => setAside.map((one) => [one.hash, one]))).values()],
  });
}

/** The block in which it was seen. */
export const placeOf = (one: Seen): { readonly block: bigint; readonly blockHash: string | null } =>
  one.kind === 'landed' ? { block: one.transfer.block, blockHash: one.transfer.blockHash } : one;

/** The same sighting has the same name: a transaction's transfer in one block. In another block it is a new one. */
const nameOf = (one: Seen): string =>
  [one.kind, one.hash, one.intentId, placeOf(one).blockHash, one.kind === 'landed' ? one.transfer.index : ''].join(' ');

const isUnproven = (one: Seen): boolean => one.kind === 'landed' && one.transfer.reference === NO_REFERENCE;

/** Adds what is new. A landing with its reference takes the place of the same one without a proven reference. */
export function withSeen(before: readonly Seen[], now: readonly Seen[]): Seen[] {
  const all = new Map(before.map((one) => [nameOf(one), one]));
  for (const one of now) {
    const known = all.get(nameOf(one));
    if (known === undefined || (isUnproven(known) && !isUnproven(one))) all.set(nameOf(one), one);
  }
  return [...all.values()];
}
