import kafkajs from 'kafkajs';
import type { PartitionAssigner } from 'kafkajs';
import { assignPartitions } from '../ownership/assigner.ts';

const NAME = 'sticky-co-partitioned';
/** The same, in a group of which every member knows that a partition may be delegated. */
export const DELEGATING = 'sticky-co-partitioned-delegating';
const VERSION = 1;

/**
 * The library's assigner can give the same partition of two topics to different members and ignores what they had. This
 * one gives a member the same partitions of every topic; members send the partitions they have in their subscription,
 * one byte each.
 */
export function stickyAssigner(claims: () => readonly number[], name = NAME): PartitionAssigner {
  const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol;
  return ({ cluster }) => ({
    name,
    version: VERSION,
    protocol: ({ topics }) => ({
      name,
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
