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
  // One pass over the items: strangers may make one group, or the number of groups, very large.
  const turns: T[][] = [];
  for (const [, all] of groups) for (const [turn, item] of all.entries()) (turns[turn] ??= []).push(item);
  return turns.flat();
}
