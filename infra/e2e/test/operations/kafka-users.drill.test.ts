import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Brokers } from '@pf/local/brokers';
import kafkajs from 'kafkajs';
import type { Admin, Kafka } from 'kafkajs';
import { startSecuredKafka } from './runbooks/secured-kafka.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const TOPICS = ['intent.commands', 'chain.observations', 'intent.events', 'intent.dead', 'service.clock'] as const;
type Topic = (typeof TOPICS)[number];
const ADMIN = 'admin';

/** What services may write and read: written down once more, so that a right too many in the manifests fails. */
const MAY: Readonly<Record<string, { readonly write: readonly Topic[]; readonly read: readonly Topic[] }>> = {
  'pf-gateway': { write: ['intent.commands'], read: [] },
  'pf-intent': {
    write: ['chain.observations', 'intent.events', 'intent.dead', 'service.clock'],
    read: ['intent.commands', 'chain.observations', 'intent.events'],
  },
  'pf-watcher': { write: ['chain.observations', 'service.clock'], read: ['intent.events'] },
  'pf-archive': { write: [], read: ['intent.events'] },
  'pf-webhook': { write: [], read: ['intent.events'] },
};
const USERS = Object.keys(MAY);
/** Whose consumer group it is. */
const GROUPS: Readonly<Record<string, string>> = { intent: 'pf-intent', webhook: 'pf-webhook' };
const WRITER = 'intent-writer-0';
/** The id of the one broker. */
const BROKER = 1;

/** The part of the library's cluster object with which a topic is read without a group. */
interface LibraryCluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  refreshMetadata(): Promise<void>;
  findControllerBroker(): Promise<{ fetch(request: object): Promise<object> }>;
}
type WithCluster = Readonly<Record<symbol, (options: object) => LibraryCluster>>;

/** TOPIC_, GROUP_, CLUSTER_ and TRANSACTIONAL_ID_AUTHORIZATION_FAILED. */
const REFUSALS: readonly unknown[] = [29, 30, 31, 53];
/** The library says so too where no broker lets it find the coordinator of a group; its owner is seen to find it. */
const REFUSED = /not authorized|authorization failed|Failed to find group coordinator/i;

/** What a library's error says, with what it has inside. */
interface Failure {
  readonly message: string;
  readonly cause?: Failure;
  readonly errors?: readonly Failure[];
  readonly partitions?: readonly { readonly error: Failure }[];
  readonly groups?: readonly { readonly errorCode: number }[];
}
const isRefusal = ({ message, cause, errors = [], partitions = [], groups = [] }: Failure): boolean =>
  REFUSED.test(message) ||
  (cause !== undefined && isRefusal(cause)) ||
  [...errors, ...partitions.map(({ error }) => error)].some(isRefusal) ||
  groups.some(({ errorCode }) => REFUSALS.includes(errorCode));

/** What has happened: `done`, `refused` for want of a right, or another error. */
async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    return isRefusal(error as Failure) ? 'refused' : String(error);
  }
}

