import { pause } from './pause.ts';

export interface PeriodicTaskOptions {
  /** What is done in each round. `stopping` aborts when no more of it is wanted. */
  readonly work: (stopping: AbortSignal) => Promise<unknown>;
  /** Between the end of a round and the next. */
  readonly pauseMs: number;
  /** Called where a round failed and the one before did not: once an outage. */
  readonly onFailure: (error: unknown) => void;
}

/** Work that is done in the background, again and again until stopped. A round that fails is left to the next one. */
export class PeriodicTask {
  readonly #parts: PeriodicTaskOptions;
  readonly #stopping = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(parts: PeriodicTaskOptions) {
    this.#parts = parts;
  }

  /** Begins the first round at once. */
  start(): void {
    this.#loop = this.#go(this.#stopping.signal);
  }

  /** Begins no more. Resolves when the round under way has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #go(stopping: AbortSignal): Promise<void> {
    const { work, pauseMs, onFailure } = this.#parts;
    let failing = false;
    while (!stopping.aborted) {
      try {
        await work(stopping);
        failing = false;
      } catch (error) {
        if (!failing) onFailure(error);
        failing = true;
      }
      await pause(pauseMs, stopping);
    }
  }
}
