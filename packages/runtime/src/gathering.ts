/** How long a request keeps those behind it waiting: one that takes longer, for a lock or a lost server, does not. */
const HOLDS_BACK_MS = 25;
/** A batch of a partition has some hundred KiB at most. */
const PARTITIONS_AT_ONCE = 16;

interface InPartition {
  readonly partition: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes one request of what several partitions ask for: of one turn, and of the time that the last request takes. No
 * timer gathers them, so a partition alone waits for nothing. Each of them succeeds or fails as if it were alone: a
 * request of several that fails is repeated for each of them.
 */
export class Gathering<Item extends InPartition, Result> {
  readonly #ask: (items: readonly Item[]) => Promise<readonly Result[]>;
  #waiting: Waiting<Item, Result>[] = [];
  #turn: Promise<void> | null = null;
  /** Requests that keep others waiting. */
  #holding = 0;

  /** @param ask resolves with the results in the order of the items; where it throws, it has had no effect */
  constructor(ask: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#ask = ask;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      // Not at once: a fetch brings the batches of several partitions in one turn.
      this.#turn ??= Promise.resolve().then(() => {
        this.#turn = null;
        this.#begin();
      });
    });
  }

  #begin(): void {
    while (this.#holding === 0 && this.#waiting.length > 0) void this.#send(this.#take());
  }

  /** The next request's: each partition once. */
  #take(): readonly Waiting<Item, Result>[] {
    const taken = new Map<number, Waiting<Item, Result>>();
    this.#waiting = this.#waiting.filter((waiting) => {
      const { partition } = waiting.item;
      if (taken.has(partition) || taken.size === PARTITIONS_AT_ONCE) return true;
      taken.set(partition, waiting);
      return false;
    });
    return [...taken.values()];
  }

  async #send(waiting: readonly Waiting<Item, Result>[]): Promise<void> {
    const release = this.#hold();
    try {
      const results = await this.#ask(waiting.map(({ item }) => item));
      for (const [index, { resolve }] of waiting.entries()) resolve(results[index] as Result);
    } catch (error) {
      // Alone, so that what fails in one partition, as for a gap in its log, stops no other.
      if (waiting.length > 1) await Promise.all(waiting.map((one) => this.#send([one])));
      else for (const { reject } of waiting) reject(error);
    } finally {
      release();
    }
  }

  #hold(): () => void {
    let isHolding = true;
    this.#holding++;
    const release = (): void => {
      if (!isHolding) return;
      isHolding = false;
      this.#holding--;
      clearTimeout(timer);
      this.#begin();
    };
    const timer = setTimeout(release, HOLDS_BACK_MS);
    return release;
  }
}
