import { createRequire } from 'node:module';
import type { Kafka, KafkaMessage } from 'kafkajs';

/**
 * Bytes of one answer, and of one partition in it: so much is projected in one database transaction. The broker returns
 * one batch at least, however large.
 */
const ANSWER_BYTES = 8 * 1024 * 1024;
const PARTITION_BYTES = 1024 * 1024;
const READ_COMMITTED = 1;
const COORDINATOR_MEMORY_MS = 1_000;
const COORDINATOR = { group: 0, transaction: 1 } as const;
/** Where the log begins and ends, in the words of the ListOffsets request. */
const EARLIEST = { fromBeginning: true } as const;
const LATEST = { fromBeginning: false } as const;

/** What one partition has answered: its records without markers and aborted ones, and the position after all of them. */
export interface Fetched {
  readonly partition: number;
  readonly messages: readonly KafkaMessage[];
  /** Null: the partition had nothing new, not even a marker. */
  readonly next: bigint | null;
}

interface PartitionOffset {
  readonly partition: number;
  readonly offset: string;
}

interface OffsetsOfTopic {
  readonly topic: string;
  readonly partitions: readonly PartitionOffset[];
}

interface LibraryBroker {
  fetch(request: object): Promise<{
    readonly responses: readonly {
      readonly topicName: string;
      readonly partitions: readonly { readonly partition: number }[];
    }[];
  }>;
  offsetFetch(request: object): Promise<{ readonly responses: readonly OffsetsOfTopic[] }>;
}

/** The part of the library's own cluster object that is used here. */
interface LibraryCluster {
  /** Those whose metadata it asks for; none: for those of all topics there are. */
  readonly targetTopics: Set<string>;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  refreshMetadata(): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  findBroker(node: { readonly nodeId: string }): Promise<LibraryBroker>;
  findGroupCoordinatorMetadata(of: { readonly groupId: string; readonly coordinatorType: number }): Promise<object>;
  findGroupCoordinator(of: { readonly groupId: string; readonly coordinatorType?: number }): Promise<LibraryBroker>;
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, readonly number[]>>;
  fetchTopicsOffset(topics: readonly object[]): Promise<readonly OffsetsOfTopic[]>;
}

interface LibraryBatch {
  readonly messages: readonly KafkaMessage[];
  isEmptyIncludingFiltered(): boolean;
  lastOffset(): string;
}

/** Leaves out markers and aborted records, as the library's consumer does. */
const Batch = createRequire(import.meta.url)('kafkajs/src/consumer/batch') as new (
  topic: string,
  fetchedOffset: string,
  answer: object,
) => LibraryBatch;

type CreateCluster = (options: object) => LibraryCluster;

/**
 * The library has consumers only in groups; a reader without one speaks to the cluster object inside the client, which
 * lies behind a symbol.
 */
function clusterSymbol(kafka: Kafka): symbol {
  const symbol = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  );
  if (!symbol) throw new Error('This version of kafkajs has no private:Kafka:createCluster: pin 2.2.4');
  return symbol;
}

/**
 * Has the client's producers ask less. A transactional one asks for the metadata of every topic before it knows its own
 * (with a thousand of them a take-over took a second), and for the coordinators with every step of a transaction: four of
 * its nine requests.
 */
export function askLess(kafka: Kafka, topic: string): Kafka {
  const symbol = clusterSymbol(kafka);
  const create = Reflect.get(kafka, symbol) as CreateCluster;
  Reflect.set(kafka, symbol, (options: object) => {
    const library = create(options);
    library.targetTopics.add(topic);
    library.findGroupCoordinatorMetadata = rememberCoordinators(library.findGroupCoordinatorMetadata.bind(library));
    return library;
  });
  return kafka;
}

/** Whoever asks a former coordinator is refused, and tries again: after this long at the latest where the new one is. */
function rememberCoordinators(
  find: LibraryCluster['findGroupCoordinatorMetadata'],
): LibraryCluster['findGroupCoordinatorMetadata'] {
  const known = new Map<string, { readonly answer: object; readonly until: number }>();
  return async (of) => {
    const key = `${of.coordinatorType} ${of.groupId}`;
    const remembered = known.get(key);
    if (remembered && performance.now() < remembered.until) return remembered.answer;
    const answer = await find(of);
    known.set(key, { answer, until: performance.now() + COORDINATOR_MEMORY_MS });
    return answer;
  };
}

/** Connects to the first broker that answers. */
export async function openCluster(kafka: Kafka): Promise<Cluster> {
  const create = Reflect.get(kafka, clusterSymbol(kafka)) as CreateCluster;
  const library = create({ metadataMaxAge: 300_000, allowAutoTopicCreation: false, isolationLevel: READ_COMMITTED });
  try {
    await library.connect();
    return new Cluster(library);
  } catch (error) {
    await library.disconnect();
    throw error;
  }
}

