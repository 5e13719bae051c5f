import { pause } from '@pf/runtime';
import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import { openCluster } from './cluster.ts';
import { createClient, PATIENT_RETRY } from './client.ts';
import { brokerErrorType } from '../errors.ts';
import { type Names, OWNER_GROUP, TOPICS } from '../names.ts';
import type { EventLogOptions } from './options.ts';
import type { Topic } from '../port.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const FOREVER = -1;
/** A healthy cluster elects the leaders of a new topic within milliseconds. */
const LEADERS_MS = 15_000;
const LEADERS_PAUSE_MS = 50;

/** Events are kept forever and never compacted (an empty compacted batch would also stall the client library). */
const RETENTION_MS: Readonly<Record<Topic, number>> = {
  'intent.commands': 7 * DAY_MS,
  'chain.observations': 7 * DAY_MS,
  'intent.events': FOREVER,
  'intent.dead': 30 * DAY_MS,
};

/** The required configuration of a topic. Records carry the broker's time, which no producer can set. */
function configOf(topic: Topic, replication: number): Readonly<Record<string, string>> {
  return {
    'cleanup.policy': 'delete',
    'retention.ms': String(RETENTION_MS[topic]),
    'message.timestamp.type': 'LogAppendTime',
    // With three replicas two must have a record before it counts, so one broker may be lost or restarted at any time.
    'min.insync.replicas': String(Math.max(1, replication - 1)),
  };
}

async function withAdmin<Result>(options: EventLogOptions, work: (admin: Admin) => Promise<Result>): Promise<Result> {
  const admin = createClient(options, 'admin', PATIENT_RETRY).admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Creates missing topics and leaves existing ones as they are (verifyTopics reports differences). */
export async function createTopics(options: EventLogOptions, names: Names): Promise<void> {
  const replication = options.replication ?? 1;
  await withAdmin(options, async (admin) => {
    await admin.createTopics({
      // The library's own wait fails at the first broker that does not know the topic yet.
      waitForLeaders: false,
      topics: TOPICS.map((topic) => ({
        topic: names.topic(topic),
        numPartitions: options.partitions,
        replicationFactor: replication,
        configEntries: Object.entries(configOf(topic, replication)).map(([name, value]) => ({ name, value })),
      })),
    });
    await awaitLeaders(
      admin,
      TOPICS.map((topic) => names.topic(topic)),
    );
  });
  await wakeCoordinators(options, names);
}

/** Resolves when every partition of the topics has a leader; rejects with the last error after LEADERS_MS. */
async function awaitLeaders(admin: Admin, topics: string[]): Promise<void> {
  const end = performance.now() + LEADERS_MS;
  for (;;) {
    try {
      const metadata = await admin.fetchTopicMetadata({ topics });
      if (
        metadata.topics.every(
          ({ partitions }) => partitions.length > 0 && partitions.every(({ leader }) => leader >= 0),
        )
      )
        return;
    } catch (error) {
      // A new topic is unknown for some milliseconds: the request is repeated until the time is up.
      if (performance.now() > end) throw error;
    }
    if (performance.now() > end)
      throw new Error(`Kafka found no leaders for ${topics.join(', ')} within ${LEADERS_MS} ms`);
    await pause(LEADERS_PAUSE_MS);
  }
}

/**
 * The first request for a coordinator makes the broker create its internal topics, and a consumer that joins meanwhile
 * crashes. So the request is made here, until it succeeds.
 */
async function wakeCoordinators(options: EventLogOptions, names: Names): Promise<void> {
  const cluster = await openCluster(createClient(options, 'admin', PATIENT_RETRY));
  try {
    await cluster.awaitCoordinators(names.group(OWNER_GROUP), names.transactionalId(0));
  } finally {
    await cluster.close();
  }
}

/** @throws Error where the names have no prefix, because they may be production's */
export async function deleteTopics(options: EventLogOptions, names: Names): Promise<void> {
  if (!options.prefix) throw new Error('Only topics with a prefix can be deleted: others may be production’s.');
  await withAdmin(options, async (admin) => {
    const present = new Set(await admin.listTopics());
    const topics = TOPICS.map((topic) => names.topic(topic)).filter((topic) => present.has(topic));
    if (topics.length === 0) return;
    try {
      await admin.deleteTopics({ topics });
    } catch (error) {
      // A slow broker responds to the library's second attempt, after the first has deleted them.
      if (brokerErrorType(error) !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error;
    }
  });
}

/** @throws Error with every difference between the cluster's topics and the options */
export async function verifyTopics(options: EventLogOptions, names: Names): Promise<void> {
  const differences = await withAdmin(options, async (admin) => {
    const present = new Set(await admin.listTopics());
    const missing = TOPICS.filter((topic) => !present.has(names.topic(topic)));
    const found = TOPICS.filter((topic) => present.has(names.topic(topic)));
    return [
      ...missing.map((topic) => `${names.topic(topic)} does not exist`),
      ...(await compare(admin, found, options, names)),
    ];
  });
  if (differences.length > 0) throw new Error(`The Kafka cluster is not as configured: ${differences.join('; ')}`);
}

async function compare(
  admin: Admin,
  topics: readonly Topic[],
  options: EventLogOptions,
  names: Names,
): Promise<string[]> {
  if (topics.length === 0) return [];
  const replication = options.replication ?? 1;
  const differences: string[] = [];
  const differ = (topic: Topic, what: string, actual: string | number, wanted: string | number): void => {
    if (actual !== wanted) differences.push(`${names.topic(topic)} has ${what} ${actual}, not ${wanted}`);
  };
  const metadata = await admin.fetchTopicMetadata({ topics: topics.map((topic) => names.topic(topic)) });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((topic) => ({
      type: kafkajs.ConfigResourceTypes.TOPIC,
      name: names.topic(topic),
      configNames: Object.keys(configOf(topic, replication)),
    })),
  });
  for (const topic of topics) {
    const partitions = metadata.topics.find(({ name }) => name === names.topic(topic))?.partitions ?? [];
    differ(topic, 'partitions', partitions.length, options.partitions);
    differ(topic, 'replicas', Math.min(...partitions.map(({ replicas }) => replicas.length)), replication);
    const actual = resources.find(({ resourceName }) => resourceName === names.topic(topic))?.configEntries ?? [];
    for (const [name, wanted] of Object.entries(configOf(topic, replication))) {
      differ(topic, name, actual.find(({ configName }) => configName === name)?.configValue ?? 'unset', wanted);
    }
  }
  return differences;
}
