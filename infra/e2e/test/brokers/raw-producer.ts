import { createRequire } from 'node:module';
import kafkajs from 'kafkajs';
import type { Kafka, Transaction } from 'kafkajs';
import { until } from '@pf/testing';

interface Identity {
  readonly producerId: string;
  readonly producerEpoch: number;
}

interface LibraryBroker {
  initProducerId: (this: LibraryBroker, request: { readonly transactionalId: string }) => Promise<Identity>;
  produce(request: object): Promise<{
    readonly topics: readonly { readonly partitions: readonly { readonly baseOffset: string }[] }[];
  }>;
}

interface LibraryCluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  findBroker(node: { readonly nodeId: string }): Promise<LibraryBroker>;
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, unknown>>;
}

/** The library keeps the ids of its producers to itself: noted when they are given, by transactional id. */
const identities = new Map<string, Identity>();
const { prototype } = createRequire(import.meta.url)('kafkajs/src/broker') as { readonly prototype: LibraryBroker };
const { initProducerId } = prototype;
prototype.initProducerId = async function (request) {
  const identity = await initProducerId.call(this, request);
  identities.set(request.transactionalId, identity);
  return identity;
};

function connectionsOf(kafka: Kafka): LibraryCluster {
  const symbol = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  );
  if (!symbol) throw new Error('This version of kafkajs has no private:Kafka:createCluster.');
  return (Reflect.get(kafka, symbol) as (options: object) => LibraryCluster)({
    metadataMaxAge: 300_000,
    allowAutoTopicCreation: false,
  });
}

const clientOf = (brokers: string): Kafka =>
  new kafkajs.Kafka({ brokers: brokers.split(','), clientId: 'raw', logLevel: kafkajs.logLevel.NOTHING });

/** Ends with a transaction that takes the transactional id: its former producer is fenced. */
export async function fenceAndEnd(
  brokers: string,
  transactionalId: string,
  topic: string,
  last: 'committed' | 'aborted',
): Promise<void> {
  const { transaction, close } = await beginTransaction(brokers, transactionalId, topic, 0);
  await (last === 'committed' ? transaction.commit() : transaction.abort());
  await close();
}

/** A transaction with one record, which its coordinator knows. */
export async function beginTransaction(
  brokers: string,
  transactionalId: string,
  topic: string,
  partition: number,
): Promise<{ readonly transaction: Transaction; readonly close: () => Promise<void> }> {
  const producer = clientOf(brokers).producer({ transactionalId, idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  const transaction = await producer.transaction();
  await transaction.send({ topic, messages: [{ partition, key: 'key', value: 'begun' }] });
  return { transaction, close: () => producer.disconnect() };
}

/**
 * Appends a record to a partition in a transaction of the id's last producer that its coordinator does not know: the
 * state in which a broker that was killed leaves a partition.
 *
 * @param sequence how many records the producer has appended to the partition
 * @returns the offset of the record
 */
export async function appendUnknown(
  brokers: string,
  transactionalId: string,
  { topic, partition, value, sequence }: { topic: string; partition: number; value: string; sequence: number },
): Promise<bigint> {
  const cluster = connectionsOf(clientOf(brokers));
  await cluster.connect();
  try {
    await cluster.addMultipleTargetTopics([topic]);
    const [nodeId = ''] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]));
    const leader = await cluster.findBroker({ nodeId });
    const messages = [{ key: Buffer.from('key'), value: Buffer.from(value), timestamp: String(Date.now()) }];
    // The leader of a new topic refuses records for a moment after the topic is there.
    const { topics } = await until('the leader to take the record', () =>
      leader.produce({
        ...identities.get(transactionalId),
        transactionalId,
        topicData: [{ topic, partitions: [{ partition, firstSequence: sequence, messages }] }],
      }),
    );
    return BigInt(topics[0]?.partitions[0]?.baseOffset ?? -1);
  } finally {
    await cluster.disconnect();
  }
}
