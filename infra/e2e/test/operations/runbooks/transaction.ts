import type { Kafka } from 'kafkajs';
import kafkajs from 'kafkajs';

export const INTENT_PASSWORD = 'intent';
/** Of the partition that the pages have as an example. */
const PARTITION = 3;

const clientOf = (brokers: string): Kafka =>
  new kafkajs.Kafka({
    brokers: [brokers],
    clientId: 'test',
    logLevel: kafkajs.logLevel.NOTHING,
    sasl: { mechanism: 'plain', username: 'pf-intent', password: INTENT_PASSWORD },
  });

/** As the intent service does after each batch, so that a page can set the offsets back. */
export async function commitOffsets(brokers: string): Promise<void> {
  const admin = clientOf(brokers).admin();
  await admin.connect();
  for (const topic of ['intent.commands', 'chain.observations'])
    await admin.setOffsets({ groupId: 'intent', topic, partitions: [{ partition: PARTITION, offset: '0' }] });
  await admin.disconnect();
}

/**
 * Leaves a transaction of the intent service open, for the page that aborts one.
 * @returns the offset at which it begins
 */
export async function beginTransaction(brokers: string): Promise<string> {
  const producer = clientOf(brokers).producer({
    transactionalId: `intent-writer-${PARTITION}`,
    idempotent: true,
    maxInFlightRequests: 1,
    transactionTimeout: 600_000,
  });
  await producer.connect();
  const transaction = await producer.transaction();
  const [sent] = await transaction.send({
    topic: 'intent.events',
    messages: [{ partition: PARTITION, key: 'key', value: 'begun' }],
  });
  await producer.disconnect();
  return sent?.baseOffset ?? '';
}
