import { slotsOfAddress, Slots } from '@pf/http';
import { count, type Logger, pause, Places } from '@pf/runtime';
import { DashboardError } from './dashboard-error.ts';

/** So many at once, that they leave connections to Postgres to others; and so many that wait. */
const PLACES = { atOnce: 2, waiting: 200, waitMs: 60_000 } as const;
/** Of an address, so that one does not take the places of all; a /48 has 16 times as many. */
const ADDRESS_PLACES = 10;
const RETRY_AFTER_SECONDS = 10;
/** Before the second and the third try; up to half of it is added. */
const PAUSES_MS = [500, 2_000];

/** Work that goes on after the response, so that the time of a response does not tell what there was to do. */
export class Background {
  readonly #log: Logger;
  readonly #places = new Places(PLACES.atOnce, PLACES.waiting);
  readonly #slots = new Slots();
  readonly #underWay = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * @param ip of the client
   * @throws DashboardError `rate_limit.exceeded` if too much of the address is waiting, `service.unavailable` if too
   *   much is in all
   */
  run(ip: string | undefined, work: () => Promise<unknown>): void {
    const ofAddress = slotsOfAddress(ip, ADDRESS_PLACES, (group) => `address ${group}`);
    const release = this.#slots.take({ ...ofAddress, all: PLACES.atOnce + PLACES.waiting });
    if (typeof release !== 'function') throw full(release.full);
    const refuse = () => new Error('it has waited for too long');
    const running = this.#places
      .run({ waitMs: PLACES.waitMs, refuse }, () => this.#try(work))
      .catch((error: unknown) =>
        this.#log.error({ err: error }, 'what follows a response failed, also when it was repeated'),
      )
      .finally(() => {
        release();
        this.#underWay.delete(running);
      });
    this.#underWay.add(running);
  }

  /** Resolves when all of it has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#underWay);
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

function full(what: string): DashboardError {
  if (what === 'all') return new DashboardError('service.unavailable');
  count('payments.rate_limited', { policy: 'dashboard' });
  return new DashboardError('rate_limit.exceeded', {
    message: `Too many requests of this address are under way. Try again in ${RETRY_AFTER_SECONDS} s.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
