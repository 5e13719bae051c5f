import { pause } from '@pf/runtime';

/**
 * Work on many things at once: while batches are under way, the next one gathers. So a busy process makes large
 * batches, and an idle one waits for nothing.
 */
export class Batches<Item> {
  readonly #work: (items: readonly Item[]) => Promise<void>;
  readonly #most: number;
  readonly #atOnce: number;
  readonly #everyMs: number;
  #gathered: Item[] = [];
  #working = 0;

  /**
   * @param most items in one batch
   * @param atOnce batches under way together
   * @param work must not throw
   * @param everyMs from the beginning of a batch to that of the next, for what nothing waits for: one of a few items
   *   costs as much as a large one
   */
  constructor(most: number, atOnce: number, work: (items: readonly Item[]) => Promise<void>, everyMs = 0) {
    this.#most = most;
    this.#atOnce = atOnce;
    this.#everyMs = everyMs;
    this.#work = work;
  }

  add(item: Item): void {
    this.#gathered.push(item);
    if (this.#working < this.#atOnce) void this.#go();
  }

  async #go(): Promise<void> {
    this.#working += 1;
    // What is added in the same turn belongs to the first batch.
    await Promise.resolve();
    while (this.#gathered.length > 0) {
      const began = performance.now();
      await this.#work(this.#gathered.splice(0, this.#most));
      const restMs = began + this.#everyMs - performance.now();
      if (restMs > 0) await pause(restMs);
    }
    this.#working -= 1;
  }
}
