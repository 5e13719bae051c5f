import { pause } from '@pf/runtime';
import type { Kafka, KafkaMessage } from 'kafkajs';
// @ts-expect-error -- the library does not type its parts
import KafkaBatch from 'kafkajs/src/consumer/batch.js';
import { brokerErrorType } from '../errors.ts';
import type { OffsetOf } from '../transport.ts';
import {
  describeProducers,
  describeTransaction,
  fetchOffset,
  type LibraryRequest,
  type ListedTransaction,
  listTransactions,
  type OpenTransaction,
  type TransactionState,
  writeMarker,
} from './transaction-requests.ts';

/**
 * The size of one response, and of one partition in it: it is projected in one database transaction. The broker returns
 * at least one batch, however large.
 */
const ANSWER_BYTES = 8 * 1024 * 1024;
const PARTITION_BYTES = 1024 * 1024;
const READ_UNCOMMITTED = 0;
const READ_COMMITTED = 1;
const COORDINATOR_MEMORY_MS = 1_000;
/** How often, and after which pause, a broker is asked that should lead a partition and does not know it yet. */
const LEADER_TRIES = 40;
const LEADER_PAUSE_MS = 25;
const BUSY_TRIES = 200;
const BUSY_PAUSE_MS = 5;
const COORDINATOR = { group: 0, transaction: 1 } as const;
/** The beginning and end of the log, as timestamps of the ListOffsets request. */
const EARLIEST = { fromBeginning: true } as const;
const LATEST = { fromBeginning: false } as const;
/** The same in the protocol. */
const AT_THE_END = -1;

/** The response for one partition: its committed records, and the position after all of them. */
export interface Fetched {
  readonly partition: number;
  readonly messages: readonly KafkaMessage[];
  /** The offset of its first record or marker; the requested position where there is none. */
  readonly from: bigint;
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
      readonly partitions: readonly {
        readonly partition: number;
        readonly highWatermark: string;
        readonly lastStableOffset: string;
      }[];
    }[];
  }>;
  listOffsets(request: object): Promise<{ readonly responses: readonly OffsetsOfTopic[] }>;
  initProducerId(request: { readonly transactionalId: string; readonly transactionTimeout: number }): Promise<unknown>;
  offsetFetch(request: object): Promise<{ readonly responses: readonly OffsetsOfTopic[] }>;
  readonly connectionPool: { send<Response>(request: LibraryRequest<Response>): Promise<Response> };
}

/** The part of the library's cluster object that is used here. */
interface LibraryCluster {
  /** The topics whose metadata it requests; when empty, those of all topics. */
  readonly targetTopics: Set<string>;
  readonly brokerPool: { getNodeIds(): readonly string[] };
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
  /** Null where it is empty. */
  firstOffset(): string | null;
  lastOffset(): string;
}

/** Filters markers and aborted records, as the library's consumer does. */
const Batch = KafkaBatch as new (topic: string, fetchedOffset: string, answer: object) => LibraryBatch;

type CreateCluster = (options: object) => LibraryCluster;

/**
 * The library has consumers only in groups. A reader without a group uses the cluster object inside the client, which
 * is behind a symbol.
 */
function clusterSymbol(kafka: Kafka): symbol {
  const symbol = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  );
  if (!symbol) throw new Error('This version of kafkajs has no private:Kafka:createCluster. Pin kafkajs to 2.2.4.');
  return symbol;
}

/**
 * Saves requests of the client's producers, and gives access to the connections of the last of them. A transactional
 * producer requests the metadata of every topic before it knows its own (with a thousand topics, acquiring a partition
 * took a second), and the coordinators with every step of a transaction: four of its nine requests.
 */
export function askLess(kafka: Kafka, topic: string): { readonly kafka: Kafka; readonly cluster: () => Cluster } {
  const symbol = clusterSymbol(kafka);
  const create = Reflect.get(kafka, symbol) as CreateCluster;
  let cluster: Cluster | null = null;
  Reflect.set(kafka, symbol, (options: object) => {
    const library = create(options);
    library.targetTopics.add(topic);
    library.findGroupCoordinatorMetadata = rememberCoordinators(library.findGroupCoordinatorMetadata.bind(library));
    cluster = new Cluster(library);
    return library;
  });
  return {
    kafka,
    cluster: () => {
      if (!cluster) throw new Error('The client has no producer yet.');
      return cluster;
    },
  };
}

/** How long a coordinator is cached. A former coordinator refuses, and the request is sent again. */
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

/** Connects to the first broker that responds. */
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
 * Single requests to the brokers, read_committed, with the cluster's names of topics. Any failure is thrown as it is:
 * close the cluster and open another.
 */
export class Cluster {
  readonly #library: LibraryCluster;

  constructor(library: LibraryCluster) {
    this.#library = library;
  }

