import type { Cluster } from './cluster.ts';

interface Look {
  /** The connections of the partition's own writer. */
  readonly cluster: Pick<Cluster, 'endsAt' | 'allEndingAt'>;
  readonly partition: number;
  readonly position: bigint;
  readonly resolve: (ends: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The looks at the ends of partitions. Those of one turn are one request, over the connections of the first of them:
 * the batches of one fetch are decided together. Where that fails, each asks over its own connections, so that what
 * fails in one partition, or for one writer, stops no other.
 */
export class EndLooks {
  readonly #topic: string;
  #waiting: Look[] = [];

  /** @param topic the cluster's name of the partitions' topic */
  constructor(topic: string) {
    this.#topic = topic;
  }

  /** As `Cluster.endsAt`. */
  endsAt(cluster: Look['cluster'], partition: number, position: bigint): Promise<boolean> {
    // Not twice in one request.
    if (this.#waiting.some((look) => look.partition === partition))
      return cluster.endsAt(this.#topic, partition, position);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ cluster, partition, position, resolve, reject });
      if (this.#waiting.length === 1) void Promise.resolve().then(() => this.#ask(this.#waiting.splice(0)));
    });
  }

  async #ask(looks: readonly Look[]): Promise<void> {
    const [first] = looks;
    if (first && looks.length > 1) {
      try {
        const positions = new Map(looks.map(({ partition, position }) => [partition, position]));
        const ends = await first.cluster.allEndingAt(this.#topic, positions);
        for (const { partition, resolve } of looks) resolve(ends.has(partition));
        return;
      } catch {
        // Each gets its own failure below.
      }
    }
    for (const { cluster, partition, position, resolve, reject } of looks)
      cluster.endsAt(this.#topic, partition, position).then(resolve, reject);
  }
}
