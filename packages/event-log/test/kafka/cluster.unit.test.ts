import { describe, expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import { Cluster } from '../../src/kafka/cluster.ts';

type Library = ConstructorParameters<typeof Cluster>[0];

const notLeader = new kafkajs.KafkaJSProtocolError({
  name: 'KafkaJSProtocolError',
  message: 'This server is not the leader for that topic-partition',
  type: 'NOT_LEADER_FOR_PARTITION',
  code: 6,
  retriable: true,
} as never);

/** The library's cluster with one broker, which answers what `answers` gives, in turn. */
function libraryOf(answers: (() => unknown)[], refreshed: () => void): Library {
  const send = async (): Promise<unknown> => answers.shift()?.();
  return {
    addMultipleTargetTopics: async () => undefined,
    findLeaderForPartitions: () => ({ 1: [0] }),
    findBroker: async () => ({ connectionPool: { send } }),
    refreshMetadata: async () => refreshed(),
  } as unknown as Library;
}

describe('Cluster', () => {
  it('asks for open transactions again while a broker does not know yet that it leads the partition', async () => {
    let refreshes = 0;
    const refuse = (): never => {
      throw notLeader;
    };
    const cluster = new Cluster(libraryOf([refuse, refuse, () => []], () => refreshes++));
    expect(await cluster.openTransactions('events', 0)).toEqual([]);
    expect(refreshes).toBe(2);
  });

  it('throws any other refusal at once', async () => {
    const cluster = new Cluster(
      libraryOf(
        [
          () => {
            throw new Error('not authorized');
          },
        ],
        () => undefined,
      ),
    );
    await expect(cluster.openTransactions('events', 0)).rejects.toThrow('not authorized');
  });
});