  /** Partitions by their leader. */
  async leaders(topic: string, partitions: readonly number[]): Promise<ReadonlyMap<string, readonly number[]>> {
    await this.#library.addMultipleTargetTopics([topic]);
    const leaders = new Map(Object.entries(this.#library.findLeaderForPartitions(topic, partitions)));
    const led = [...leaders.values()].flat();
    const missing = partitions.filter((partition) => !led.includes(partition));
    if (missing.length > 0) throw new Error(`${topic} has no partition ${missing.join(', ')}`);
    return leaders;
  }

  /** One request to one broker, which responds as soon as it has so many bytes of records, or after `maxWaitMs`. */
  async fetch(
    nodeId: string,
    topic: string,
    positions: ReadonlyMap<number, bigint>,
    maxWaitMs: number,
    minBytes: number,
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
      minBytes,
      maxBytes: ANSWER_BYTES,
      topics: [{ topic, partitions }],
    });
    return responses.flatMap((response) =>
      response.partitions.map((answer) => {
        const batch = new Batch(topic, String(positions.get(answer.partition)), answer);
        // An empty response has no position; the library would use the high watermark, which can be above the commits.
        return {
          partition: answer.partition,
          messages: batch.messages,
          from: BigInt(batch.firstOffset() ?? positions.get(answer.partition) ?? 0n),
          next: batch.isEmptyIncludingFiltered() ? null : BigInt(batch.lastOffset()) + 1n,
        };
      }),
    );
  }

  async offsets(topic: string, partitions: readonly number[], which: OffsetOf): Promise<ReadonlyMap<number, bigint>> {
    await this.#library.addMultipleTargetTopics([topic]);
    if (which === 'appended') return this.#highWatermarks(topic, partitions);
    const asked = {
      topic,
      partitions: partitions.map((partition) => ({ partition })),
      ...(which === 'start' ? EARLIEST : LATEST),
    };
    const answers = await this.#library.fetchTopicsOffset([asked]);
    return new Map(requireAll(topic, partitions, answers).map(({ partition, offset }) => [partition, BigInt(offset)]));
  }

