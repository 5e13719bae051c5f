import { setTimeout as delay } from 'node:timers/promises';

/** Blocks that come by themselves, until they are held: then time is the test's. */
export class BlockFlow {
  readonly #pass: () => Promise<void>;
  readonly #everyMs: number;
  #flowing: Promise<void> = Promise.resolve();
  #held = new AbortController();

  /** @param pass lets one block pass @param everyMs between two of them */
  constructor(pass: () => Promise<void>, everyMs: number) {
    this.#pass = pass;
    this.#everyMs = everyMs;
    this.#held.abort();
  }

  start(): void {
    if (!this.#held.signal.aborted) return;
    this.#held = new AbortController();
    this.#flowing = this.#flow(this.#held.signal);
    // Whoever holds it hears of a failure.
    this.#flowing.catch(() => undefined);
  }

  /** Resolves when no block is under way. @throws what a block failed with */
  async hold(): Promise<void> {
    this.#held.abort();
    await this.#flowing;
  }

  async #flow(held: AbortSignal): Promise<void> {
    while (!held.aborted) {
      await this.#pass();
      // The chain's clock, which the test holds: no test waits for it.
      await delay(this.#everyMs);
    }
  }
}
