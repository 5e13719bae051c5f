export interface Claimant {
  readonly id: string;
  /** The partitions that it has now and keeps if possible. */
  readonly claims: readonly number[];
}

/**
 * Distributes the partitions evenly (shares differ by one at most) and moves as few as possible: each member keeps what
 * it has, up to its share. The order of the claimants does not matter; of two that claim a partition, the lower id gets
 * it.
 */
export function assignPartitions(
  claimants: readonly Claimant[],
  partitions: number,
): ReadonlyMap<string, readonly number[]> {
  const free = new Set(Array.from({ length: partitions }, (_, partition) => partition));
  const members = claimants
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, claims }) => ({ id, has: claims.filter((partition) => free.delete(partition)), share: 0 }))
    // Where shares differ by one, members that have more keep more.
    .sort((a, b) => b.has.length - a.has.length);
  members.forEach((member, index) => {
    member.share = Math.floor(partitions / members.length) + (index < partitions % members.length ? 1 : 0);
    for (const surplus of member.has.splice(member.share)) free.add(surplus);
  });
  const left = [...free].sort((a, b) => a - b);
  for (const member of members) member.has.push(...left.splice(0, member.share - member.has.length));
  return new Map(members.map(({ id, has }) => [id, has]));
}