describe('whoever has the credentials of one service in Kafka', () => {
  let folder: string;
  let brokers: Brokers;
  let admin: Admin;
  const closing: (() => Promise<void>)[] = [];
  const kafkaOf = (name: string): Kafka =>
    new kafkajs.Kafka({
      brokers: brokers.addresses.split(','),
      clientId: name,
      logLevel: kafkajs.logLevel.NOTHING,
      retry: { initialRetryTime: 100, retries: 6 },
      sasl: { mechanism: 'plain', username: name, password: name },
    });
  const adminOf = async (name: string): Promise<Admin> => {
    const client = kafkaOf(name).admin();
    await client.connect();
    closing.push(() => client.disconnect());
    return client;
  };

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-kafka-users-'));
    brokers = await startSecuredKafka(ROOT, folder, Object.fromEntries(USERS.map((name) => [name, name])));
    admin = await adminOf(ADMIN);
    await admin.createTopics({ waitForLeaders: true, topics: TOPICS.map((topic) => ({ topic, numPartitions: 1 })) });
    const producer = kafkaOf(ADMIN).producer();
    await producer.connect();
    for (const topic of TOPICS) await producer.send({ topic, messages: [{ key: 'pi_1', value: 'true' }] });
    await producer.disconnect();
    for (const groupId of Object.keys(GROUPS))
      await admin.setOffsets({ groupId, topic: 'intent.events', partitions: [{ partition: 0, offset: '1' }] });
  });
  afterAll(async () => {
    for (const close of closing) await close();
    await brokers.close();
    await rm(folder, { recursive: true, force: true });
  });

  const write = async (name: string, topic: Topic): Promise<void> => {
    const producer = kafkaOf(name).producer();
    await producer.connect();
    try {
      await producer.send({ topic, messages: [{ key: 'pi_1', value: 'forged' }] });
    } finally {
      await producer.disconnect();
    }
  };
  /** @param replicaId as which broker; default: as a consumer */
  const read = async (name: string, topic: Topic, replicaId = -1): Promise<void> => {
    const kafka = kafkaOf(name);
    const symbol = Object.getOwnPropertySymbols(kafka).find(
      ({ description }) => description === 'private:Kafka:createCluster',
    );
    const cluster = symbol === undefined ? undefined : (kafka as unknown as WithCluster)[symbol]?.({});
    if (!cluster) throw new Error('kafkajs has no cluster object');
    await cluster.connect();
    await cluster.refreshMetadata();
    const maxBytes = 1_000;
    try {
      const partitions = [{ partition: 0, currentLeaderEpoch: -1, fetchOffset: '0', maxBytes }];
      const broker = await cluster.findControllerBroker();
      await broker.fetch({
        replicaId,
        maxWaitTime: 100,
        minBytes: 1,
        maxBytes,
        isolationLevel: 0,
        topics: [{ topic, partitions }],
      });
    } finally {
      await cluster.disconnect();
    }
  };
  /** Takes the place of the writer of a partition, whose transactions then fail. */
  const fence = async (name: string): Promise<void> => {
    const producer = kafkaOf(name).producer({ transactionalId: WRITER, idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    try {
      await (await producer.transaction()).abort();
    } finally {
      await producer.disconnect();
    }
  };

  it.each(USERS)('writes and reads as %s the topics of that service, and no others', async (name) => {
    const outcomes = async (tries: (name: string, topic: Topic) => Promise<void>): Promise<object> => {
      const tried: [Topic, string][] = [];
      for (const topic of TOPICS) tried.push([topic, await outcomeOf(tries(name, topic))]);
      return Object.fromEntries(tried);
    };
    const expected = (may: readonly Topic[] = []): object =>
      Object.fromEntries(TOPICS.map((topic) => [topic, may.includes(topic) ? 'done' : 'refused']));
    expect(await outcomes(write)).toEqual(expected(MAY[name]?.write));
    expect(await outcomes(read)).toEqual(expected(MAY[name]?.read));
  });

  it.each(USERS)('reads as a broker what %s may, if it may end the transactions of a broker', async (name) => {
    const tried: [Topic, boolean][] = [];
    for (const topic of TOPICS) tried.push([topic, (await outcomeOf(read(name, topic, BROKER))) === 'refused']);
    // ClusterAction, the right to write the markers of a hanging transaction, is the one of brokers: there is no other.
    const isRefused = name !== 'pf-intent';
    expect(Object.fromEntries(tried)).toEqual(Object.fromEntries(TOPICS.map((topic) => [topic, isRefused])));
  });

  it.each(USERS)('destroys and changes nothing as %s', async (name) => {
    const client = await adminOf(name);
    const acl = {
      principal: `User:${name}`,
      host: '*',
      permissionType: kafkajs.AclPermissionTypes.ALLOW,
      resourceType: kafkajs.AclResourceTypes.TOPIC,
      resourceName: 'intent.events',
      resourcePatternType: kafkajs.ResourcePatternTypes.LITERAL,
      operation: kafkajs.AclOperationTypes.ALL,
    };
    const tried: Record<string, string> = {};
    for (const topic of TOPICS) {
      const partitions = [{ partition: 0, offset: '1' }];
      // The library knows who leads the one topic that it has asked for first.
      const emptying = await adminOf(name);
      await emptying.fetchTopicMetadata({ topics: [topic] });
      const configs = [
        { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configEntries: [{ name: 'retention.ms', value: '1' }] },
      ];
      tried[`delete ${topic}`] = await outcomeOf(client.deleteTopics({ topics: [topic], timeout: 5_000 }));
      tried[`empty ${topic}`] = await outcomeOf(emptying.deleteTopicRecords({ topic, partitions }));
      tried[`shorten ${topic}`] = await outcomeOf(client.alterConfigs({ validateOnly: false, resources: configs }));
      tried[`split ${topic}`] = await outcomeOf(client.createPartitions({ topicPartitions: [{ topic, count: 2 }] }));
    }
    tried['create a topic'] = await outcomeOf(client.createTopics({ topics: [{ topic: 'thief' }] }));
    tried['give rights'] = await outcomeOf(client.createAcls({ acl: [acl] }));
    tried['take rights'] = await outcomeOf(client.deleteAcls({ filters: [acl] }));
    tried['see rights'] = await outcomeOf(client.describeAcls(acl));
    for (const groupId of Object.keys(GROUPS))
      tried[`delete ${groupId}`] = await outcomeOf(client.deleteGroups([groupId]));
    for (const [groupId, owner] of Object.entries(GROUPS)) {
      if (owner === name) continue;
      const topic = 'intent.events';
      const partitions = [{ partition: 0, offset: '0' }];
      tried[`see ${groupId}`] = await outcomeOf(client.fetchOffsets({ groupId, topics: [topic] }));
      tried[`set ${groupId} back`] = await outcomeOf(client.setOffsets({ groupId, topic, partitions }));
    }
    if (name !== 'pf-intent') tried['take the place of a writer'] = await outcomeOf(fence(name));
    expect(Object.entries(tried).filter(([, outcome]) => outcome !== 'refused')).toEqual([]);
  });

  it('tries what works for the services that may, and leaves what was there', async () => {
    expect(await outcomeOf(fence('pf-intent'))).toBe('done');
    for (const [groupId, owner] of Object.entries(GROUPS)) {
      const client = await adminOf(owner);
      const [offsets] = await client.fetchOffsets({ groupId, topics: ['intent.events'] });
      expect([groupId, offsets?.partitions]).toEqual([groupId, [expect.objectContaining({ offset: '1' })]]);
    }
    expect((await admin.listTopics()).filter((topic) => !topic.startsWith('__')).toSorted()).toEqual(TOPICS.toSorted());
    for (const topic of TOPICS)
      expect([topic, await admin.fetchTopicOffsets(topic)]).toEqual([topic, [expect.objectContaining({ low: '0' })]]);
  });
});