/**
 * Single requests to the brokers, read_committed; topics are named as the cluster names them. Any failure is thrown as it
 * comes: drop the cluster and open another.
 */
export class Cluster {
  readonly #library: LibraryCluster;

  constructor(library: LibraryCluster) {
    this.#library = library;
  }

  /** Partitions by the broker that leads them. */
  async leaders(topic: string, partitions: readonly number[]): Promise<ReadonlyMap<string, readonly number[]>> {
    await this.#library.addMultipleTargetTopics([topic]);
    const leaders = new Map(Object.entries(this.#library.findLeaderForPartitions(topic, partitions)));
    const led = [...leaders.values()].flat();
    const missing = partitions.filter((partition) => !led.includes(partition));
    if (missing.length > 0) throw new Error(`${topic} has no partition ${missing.join(', ')}`);
    return leaders;
  }

  /** One request to one broker; answered as soon as one of the partitions has something, or after `maxWaitMs`. */
  async fetch(
    nodeId: string,
    topic: string,
    positions: ReadonlyMap<number, bigint>,
    maxWaitMs: number,
  ): Promise<Fetched[]> {
    const broker = await this.#library.findBroker({ nodeId });
    const partitions = [...positions].map(([partition, position]) => ({
      partition,
      fetchOffset: String(position),
      maxBytes: PARTITION_BYTES,
    }));
    const { responses } = await broker.fetch({
      isolationLevel: READ_COMMITTED,
      maxWaitTime: maxWaitMs,
      minBytes: 1,
      maxBytes: ANSWER_BYTES,
      topics: [{ topic, partitions }],
    });
    return responses.flatMap((response) =>
      response.partitions.map((answer) => {
        const batch = new Batch(topic, String(positions.get(answer.partition)), answer);
        // An empty answer says nothing about the position: the library would take the high watermark, beyond what is committed.
        return {
          partition: answer.partition,
          messages: batch.messages,
          next: batch.isEmptyIncludingFiltered() ? null : BigInt(batch.lastOffset()) + 1n,
        };
      }),
    );
  }

  /** The first offset kept, or the last stable offset: everything below it is decided. */
  async offsets(
    topic: string,
    partitions: readonly number[],
    which: 'start' | 'end',
  ): Promise<ReadonlyMap<number, bigint>> {
    await this.#library.addMultipleTargetTopics([topic]);
    const asked = {
      topic,
      partitions: partitions.map((partition) => ({ partition })),
      ...(which === 'start' ? EARLIEST : LATEST),
    };
    const answers = await this.#library.fetchTopicsOffset([asked]);
    return new Map(requireAll(topic, partitions, answers).map(({ partition, offset }) => [partition, BigInt(offset)]));
  }

  /** What a group has committed; null where it has committed nothing. */
  async committed(group: string, topic: string, partition: number): Promise<bigint | null> {
    await this.#library.addMultipleTargetTopics([topic]);
    const coordinator = await this.#library.findGroupCoordinator({ groupId: group });
    const { responses } = await coordinator.offsetFetch({
      groupId: group,
      topics: [{ topic, partitions: [{ partition }] }],
    });
    const [answer] = requireAll(topic, [partition], responses);
    const offset = BigInt(answer?.offset ?? -1);
    return offset < 0n ? null : offset;
  }

  /** Resolves when both coordinators answer. */
  async awaitCoordinators(group: string, transactionalId: string): Promise<void> {
    await this.#library.findGroupCoordinator({ groupId: group, coordinatorType: COORDINATOR.group });
    await this.#library.findGroupCoordinator({ groupId: transactionalId, coordinatorType: COORDINATOR.transaction });
  }

  /** Asks anew who leads what. */
  refresh(): Promise<void> {
    return this.#library.refreshMetadata();
  }

  /** Waits for requests under way, so at most as long as one may take. */
  close(): Promise<void> {
    return this.#library.disconnect();
  }
}

/** The library leaves out partitions that the cluster does not know, without a word. */
function requireAll(
  topic: string,
  partitions: readonly number[],
  answers: readonly OffsetsOfTopic[],
): readonly PartitionOffset[] {
  const answered = answers.find((answer) => answer.topic === topic)?.partitions ?? [];
  const missing = partitions.filter((partition) => !answered.some((answer) => answer.partition === partition));
  if (missing.length > 0) throw new Error(`${topic} has no partition ${missing.join(', ')}`);
  return answered;
}
