import { until } from '@pf/testing';
import type { Admin } from 'kafkajs';

/** Creates a topic of one partition. Resolves when its leader responds. */
export async function createTopic(admin: Admin, topic: string): Promise<void> {
  // The library's own wait fails at a broker that does not know the topic yet.
  await admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 1, replicationFactor: 1 }] });
  await until(`a leader of ${topic}`, () => admin.fetchTopicOffsets(topic));
}
