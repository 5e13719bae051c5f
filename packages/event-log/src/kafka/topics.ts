import { pause } from '@pf/runtime';
import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import { type Cluster, openCluster } from './cluster.ts';
import { createClient, PATIENT_RETRY } from './client.ts';
import { asError, brokerErrorType } from '../errors.ts';
import { type Names, OWNER_GROUP, type TopicName, TOPIC_NAMES } from '../names.ts';
import type { EventLogOptions } from './options.ts';

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;
const FOREVER = -1;
/** In a healthy cluster the leaders of a new topic respond within milliseconds. */
const LEADERS_MS = 15_000;
const LEADERS_PAUSE_MS = 50;

/** Events are kept forever and never compacted (an empty compacted batch would also stall the client library). */
const RETENTION_MS: Readonly<Record<TopicName, number>> = {
  'intent.commands': 7 * DAY_MS,
  'chain.observations': 7 * DAY_MS,
  'intent.events': FOREVER,
  'intent.dead': 30 * DAY_MS,
  'service.clock': HOUR_MS,
};

/** The compressions of a topic that the client library can read, with ours. `producer`: stored as it was sent. */
const READABLE: readonly string[] = ['producer', 'zstd', 'gzip', 'uncompressed'];
/** The smallest batch that a topic must take: a request has at most half of it. Also the broker's default. */
const BATCH_BYTES = 1_048_588;

/** The required configuration of a topic: set when it is created, and verified at every start. */
export function topicConfig(topic: TopicName, replication: number): Readonly<Record<string, string>> {
  return {
    'cleanup.policy': 'delete',
    'retention.ms': String(RETENTION_MS[topic]),
    // A limit by size would delete the oldest events, or commands that are not decided yet.
    'retention.bytes': '-1',
    // A replica that was not in sync would, as the leader, erase what was acknowledged.
    'unclean.leader.election.enable': 'false',
    // Recompressing costs the broker CPU, and a codec that clients lack would make the topic unreadable.
    'compression.type': 'producer',
    'max.message.bytes': String(BATCH_BYTES),
    // Records carry the broker's time, which no producer can set.
    'message.timestamp.type': 'LogAppendTime',
    // With three replicas two must have a record before it counts, so one broker may be lost or restarted at any time.
    'min.insync.replicas': String(Math.max(1, replication - 1)),
  };
}

/** What is wrong with a value where not only the one that topics are created with will do; null: nothing. */
const TOLERANT: Readonly<Record<string, (actual: string) => string | null>> = {
  'compression.type': (actual) => (READABLE.includes(actual) ? null : `not one of ${READABLE.join(', ')}`),
  'max.message.bytes': (actual) => (Number(actual) >= BATCH_BYTES ? null : `not ${BATCH_BYTES} or more`),
};

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
      topics: TOPIC_NAMES.map((topic) => ({
        topic: names.topic(topic),
        numPartitions: options.partitions,
        replicationFactor: replication,
        configEntries: Object.entries(topicConfig(topic, replication)).map(([name, value]) => ({ name, value })),
      })),
    });
  });
  const cluster = await openCluster(createClient(options, 'admin', PATIENT_RETRY));
  try {
    const giveUp = performance.now() + LEADERS_MS;
    for (const topic of TOPIC_NAMES) await awaitLeaders(cluster, names.topic(topic), options.partitions, giveUp);
    // The first request for a coordinator makes the broker create its internal topics, and a consumer that joins
    // meanwhile crashes. So the request is made here, until it succeeds.
    await cluster.awaitCoordinators(names.group(OWNER_GROUP), names.transactionalId(0));
  } finally {
    await cluster.close();
  }
}

/**
 * Resolves when every partition's leader responds. It is named in the metadata some milliseconds before it knows that
 * it leads, and a request for several partitions is repeated whole when one of them refuses.
 *
 * @param giveUp of performance.now()
 * @throws Error with the last refusal when the time is up
 */
