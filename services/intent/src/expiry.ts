import type { LedgerStore, Overdue } from '@pf/database';
import type { Instant, IntentId } from '@pf/domain';
import type { LogReader, PartitionOwner, BatchResult } from '@pf/event-log';
import { type Logger, PeriodicTask } from '@pf/runtime';

const ROUND_MS = 1_000;
/** Intents per partition and run; the next run continues after them. */
const DUE_AT_MOST = 500;

export interface ExpiryDependencies<Context> {
  readonly owner: Pick<PartitionOwner<Context>, 'owned' | 'run'>;
  readonly ledger: Pick<LedgerStore, 'overdue'>;
  readonly reader: Pick<LogReader, 'endOffsets'>;
  readonly expire: (partition: number, ids: readonly IntentId[]) => Promise<BatchResult<Context>>;
  readonly log: Logger;
  readonly clock: () => Instant;
}

/** Expires open intents of the owned partitions once a second. */
export class Expiry<Context> {
  readonly #dependencies: ExpiryDependencies<Context>;
  readonly #rounds: PeriodicTask;
  /** Partitions whose overdue intents are still being decided. */
  readonly #waiting = new Set<number>();
  /**
   * How far the last round came in the partitions that had more. From there the next one goes on, and only behind the
   * last intent from the beginning: those that cannot expire, because they are held, keep none of the others waiting.
   */
  readonly #after = new Map<number, Overdue>();

  constructor(dependencies: ExpiryDependencies<Context>) {
    this.#dependencies = dependencies;
    this.#rounds = new PeriodicTask({
      work: () => this.look(),
      pauseMs: ROUND_MS,
      onFailure: (error) =>
        dependencies.log.warn(
          { err: error },
          'overdue intents cannot be read: nothing expires until Postgres and Kafka respond',
        ),
    });
  }

  start(): void {
    this.#rounds.start();
  }

  /** Stops looking. Expiries handed to the owner end with the owner. */
  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  /** One round. Resolves when the expiries are queued in their partitions, not when they are decided. */
  async look(): Promise<void> {
    const { owner, ledger, reader, clock } = this.#dependencies;
    const partitions = owner.owned().filter((partition) => !this.#waiting.has(partition));
    const due = await ledger.overdue(partitions, clock(), DUE_AT_MOST, this.#after);
    for (const partition of partitions) {
      const last = due.get(partition)?.[DUE_AT_MOST - 1];
      if (last) this.#after.set(partition, last);
      else this.#after.delete(partition);
    }
    if (due.size === 0) return;
    // Read after the query, so every observation that was there then comes first: a payment in time counts.
    const ends = await reader.endOffsets('chain.observations');
    for (const [partition, intents] of due)
      void this.#decide(
        partition,
        intents.map(({ id }) => id),
        ends[partition] ?? 0n,
      );
  }

  async #decide(partition: number, ids: readonly IntentId[], end: bigint): Promise<void> {
    const { owner, expire, log } = this.#dependencies;
    this.#waiting.add(partition);
    try {
      await owner.run(partition, { topic: 'chain.observations', offset: end }, () => expire(partition, ids));
    } catch (error) {
      log.error({ err: error, partition }, 'overdue intents could not be expired');
    } finally {
      this.#waiting.delete(partition);
    }
  }
}
