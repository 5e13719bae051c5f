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

/** Turns over many steps: who was served waits behind those who were not. */
export class Turns<Party> {
  #turn = 0;
  readonly #servedAt = new Map<Party, number>();

  /** One item of each party after the other, beginning with those who have waited longest for a turn. */
  order<T>(items: readonly T[], partyOf: (item: T) => Party): readonly T[] {
    const servedAt = (party: Party): number => this.#servedAt.get(party) ?? -1;
    return inTurns(items, partyOf, (one, other) => servedAt(one) - servedAt(other));
  }

  /**
   * The same with items that belong to several parties: each comes once, at the first turn of any of them.
   * @param within the order of what belongs to one party
   * @returns each item with the party whose turn it was
   */
  orderShared<T>(
    items: readonly T[],
    partiesOf: (item: T) => readonly Party[],
    within: (ofOne: readonly T[]) => readonly T[],
  ): readonly (readonly [Party, T])[] {
    const pairs = items.flatMap((item) => partiesOf(item).map((party) => [party, item] as const));
    const byParty = [...Map.groupBy(pairs, ([party]) => party)].flatMap(([party, all]) =>
      within(all.map(([, item]) => item)).map((item) => [party, item] as const),
    );
    const first = new Map<T, Party>();
    for (const [party, item] of this.order(byParty, ([of]) => of)) if (!first.has(item)) first.set(item, party);
    return [...first].map(([item, party]) => [party, item]);
  }

  /** @param waiting of whom more is to come: the others begin again, before all who were served */
  served(parties: Iterable<Party>, waiting: ReadonlySet<Party>): void {
    this.#turn += 1;
    for (const party of parties) this.#servedAt.set(party, this.#turn);
    for (const party of this.#servedAt.keys()) if (!waiting.has(party)) this.#servedAt.delete(party);
  }

  clear(): void {
    this.#servedAt.clear();
  }
}
