import type { Instant } from '@pf/domain';
import type { Clock } from './clock.ts';

/** The times by which a batch is decided. */
export interface BatchTimes {
  /**
   * Event time: stamped on the events. It never goes back within a partition, so it stands still while an earlier
   * owner's clock was ahead.
   */
  readonly at: Instant;
  /** The owner's clock: what commands are too old for, and which intents are due. Never later than `at`. */
  readonly clock: Instant;
}

/** The event time of the partitions that one process owns. */
export class PartitionTimes {
  readonly #clock: Clock;
  /** The last time stamped in each owned partition. */
  readonly #last = new Map<number, Instant>();
  readonly #ahead = new Map<number, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** By how many ms each partition's event time was ahead of the clock at its last batch. */
  get ahead(): ReadonlyMap<number, number> {
    return this.#ahead;
  }

  /** The partition was acquired. @param last the last event time in its log */
  begin(partition: number, last: Instant): void {
    this.#last.set(partition, last);
    this.#note(partition, last, this.#clock.now());
  }

  /** The partition was lost. */
  end(partition: number): void {
    this.#last.delete(partition);
    this.#ahead.delete(partition);
  }

  /** The times of the next batch. @throws ClockUnprovenError: nothing is stamped */
  next(partition: number): BatchTimes {
    const clock = this.#clock.now();
    const at = Math.max(clock, this.#last.get(partition) ?? 0);
    this.#last.set(partition, at);
    this.#note(partition, at, clock);
    return { at, clock };
  }

  #note(partition: number, at: Instant, clock: Instant): void {
    this.#ahead.set(partition, Math.max(0, at - clock));
  }
}