export async function awaitLeaders(
  cluster: Pick<Cluster, 'offsets' | 'refresh'>,
  topic: string,
  count: number,
  giveUp: number,
): Promise<void> {
  const partitions = Array.from({ length: count }, (_, partition) => partition);
  for (;;) {
    try {
      await cluster.offsets(topic, partitions, 'appended');
      return;
    } catch (error) {
      if (performance.now() > giveUp)
        throw new Error(`Not every partition of ${topic} has a leader that responds: ${asError(error).message}`, {
          cause: error,
        });
    }
    await pause(LEADERS_PAUSE_MS);
    // A new topic is unknown for some milliseconds, which the next request reports.
    await cluster.refresh().catch(() => undefined);
  }
}

/** @throws Error where the names have no prefix, because they may be production's */
export async function deleteTopics(options: EventLogOptions, names: Names): Promise<void> {
  if (!options.prefix) throw new Error('Only topics with a prefix can be deleted: others may be production’s.');
  await withAdmin(options, async (admin) => {
    const present = new Set(await admin.listTopics());
    const topics = TOPIC_NAMES.map((topic) => names.topic(topic)).filter((topic) => present.has(topic));
    if (topics.length === 0) return;
    try {
      await admin.deleteTopics({ topics });
    } catch (error) {
      // A slow broker responds to the library's second attempt, after the first has deleted them.
      if (brokerErrorType(error) !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error;
    }
    // The controller has forgotten them; a broker serves them until it hears of it, also to who has made new ones.
    const giveUp = performance.now() + LEADERS_MS;
    for (let left = topics; left.length > 0;) {
      if (performance.now() > giveUp) throw new Error(`A broker still has ${left.join(', ')}, which were deleted.`);
      await pause(LEADERS_PAUSE_MS);
      const known = new Set(await admin.listTopics());
      left = topics.filter((topic) => known.has(topic));
    }
  });
}

/** @throws Error with every difference between the cluster's topics and the options */
export async function verifyTopics(options: EventLogOptions, names: Names): Promise<void> {
  const differences = await withAdmin(options, async (admin) => {
    const present = new Set(await admin.listTopics());
    const missing = TOPIC_NAMES.filter((topic) => !present.has(names.topic(topic)));
    const found = TOPIC_NAMES.filter((topic) => present.has(names.topic(topic)));
    return [
      ...missing.map((topic) => `${names.topic(topic)} does not exist`),
      ...(await compare(admin, found, options, names)),
    ];
  });
  if (differences.length > 0)
    throw new Error(
      `The Kafka cluster is not as configured: ${differences.join('; ')}. Set what differs with kafka-configs or in ` +
        'the KafkaTopic resources; the values are in docs/internals/kafka.md.',
    );
}

async function compare(
  admin: Admin,
  topics: readonly TopicName[],
  options: EventLogOptions,
  names: Names,
): Promise<string[]> {
  if (topics.length === 0) return [];
  const replication = options.replication ?? 1;
  const differences: string[] = [];
  const differ = (topic: TopicName, what: string, actual: string | number, wanted: string | number): void => {
    const tolerant = typeof actual === 'string' ? TOLERANT[what] : undefined;
    const wrong = tolerant ? tolerant(actual as string) : actual === wanted ? null : `not ${wanted}`;
    if (wrong !== null) differences.push(`${names.topic(topic)} has ${what} ${actual}, ${wrong}`);
  };
  const metadata = await admin.fetchTopicMetadata({ topics: topics.map((topic) => names.topic(topic)) });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((topic) => ({
      type: kafkajs.ConfigResourceTypes.TOPIC,
      name: names.topic(topic),
      configNames: Object.keys(topicConfig(topic, replication)),
    })),
  });
  for (const topic of topics) {
    const partitions = metadata.topics.find(({ name }) => name === names.topic(topic))?.partitions ?? [];
    differ(topic, 'partitions', partitions.length, options.partitions);
    differ(topic, 'replicas', Math.min(...partitions.map(({ replicas }) => replicas.length)), replication);
    const actual = resources.find(({ resourceName }) => resourceName === names.topic(topic))?.configEntries ?? [];
    for (const [name, wanted] of Object.entries(topicConfig(topic, replication))) {
      differ(topic, name, actual.find(({ configName }) => configName === name)?.configValue ?? 'unset', wanted);
    }
  }
  return differences;
}
