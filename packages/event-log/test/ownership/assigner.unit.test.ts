import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import kafkajs from 'kafkajs';
import type { Cluster } from 'kafkajs';
import { stickyAssigner } from '../../src/kafka/sticky-assigner.ts';
import { assignPartitions } from '../../src/ownership/assigner.ts';

const partitionCounts = fc.integer({ min: 1, max: 64 });
/** Members with arbitrary claims: overlapping, stale, beyond the number of partitions. */
const claimants = fc.uniqueArray(
  fc.record({
    id: fc.string({ minLength: 1 }),
    claims: fc.uniqueArray(fc.integer({ min: 0, max: 80 }), { maxLength: 64 }),
  }),
  { selector: ({ id }) => id, minLength: 1, maxLength: 12 },
);

describe('the assigner of partitions', () => {
  it('assigns every partition to exactly one member', () => {
    fc.assert(
      fc.property(claimants, partitionCounts, (members, partitions) => {
        const given = [...assignPartitions(members, partitions).values()].flat();
        expect(given.toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: partitions }, (_, partition) => partition),
        );
      }),
    );
  });

  it('gives shares that differ by one at most', () => {
    fc.assert(
      fc.property(claimants, partitionCounts, (members, partitions) => {
        const sizes = [...assignPartitions(members, partitions).values()].map((given) => given.length);
        expect(sizes).toHaveLength(members.length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('takes a claimed partition from a member only if the member has its full share', () => {
    fc.assert(
      fc.property(claimants, partitionCounts, (members, partitions) => {
        const assigned = assignPartitions(members, partitions);
        const taken = new Set<number>();
        for (const { id, claims } of members.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
          const rightful = claims.filter((partition) => partition < partitions && !taken.has(partition));
          for (const partition of rightful) taken.add(partition);
          const given = assigned.get(id) ?? [];
          const kept = given.filter((partition) => rightful.includes(partition));
          expect(kept.length).toBe(Math.min(rightful.length, given.length));
        }
      }),
    );
  });

  it('moves no partition when nothing has changed, in any order of the members', () => {
    fc.assert(
      fc.property(claimants, partitionCounts, (members, partitions) => {
        const before = assignPartitions(members, partitions);
        const settled = [...before].map(([id, claims]) => ({ id, claims })).reverse();
        for (const [id, given] of assignPartitions(settled, partitions))
          expect(new Set(given)).toEqual(new Set(before.get(id)));
      }),
    );
  });

  it('gives a member the same partitions of every topic, through the protocol’s encoding', async () => {
    const cluster = { findTopicPartitionMetadata: () => Array.from({ length: 6 }, () => ({})) } as unknown as Cluster;
    const claims = [[0, 5], [1], []];
    const topics = ['intent.commands', 'chain.observations'];
    const assigners = claims.map((claim) =>
      stickyAssigner(() => claim)({ cluster, groupId: 'intent', logger: undefined as never }),
    );
    const members = assigners.map((assigner, index) => ({
      memberId: `member-${index}`,
      memberMetadata: assigner.protocol({ topics }).metadata,
    }));
    const assignments = (await assigners[0]?.assign({ members, topics }))?.map(
      ({ memberAssignment }) => kafkajs.AssignerProtocol.MemberAssignment.decode(memberAssignment)?.assignment,
    );
    for (const assignment of assignments ?? [])
      expect(assignment?.['intent.commands']).toEqual(assignment?.['chain.observations']);
    expect(assignments?.map((assignment) => assignment?.['intent.commands'])).toEqual([
      [0, 5],
      [1, 2],
      [3, 4],
    ]);
  });

  it('rejects topics with different numbers of partitions', async () => {
    const cluster = {
      findTopicPartitionMetadata: (topic: string) => Array.from({ length: topic.length }, () => ({})),
    } as unknown as Cluster;
    const assigner = stickyAssigner(() => [])({ cluster, groupId: 'intent', logger: undefined as never });
    await expect(assigner.assign({ members: [], topics: ['a', 'bb'] })).rejects.toThrow(
      'must have the same number of partitions',
    );
  });
});
