import { randomPartition } from './ids.ts';

/**
 * About half the time that a writer needs for a batch: two or three partitions work at a time, each on many creates.
 */
const HOLD_MS = 10;

/**
 * Chooses the partition of intents that may be in any: at random, but the same for all intents created within a few
 * milliseconds. A writer's transaction with forty creates costs little more than one with four. Kafka's own clients
 * choose partitions in the same way (KIP-480).
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
