import type { BatchResult, PartitionOwner } from '@pf/event-log';
import { type Logger, PeriodicTask } from '@pf/runtime';

const ROUND_MS = 2_000;

export interface IdlePartitionsDependencies<Context> {
  readonly owner: Pick<PartitionOwner<Context>, 'owned' | 'run'>;
  /** Decides nothing on the partition's projection: the owner compares its position all the same. */
  readonly decideNothing: (partition: number) => Promise<BatchResult<Context>>;
  readonly log: Logger;
}

/**
 * Notices a database that was set back also in a partition without input: until it is caught up from the log,
 * acknowledged intents are missing for readers, and their webhooks wait.
 */
export class IdlePartitions<Context> {
  readonly #dependencies: IdlePartitionsDependencies<Context>;
  readonly #rounds: PeriodicTask;
  readonly #waiting = new Set<number>();

  constructor(dependencies: IdlePartitionsDependencies<Context>) {
    this.#dependencies = dependencies;
    this.#rounds = new PeriodicTask({
      work: async () => this.look(),
      pauseMs: ROUND_MS,
      onFailure: (error) => dependencies.log.warn({ err: error }, 'the owned partitions could not be compared'),
    });
  }

  start(): void {
    this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  /** One round: queued in the partitions, behind their input. */
  look(): void {
    const { owner } = this.#dependencies;
    for (const partition of owner.owned()) if (!this.#waiting.has(partition)) void this.#compare(partition);
  }

  async #compare(partition: number): Promise<void> {
    const { owner, decideNothing, log } = this.#dependencies;
    this.#waiting.add(partition);
    try {
      await owner.run(partition, null, () => decideNothing(partition));
    } catch (error) {
      log.warn({ err: error, partition }, 'a partition could not be compared with its projection: the next round does');
    } finally {
      this.#waiting.delete(partition);
    }
  }
}
