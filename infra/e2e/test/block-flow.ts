import { setTimeout as delay } from 'node:timers/promises';

/** Produces blocks in the background until a test holds the flow and produces them itself. */
export class BlockFlow {
  readonly #pass: () => Promise<void>;
  readonly #everyMs: number;
  #flowing: Promise<void> = Promise.resolve();
  #held = new AbortController();

  /** @param pass produces one block @param everyMs ms between blocks */
  constructor(pass: () => Promise<void>, everyMs: number) {
    this.#pass = pass;
    this.#everyMs = everyMs;
    this.#held.abort();
  }

  start(): void {
    if (!this.#held.signal.aborted) return;
    this.#held = new AbortController();
    this.#flowing = this.#flow(this.#held.signal);
    // hold() reports a failure; this only prevents an unhandled rejection.
    this.#flowing.catch(() => undefined);
  }

  /** Resolves when no block is being produced. @throws the error of a block that failed */
  async hold(): Promise<void> {
    this.#held.abort();
    await this.#flowing;
  }

  async #flow(held: AbortSignal): Promise<void> {
    while (!held.aborted) {
      await this.#pass();
      // This is the chain's clock: no test waits for it.
      await delay(this.#everyMs);
    }
  }
}
