import type { IntentStates } from '@pf/database';
import type { Instant, IntentId } from '@pf/domain';
import type { LogReader, PartitionOwner, BatchResult } from '@pf/event-log';
import { type Logger, PeriodicTask } from '@pf/runtime';

const ROUND_MS = 1_000;
/** Of one partition and round: what more is due waits a second. */
const DUE_AT_MOST = 500;

export interface ExpiryDependencies<Context> {
  readonly owner: Pick<PartitionOwner<Context>, 'owned' | 'run'>;
  readonly states: Pick<IntentStates, 'overdue'>;
  readonly reader: Pick<LogReader, 'endOffsets'>;
  readonly expire: (partition: number, ids: readonly IntentId[]) => Promise<BatchResult<Context>>;
  readonly log: Logger;
  readonly clock: () => Instant;
}

/** Looks once a second for open intents of the partitions owned here whose time has run out. */
export class Expiry<Context> {
  readonly #parts: ExpiryDependencies<Context>;
  readonly #rounds: PeriodicTask;
  /** Partitions whose last finds are still waiting to be decided. */
  readonly #waiting = new Set<number>();

  constructor(parts: ExpiryDependencies<Context>) {
    this.#parts = parts;
    // Postgres or Kafka is away: nothing expires until they are back.
    this.#rounds = new PeriodicTask({
      work: () => this.look(),
      pauseMs: ROUND_MS,
      onFailure: (error) => parts.log.warn({ err: error }, 'expiry cannot look'),
    });
  }

  start(): void {
    this.#rounds.start();
  }

  /** Looks no more. What has been handed to the owner ends with the owner. */
  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  /** One round. Resolves when the finds are in their partitions' chains, not when they are decided. */
  async look(): Promise<void> {
    const { owner, states, reader, clock } = this.#parts;
    const partitions = owner.owned().filter((partition) => !this.#waiting.has(partition));
    const due = await states.overdue(partitions, clock(), DUE_AT_MOST);
    if (due.size === 0) return;
    // Read after the look: every observation that was there then is below. Who paid in time is paid in time.
    const ends = await reader.endOffsets('chain.observations');
    for (const [partition, ids] of due) void this.#decide(partition, ids, ends[partition] ?? 0n);
  }

  async #decide(partition: number, ids: readonly IntentId[], end: bigint): Promise<void> {
    const { owner, expire, log } = this.#parts;
    this.#waiting.add(partition);
    try {
      await owner.run(partition, { topic: 'chain.observations', offset: end }, () => expire(partition, ids));
    } catch (error) {
      log.error({ err: error, partition }, 'what is overdue could not be decided');
    } finally {
      this.#waiting.delete(partition);
    }
  }
}
