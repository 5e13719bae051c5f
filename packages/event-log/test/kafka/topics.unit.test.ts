import { describe, expect, it } from '@jest/globals';
import { awaitLeaders } from '../../src/kafka/topics.ts';

describe('Waiting for the leaders of a new topic', () => {
  /** A cluster that refuses as often, and the requests that it got. */
  function clusterThatRefuses(refusals: number) {
    const asked: string[] = [];
    const cluster = {
      offsets: async (topic: string, partitions: readonly number[]) => {
        asked.push(`${topic} ${partitions.join(' ')}`);
        if (asked.length <= refusals) throw new Error('This server is not the leader');
        return new Map<number, bigint>();
      },
      refresh: async () => {
        throw new Error('This server does not host this topic-partition');
      },
    };
    return { cluster, asked };
  }

  it('ends when all partitions have responded', async () => {
    const { cluster, asked } = clusterThatRefuses(2);
    await awaitLeaders(cluster, 'events', 3, Number.POSITIVE_INFINITY);
    expect(asked).toEqual(['events 0 1 2', 'events 0 1 2', 'events 0 1 2']);
  });

  it('ends with the last refusal when the time is up', async () => {
    const { cluster, asked } = clusterThatRefuses(Number.POSITIVE_INFINITY);
    await expect(awaitLeaders(cluster, 'events', 1, Number.NEGATIVE_INFINITY)).rejects.toThrow(
      'Not every partition of events has a leader that responds: This server is not the leader',
    );
    expect(asked).toHaveLength(1);
  });
});
