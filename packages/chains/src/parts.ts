import { setImmediate } from 'node:timers/promises';

/** A list in parts of at most so many items each; without a number, all in one. None of an empty list. */
export const partsOf = <T>(items: readonly T[], most = items.length): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / most) }, (_, part) => items.slice(part * most, (part + 1) * most));

/** Strangers decide how many there are: so many are worked on at a time, which takes some milliseconds. */
const PIECE = 500;

/**
 * The results of work on all items, piece by piece: between two of them the process does other work.
 * @param most items of a piece, which are to take some milliseconds at most
 */
export async function inPieces<T, Result>(
  items: readonly T[],
  work: (item: T) => readonly Result[],
  most = PIECE,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [place, piece] of partsOf(items, most).entries()) {
    if (place > 0) await setImmediate();
    for (const item of piece) results.push(...work(item));
  }
  return results;
}

/** The results of work that strangers make long: between two items the process does other work. */
export async function inTurn<T, Result>(
  items: readonly T[],
  work: (item: T, place: number) => Result | Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const [place, item] of items.entries()) {
    if (place > 0) await setImmediate();
    results.push(await work(item, place));
  }
  return results;
}
