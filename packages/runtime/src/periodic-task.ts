import { inWork } from './metrics/blocks.ts';
import { pause } from './pause.ts';

export interface PeriodicTaskOptions {
  /** What blocks of the event loop in it are counted as. Default: nothing of its own. */
  readonly name?: string;
  /** One run. `stopping` aborts when the task is stopped. */
  readonly work: (stopping: AbortSignal) => Promise<unknown>;
  /** Between the end of a run and the next. */
  readonly pauseMs: number;
  /** Called if a run failed and the one before did not: once per outage. */
  readonly onFailure: (error: unknown) => void;
}

/** Work repeated in the background until it is stopped. A run that fails is left to the next one. */
export class PeriodicTask {
  readonly #options: PeriodicTaskOptions;
  readonly #stopping = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(options: PeriodicTaskOptions) {
    this.#options = options;
  }

  /** Begins the first run at once. */
  start(): void {
    this.#loop = this.#run(this.#stopping.signal);
  }

  /** Begins no further run. Resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #run(stopping: AbortSignal): Promise<void> {
    const { name, work, pauseMs, onFailure } = this.#options;
    let failing = false;
    while (!stopping.aborted) {
      try {
        await (name === undefined ? work(stopping) : inWork(name, () => work(stopping)));
        failing = false;
      } catch (error) {
        if (!failing) onFailure(error);
        failing = true;
      }
      await pause(pauseMs, stopping);
    }
  }
}
