import type { PartitionOwner } from '@pf/event-log';
import { type Logger, PeriodicTask } from '@pf/runtime';

const ROUND_MS = 2_000;

export interface IdlePartitionsDependencies {
  readonly owner: Pick<PartitionOwner<unknown>, 'owned' | 'check'>;
  readonly log: Logger;
}

/**
 * Notices also in a partition without input that the database was set back, or that the last transaction hangs. Until
 * it is repaired, acknowledged intents are missing for readers, and webhooks and watchers wait.
 */
export class IdlePartitions {
  readonly #owner: IdlePartitionsDependencies['owner'];
  readonly #rounds: PeriodicTask;
  readonly #waiting = new Set<number>();

  constructor({ owner, log }: IdlePartitionsDependencies) {
    this.#owner = owner;
    this.#rounds = new PeriodicTask({
      work: async () => this.look(),
      pauseMs: ROUND_MS,
      onFailure: (error) => log.warn({ err: error }, 'the owned partitions could not be compared'),
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
    for (const partition of this.#owner.owned()) {
      if (this.#waiting.has(partition)) continue;
      this.#waiting.add(partition);
      void this.#owner.check(partition).finally(() => this.#waiting.delete(partition));
    }
  }
}
