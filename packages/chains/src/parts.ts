/** A list in parts of at most so many items each; without a number, all in one. None of an empty list. */
export const partsOf = <T>(items: readonly T[], most = items.length): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / most) }, (_, part) => items.slice(part * most, (part + 1) * most));
