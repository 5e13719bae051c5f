import { type Database, outstandingLanes, type Wake } from '@pf/database';
import { BackOff, inWork, type Logger, pause } from '@pf/runtime';

export interface SweeperDependencies {
  readonly database: Database;
  /** Wakes lanes at their times. Must neither throw nor be waited for longer than a sweep takes. */
  readonly wake: (wakes: readonly Wake[]) => Promise<void>;
  readonly log: Logger;
  readonly now: () => number;
  /** Pause between two sweeps. */
  readonly pauseMs: number;
  /** How far ahead of its time a lane is woken; more than the pause between two sweeps. */
  readonly aheadMs: number;
}

/**
 * Wakes the lanes of everything that Postgres has outstanding: what is to be tried again, and whatever else was
 * forgotten.
 */
export class Sweeper {
  readonly #dependencies: SweeperDependencies;
  readonly #stopping = new AbortController();
  #now = new AbortController();
  #sweeping: Promise<void> = Promise.resolve();
  #sweptAt = performance.now();

  constructor(dependencies: SweeperDependencies) {
    this.#dependencies = dependencies;
  }

  start(): void {
    this.#sweeping = this.#sweepPeriodically();
  }

  /** Sweeps at once: Redis is available again, and may be empty. */
  sweepNow(): void {
    this.#now.abort();
  }

  /** Milliseconds since the last sweep, successful or not. */
  idleMs(): number {
    return performance.now() - this.#sweptAt;
  }

  /** Wakes everything that is due soon. @throws if Postgres is unavailable */
  async sweep(): Promise<number> {
    return inWork('sweep', () => this.#sweep());
  }

  async #sweep(): Promise<number> {
    const { database, wake, now, aheadMs } = this.#dependencies;
    const lanes = await outstandingLanes(database, new Date(now() + aheadMs));
    await wake(lanes);
    return lanes.length;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#sweeping;
  }

  async #sweepPeriodically(): Promise<void> {
    const { log, pauseMs } = this.#dependencies;
    const { signal } = this.#stopping;
    const backOff = new BackOff(200, pauseMs);
    while (!signal.aborted) {
      this.#now = new AbortController();
      const next = AbortSignal.any([signal, this.#now.signal]);
      try {
        const lanes = await this.sweep();
        if (lanes > 0) log.debug({ lanes }, 'sweep done');
        backOff.reset();
        this.#sweptAt = performance.now();
        await pause(pauseMs, next);
      } catch (error) {
        log.warn({ err: error }, 'outstanding deliveries cannot be read');
        this.#sweptAt = performance.now();
        await backOff.wait(next);
      }
    }
  }
}
