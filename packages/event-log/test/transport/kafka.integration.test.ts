import { describe, it } from '@jest/globals';
import { createClient, PATIENT_RETRY } from '../../src/kafka/client.ts';
import { kafkaTransport } from '../../src/kafka/transport.ts';
import { Names } from '../../src/names.ts';
import { abandon } from '../abandon.ts';
import { freshLog, freshOptions } from '../stack.ts';
import { transportCases, type TransportWorld } from './suite.ts';

async function openWorld(): Promise<TransportWorld> {
  const options = freshOptions();
  await freshLog(options);
  const names = new Names(options.prefix ?? '');
  const transport = kafkaTransport(options, names);
  return {
    transport,
    abandon: (partition, values) => abandon(options, partition, values),
    async deleteBelow(topic, partition, offset) {
      const admin = createClient(options, 'admin', PATIENT_RETRY).admin();
      await admin.connect();
      try {
        // Makes the library load the topic's metadata, without which it cannot delete.
        await admin.fetchTopicOffsets(names.topic(topic));
        await admin.deleteTopicRecords({
          topic: names.topic(topic),
          partitions: [{ partition, offset: String(offset) }],
        });
      } finally {
        await admin.disconnect();
      }
    },
  };
}

describe('The transport over Kafka', () => {
  it.each(transportCases)('$name', async ({ run }) => run(await openWorld()));
});
