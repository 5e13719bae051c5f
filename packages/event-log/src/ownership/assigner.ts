import kafkajs from 'kafkajs';
import type { PartitionAssigner } from 'kafkajs';

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

const NAME = 'sticky-co-partitioned';
const VERSION = 1;

/**
 * The library's assigner can give the same partition of two topics to different members and ignores what they had. This
 * one gives a member the same partitions of every topic; members send the partitions they have in their subscription,
 * one byte each.
 */
export function stickyAssigner(claims: () => readonly number[]): PartitionAssigner {
  const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol;
  return ({ cluster }) => ({
    name: NAME,
    version: VERSION,
    protocol: ({ topics }) => ({
      name: NAME,
      metadata: MemberMetadata.encode({ version: VERSION, topics, userData: Buffer.from(claims()) }),
    }),
    async assign({ members, topics }) {
      const counts = new Set(topics.map((topic) => cluster.findTopicPartitionMetadata(topic).length));
      const [partitions] = counts;
      if (partitions === undefined || counts.size > 1)
        throw new Error(`The topics ${topics.join(', ')} must have the same number of partitions.`);
      const claimants = members.map(({ memberId, memberMetadata }) => ({
        id: memberId,
        claims: [...(MemberMetadata.decode(memberMetadata)?.userData ?? [])],
      }));
      const assigned = assignPartitions(claimants, partitions);
      return members.map(({ memberId }) => {
        const assignment = Object.fromEntries(topics.map((topic) => [topic, [...(assigned.get(memberId) ?? [])]]));
        return {
          memberId,
          memberAssignment: MemberAssignment.encode({ version: VERSION, assignment, userData: Buffer.alloc(0) }),
        };
      });
    },
  });
}
