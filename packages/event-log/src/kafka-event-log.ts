import { pause } from '@pf/runtime';
import { BRIEF_RETRY, createClient } from './kafka/client.ts';
import { openCluster } from './kafka/cluster.ts';
import { KafkaGroupConsumer } from './reading/group-consumer.ts';
import { Names } from './names.ts';
import type { EventLogOptions } from './kafka/options.ts';
import { KafkaPartitionOwner } from './ownership/partition-owner.ts';
import type { EventLog } from './port.ts';
import { KafkaPublisher } from './publisher.ts';
import { KafkaLogReader } from './reading/reader.ts';
import { createTopics, deleteTopics, verifyTopics } from './kafka/topics.ts';

/** An intent's id has one byte for its partition. */
const MOST_PARTITIONS = 256;

/**
 * The log of a Kafka cluster. Connects only when it is used.
 * @throws RangeError for an impossible number of partitions
 */
export function createEventLog(options: EventLogOptions): EventLog {
  const { partitions } = options;
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > MOST_PARTITIONS)
    throw new RangeError(`The log cannot have ${partitions} partitions: set 1 to 256.`);
  const names = new Names(options.prefix ?? '');
  return {
    partitions,
    async publisher() {
      const openProducer = async () => {
        const producer = createClient(options, 'publisher', BRIEF_RETRY).producer({
          allowAutoTopicCreation: false,
          retry: BRIEF_RETRY,
          createPartitioner:
            () =>
            ({ message }) =>
              message.partition ?? 0,
        });
        await producer.connect();
        return producer;
      };
      const publisher = new KafkaPublisher(openProducer, names, partitions);
      await publisher.connect();
      return publisher;
    },
    reader: async (name) =>
      new KafkaLogReader(() => createClient(options, `reader-${name}`, BRIEF_RETRY), names, partitions),
    partitionOwner: (work, onCrash) => new KafkaPartitionOwner(options, names, work, onCrash),
    group: (name, topic, work, onCrash) => new KafkaGroupConsumer(options, names, name, topic, work, onCrash),
    createTopics: () => createTopics(options, names),
    deleteTopics: () => deleteTopics(options, names),
    verifyTopics: () => verifyTopics(options, names),
    ready: (timeoutMs) => answersWithin(options, timeoutMs),
  };
}

/** True when a broker accepts a new connection and responds with its API versions. */
async function answersWithin(options: EventLogOptions, timeoutMs: number): Promise<boolean> {
  const asking = openCluster(createClient(options, 'ready', { ...BRIEF_RETRY, retries: 0 }, timeoutMs)).then(
    async (cluster) => {
      await cluster.close();
      return true;
    },
    () => false,
  );
  const answered = new AbortController();
  try {
    return await Promise.race([asking, pause(timeoutMs, answered.signal).then(() => false)]);
  } finally {
    answered.abort();
  }
}
