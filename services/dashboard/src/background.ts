import { Places, type Logger } from '@pf/runtime';
import { DashboardError } from './dashboard-error.ts';

/** So many at once, that they leave connections to Postgres to others; and so many that wait. */
const PLACES = { atOnce: 2, waiting: 200, waitMs: 60_000 } as const;

/** Work that goes on after the response, so that the time of a response does not tell what there was to do. */
export class Background {
  readonly #log: Logger;
  readonly #places = new Places(PLACES.atOnce, PLACES.waiting);
  readonly #underWay = new Set<Promise<void>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @throws DashboardError `service.unavailable` if too much is waiting */
  run(work: () => Promise<unknown>): void {
    if (this.#underWay.size >= PLACES.atOnce + PLACES.waiting) throw new DashboardError('service.unavailable');
    const running = this.#run(work)
      .catch((error: unknown) => this.#log.error({ err: error }, 'what follows a response failed: it is not repeated'))
      .finally(() => this.#underWay.delete(running));
    this.#underWay.add(running);
  }

  /** Resolves when all of it has ended. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #run(work: () => Promise<unknown>): Promise<void> {
    if (!(await this.#places.take(PLACES.waitMs))) throw new Error('it has waited for too long');
    try {
      await work();
    } finally {
      this.#places.free();
    }
  }
}
