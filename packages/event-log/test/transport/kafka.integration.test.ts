import { describe, it } from '@jest/globals';
import { brokerErrorType } from '../../src/errors.ts';
import type { LogTransport } from '../../src/index.ts';
import { createClient, PATIENT_RETRY } from '../../src/kafka/client.ts';
import { kafkaTransport } from '../../src/kafka/transport.ts';
import { Names, TOPICS } from '../../src/names.ts';
import { abandon } from '../abandon.ts';
import { freshLog, freshOptions } from '../stack.ts';
import { until } from '../waiting.ts';
import { transportCases, type TransportWorld } from './suite.ts';

/** For some milliseconds the leader of a new topic refuses single requests: it does not know yet that it leads. */
async function leadersKnow(transport: LogTransport): Promise<boolean> {
  const connection = await transport.connect('probe');
  const partitions = Array.from({ length: transport.partitions }, (_, partition) => partition);
  try {
    for (const topic of TOPICS) await connection.offsets(topic, partitions, 'end');
    return true;
  } catch (error) {
    if (brokerErrorType(error) !== 'NOT_LEADER_FOR_PARTITION') throw error;
    return false;
  } finally {
    await connection.close();
  }
}

async function openWorld(): Promise<TransportWorld> {
  const options = freshOptions();
  await freshLog(options);
  const names = new Names(options.prefix ?? '');
  const transport = kafkaTransport(options, names);
  await until(() => leadersKnow(transport), 'the leaders of the new topics');
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
