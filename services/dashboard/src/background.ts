import { type Logger, pause, Places } from '@pf/runtime';
import { DashboardError } from './dashboard-error.ts';

/** So many at once, that they leave connections to Postgres to others; and so many that wait. */
const PLACES = { atOnce: 2, waiting: 200, waitMs: 60_000 } as const;
/** Before the second and the third try; up to half of it is added. */
const PAUSES_MS = [500, 2_000];

/** Work that goes on after the response, so that the time of a response does not tell what there was to do. */
export class Background {
  readonly #log: Logger;
  readonly #places = new Places(PLACES.atOnce, PLACES.waiting);
  readonly #underWay = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @throws DashboardError `service.unavailable` if too much is waiting */
  run(work: () => Promise<unknown>): void {
    if (this.#underWay.size >= PLACES.atOnce + PLACES.waiting) throw new DashboardError('service.unavailable');
    const running = this.#run(work)
      .catch((error: unknown) =>
        this.#log.error({ err: error }, 'what follows a response failed, also when it was repeated'),
      )
      .finally(() => this.#underWay.delete(running));
    this.#underWay.add(running);
  }

  /** Resolves when all of it has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#underWay);
  }

  async #run(work: () => Promise<unknown>): Promise<void> {
    if (!(await this.#places.take(PLACES.waitMs))) throw new Error('it has waited for too long');
    try {
      await this.#try(work);
    } finally {
      this.#places.free();
    }
  }

  /** The client does not hear of a failure, so it is tried again: Postgres may have been unavailable for a moment. */
  async #try(work: () => Promise<unknown>): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        await work();
        return;
      } catch (error) {
        const pauseMs = PAUSES_MS[tries];
        if (pauseMs === undefined || this.#closing.signal.aborted) throw error;
        this.#log.warn({ err: error }, 'what follows a response failed: it is repeated');
        await pause(pauseMs * (1 + Math.random() / 2), this.#closing.signal);
      }
    }
  }
}
