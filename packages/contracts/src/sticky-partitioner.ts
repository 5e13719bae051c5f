import { randomPartition } from './ids.ts';

/** About half of what a writer's slice takes: two or three partitions work at a time, each on many creates. */
const HOLD_MS = 10;

/**
 * Where a process puts intents that may lie in any partition: at random, but those that are made at about the same time
 * go together. A writer's cost is that of its transactions, and one with forty creates costs little more than one with
 * four; Kafka's own clients choose partitions in this way for the same reason.
 */
export class StickyPartitioner {
  readonly #partitions: number;
  readonly #clock: () => number;
  #chosen = 0;
  #until = -Infinity;

  /** @param clock monotonic milliseconds */
  constructor(partitions: number, clock: () => number = () => performance.now()) {
    this.#partitions = partitions;
    this.#clock = clock;
  }

  next(): number {
    const now = this.#clock();
    if (now >= this.#until) {
      this.#chosen = randomPartition(this.#partitions);
      this.#until = now + HOLD_MS;
    }
    return this.#chosen;
  }
}
