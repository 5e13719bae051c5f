/**
 * One of each group after the other, in the order of the groups and of what is in each: so none delays another by its
 * number.
 * @param order compares groups; by default by their first member
 */
export function inTurns<T, Group>(
  items: readonly T[],
  groupOf: (item: T) => Group,
  order?: (one: Group, other: Group) => number,
): readonly T[] {
  const groups = [...Map.groupBy(items, groupOf)];
  if (order !== undefined) groups.sort(([one], [other]) => order(one, other));
  const longest = groups.reduce((most, [, { length }]) => Math.max(most, length), 0);
  return Array.from({ length: longest }, (_, turn) => groups.flatMap(([, all]) => all.slice(turn, turn + 1))).flat();
}
