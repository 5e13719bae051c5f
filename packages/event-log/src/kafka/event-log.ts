import { pause } from '@pf/runtime';
import { KafkaBrokerClock } from './broker-clock.ts';
import { BRIEF_RETRY, createClient } from './client.ts';
import { openCluster } from './cluster.ts';
import type { EventLogOptions } from './options.ts';
import { createTopics, deleteTopics, verifyTopics } from './topics.ts';
import { kafkaTransport } from './transport.ts';
import { eventLogOver } from '../event-log.ts';
import { Names } from '../names.ts';
import type { EventLog } from '../port.ts';

/**
 * The log of a Kafka cluster. Connects only when it is used.
 * @throws RangeError for an impossible number of partitions
 */
export function createEventLog(options: EventLogOptions): EventLog {
  const names = new Names(options.prefix ?? '');
  return {
    ...eventLogOver(kafkaTransport(options, names), options.logger),
    brokerClock: () => new KafkaBrokerClock(options, names),
    createTopics: () => createTopics(options, names),
    deleteTopics: () => deleteTopics(options, names),
    verifyTopics: () => verifyTopics(options, names),
    ready: (timeoutMs) => answersWithin(options, timeoutMs),
  };
}

/** True when a broker accepts a new connection and responds with its API versions. */
async function answersWithin(options: EventLogOptions, timeoutMs: number): Promise<boolean> {
  const asking = openCluster(createClient(options, 'ready', { ...BRIEF_RETRY, retries: 0 }, { timeoutMs })).then(
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
