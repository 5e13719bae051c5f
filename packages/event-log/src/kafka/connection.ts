import type { Kafka } from 'kafkajs';
import { type Cluster, openCluster } from './cluster.ts';
import { toLogRecord } from './record.ts';
import { asError } from '../errors.ts';
import type { Names } from '../names.ts';
import { PositionOutOfRangeError, type Topic } from '../port.ts';
import type { Fetched, LogConnection, OffsetOf } from '../transport.ts';

/** A cluster's connections, with our names of topics and groups. */
export class KafkaConnection implements LogConnection {
  readonly #cluster: Cluster;
  readonly #names: Names;

  private constructor(cluster: Cluster, names: Names) {
    this.#cluster = cluster;
    this.#names = names;
  }

  static async open(client: Kafka, names: Names): Promise<KafkaConnection> {
    return new KafkaConnection(await openCluster(client), names);
  }

  leaders(topic: Topic, partitions: readonly number[]): Promise<ReadonlyMap<string, readonly number[]>> {
    return this.#cluster.leaders(this.#names.topic(topic), partitions);
  }

  async fetch(
    nodeId: string,
    topic: Topic,
    positions: ReadonlyMap<number, bigint>,
    maxWaitMs: number,
    minBytes: number,
  ): Promise<readonly Fetched[]> {
    try {
      const answers = await this.#cluster.fetch(nodeId, this.#names.topic(topic), positions, maxWaitMs, minBytes);
      return answers.map(({ partition, messages, from, next }) => ({
        partition,
        from,
        records: messages.map((message) => toLogRecord(topic, partition, message)),
        next,
      }));
    } catch (error) {
      const partition = partitionOutOfRange(error);
      if (partition === null) throw error;
      throw new PositionOutOfRangeError(topic, partition, positions.get(partition) ?? 0n, { cause: error });
    }
  }

  offsets(topic: Topic, partitions: readonly number[], which: OffsetOf): Promise<ReadonlyMap<number, bigint>> {
    return this.#cluster.offsets(this.#names.topic(topic), partitions, which);
  }

  committed(group: string, topic: Topic, partition: number): Promise<bigint | null> {
    return this.#cluster.committed(this.#names.group(group), this.#names.topic(topic), partition);
  }

  refresh(): Promise<void> {
    return this.#cluster.refresh();
  }

  close(): Promise<void> {
    return this.#cluster.close();
  }
}

/** The partition that the library's error names; null for other errors. */
function partitionOutOfRange(thrown: unknown): number | null {
  const error = asError(thrown);
  if (error.name !== 'KafkaJSOffsetOutOfRange') return null;
  return 'partition' in error && typeof error.partition === 'number' ? error.partition : null;
}
