/**
 * Work on many things at once: while one batch is under way, the next one gathers. So a busy process makes large
 * batches, and an idle one waits for nothing.
 */
export class Batches<Item> {
  readonly #work: (items: readonly Item[]) => Promise<void>;
  readonly #most: number;
  #gathered: Item[] = [];
  #working = false;

  /**
   * @param most items in one batch
   * @param work must not throw
   */
  constructor(most: number, work: (items: readonly Item[]) => Promise<void>) {
    this.#most = most;
    this.#work = work;
  }

  add(item: Item): void {
    this.#gathered.push(item);
    if (!this.#working) void this.#go();
  }

  async #go(): Promise<void> {
    this.#working = true;
    // What is added in the same turn belongs to the first batch.
    await Promise.resolve();
    while (this.#gathered.length > 0) await this.#work(this.#gathered.splice(0, this.#most));
    this.#working = false;
  }
}