  /** The library asks only for what is committed. */
  async #highWatermarks(topic: string, partitions: readonly number[]): Promise<ReadonlyMap<number, bigint>> {
    const answers = await Promise.all(
      [...(await this.leaders(topic, partitions))].map(async ([nodeId, led]) => {
        const broker = await this.#library.findBroker({ nodeId });
        const asked = led.map((partition) => ({ partition, timestamp: AT_THE_END }));
        const { responses } = await broker.listOffsets({
          isolationLevel: READ_UNCOMMITTED,
          topics: [{ topic, partitions: asked }],
        });
        return requireAll(topic, led, responses);
      }),
    );
    return new Map(answers.flat().map(({ partition, offset }) => [partition, BigInt(offset)]));
  }

  /** The offset that a group has committed; null where it has committed none. */
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

  /** The transactions that are open in a partition, whether or not their coordinator knows of them. */
  openTransactions(topic: string, partition: number): Promise<readonly OpenTransaction[]> {
    return this.#askLeader(topic, partition, (leader) =>
      leader.connectionPool.send(describeProducers(topic, partition)),
    );
  }

  /** True where the partition ends at the position, committed and uncommitted records alike. */
  async endsAt(topic: string, partition: number, position: bigint): Promise<boolean> {
    try {
      const ends = await this.#askLeader(topic, partition, (leader) =>
        ending(leader, topic, new Map([[partition, position]])),
      );
      return ends.has(partition);
    } catch (error) {
      if (brokerErrorType(error) === 'OFFSET_OUT_OF_RANGE') return false;
      throw error;
    }
  }

  /**
   * Those of the partitions that end at their positions, as `endsAt` says, with one request to each broker.
   * @throws where it is not known of one of them
   */
  async allEndingAt(topic: string, positions: ReadonlyMap<number, bigint>): Promise<ReadonlySet<number>> {
    const leaders = await this.leaders(topic, [...positions.keys()]);
    const ends = await Promise.all(
      [...leaders].map(async ([nodeId, led]) =>
        ending(
          await this.#library.findBroker({ nodeId }),
          topic,
          new Map(led.map((partition) => [partition, positions.get(partition) ?? 0n])),
        ),
      ),
    );
    return new Set(ends.flatMap((ofBroker) => [...ofBroker]));
  }

  /** What the coordinator of a transactional id knows of it; null: nothing. */
  async transaction(transactionalId: string): Promise<TransactionState | null> {
    const coordinator = await this.#library.findGroupCoordinator({
      groupId: transactionalId,
      coordinatorType: COORDINATOR.transaction,
    });
    return coordinator.connectionPool.send(describeTransaction(transactionalId));
  }

  /** Takes a transactional id and forgets it: its transaction is ended, and its holder's next request fails. */
  async fence(transactionalId: string, transactionTimeout: number): Promise<void> {
    for (let tries = 1; ; tries++) {
      const coordinator = await this.#library.findGroupCoordinator({
        groupId: transactionalId,
        coordinatorType: COORDINATOR.transaction,
      });
      try {
        await coordinator.initProducerId({ transactionalId, transactionTimeout });
        return;
      } catch (error) {
        // Its open transaction is being ended.
        if (brokerErrorType(error) !== 'CONCURRENT_TRANSACTIONS' || tries === BUSY_TRIES) throw error;
        await pause(BUSY_PAUSE_MS);
      }
    }
  }

  /**
   * The offset that a group has committed, and the note beside it.
   * @param stable null while a transaction is open, or hangs, that may change it
   */
  async delegation(
    group: string,
    topic: string,
    partition: number,
    stable: boolean,
  ): Promise<{ readonly offset: bigint | null; readonly to: string | null } | null> {
    const coordinator = await this.#library.findGroupCoordinator({ groupId: group });
    const found = await coordinator.connectionPool.send(fetchOffset(group, topic, partition, stable));
    if (found === null) return null;
    return { offset: found.offset < 0n ? null : found.offset, to: found.note === '' ? null : found.note };
  }

  /** The transactional ids of a producer, as all coordinators know them. */
  transactionsOf(producerId: string): Promise<readonly ListedTransaction[]> {
    return this.#listTransactions(producerId);
  }

  /** Every transactional id that a coordinator knows. */
  transactions(): Promise<readonly ListedTransaction[]> {
    return this.#listTransactions(null);
  }

  /** Writes the marker that ends an open transaction in the partition. Only for one that hangs. */
  async endTransaction(topic: string, partition: number, open: OpenTransaction, committed: boolean): Promise<void> {
    const leader = await this.#leader(topic, partition);
    await leader.connectionPool.send(writeMarker(topic, partition, open, committed));
  }

  async #listTransactions(producerId: string | null): Promise<readonly ListedTransaction[]> {
    const brokers = await Promise.all(
      this.#library.brokerPool.getNodeIds().map((nodeId) => this.#library.findBroker({ nodeId })),
    );
    return (
      await Promise.all(brokers.map((broker) => broker.connectionPool.send(listTransactions(producerId))))
    ).flat();
  }

  async #askLeader<Answer>(
    topic: string,
    partition: number,
    ask: (leader: LibraryBroker) => Promise<Answer>,
  ): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      try {
        return await ask(await this.#leader(topic, partition));
      } catch (error) {
        // The leader of a new topic, or a new leader, does not know that it leads for some milliseconds.
        if (brokerErrorType(error) !== 'NOT_LEADER_FOR_PARTITION' || tries === LEADER_TRIES) throw error;
        await pause(LEADER_PAUSE_MS);
        await this.refresh();
      }
    }
  }

  async #leader(topic: string, partition: number): Promise<LibraryBroker> {
    const [nodeId] = (await this.leaders(topic, [partition])).keys();
    return this.#library.findBroker({ nodeId: String(nodeId) });
  }

  /** Resolves when both coordinators respond. */
  async awaitCoordinators(group: string, transactionalId: string): Promise<void> {
    await this.#library.findGroupCoordinator({ groupId: group, coordinatorType: COORDINATOR.group });
    await this.#library.findGroupCoordinator({ groupId: transactionalId, coordinatorType: COORDINATOR.transaction });
  }

  /** Requests the leaders again. */
  refresh(): Promise<void> {
    return this.#library.refreshMetadata();
  }

  /** Waits for requests in flight, at most as long as one may take. */
  close(): Promise<void> {
    return this.#library.disconnect();
  }
}

/** The library silently skips partitions that the cluster does not know. */
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

/** The partitions that end at their positions; a broker refuses all where one position is not in its log. */
async function ending(
  leader: LibraryBroker,
  topic: string,
  positions: ReadonlyMap<number, bigint>,
): Promise<ReadonlySet<number>> {
  const partitions = [...positions].map(([partition, position]) => ({
    partition,
    fetchOffset: String(position),
    maxBytes: 1,
  }));
  const { responses } = await leader.fetch({
    isolationLevel: READ_COMMITTED,
    maxWaitTime: 0,
    minBytes: 1,
    maxBytes: 1,
    topics: [{ topic, partitions }],
  });
  const found = responses.flatMap((response) => response.partitions);
  return new Set(
    found
      .filter(({ partition, lastStableOffset, highWatermark }) => {
        const position = positions.get(partition);
        return BigInt(lastStableOffset) === position && BigInt(highWatermark) === position;
      })
      .map(({ partition }) => partition),
  );
}
