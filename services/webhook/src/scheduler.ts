import { type Database, type OutstandingDelivery, outstandingDeliveries, visibleDeliveries } from '@pf/database';
import { BackOff, type Logger, pause } from '@pf/runtime';

/** The jobs of one URL that a sweep adds at most: enough for all workers' lanes, which find the rest themselves. */
const PER_ENDPOINT = 500;

export interface SchedulerDependencies {
  readonly database: Database;
  readonly queue: { schedule(deliveries: readonly OutstandingDelivery[]): Promise<void> };
  readonly log: Logger;
  readonly now: () => number;
  /** Between two sweeps. */
  readonly sweepMs: number;
  /** How far ahead of its time a delivery is scheduled; more than the pause between two sweeps. */
  readonly aheadMs: number;
  /** How long the projection is asked for the events of new deliveries; after it they are left to the sweeps. */
  readonly patienceMs: number;
}

/** Brings what Postgres says must be sent into the queue: new deliveries when their events can be seen, all else by sweeps. */
export class Scheduler {
  readonly #parts: SchedulerDependencies;
  readonly #stopping = new AbortController();
  readonly #announced = new Set<Promise<void>>();
  #hurry = new AbortController();
  #sweeping: Promise<void> = Promise.resolve();
  #sweptAt = performance.now();

  constructor(parts: SchedulerDependencies) {
    this.#parts = parts;
  }

  start(): void {
    this.#sweeping = this.#sweepAgainAndAgain();
  }

  /** Sweeps now, not at the end of the pause: Redis is back, and may be empty. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** Milliseconds since a sweep was last done or tried. */
  idleMs(): number {
    return performance.now() - this.#sweptAt;
  }

  /**
   * Schedules new deliveries as soon as the projection shows their events: no integrator hears of a state that
   * GET does not show yet. Returns at once; what goes wrong is left to the sweeps.
   */
  announce(deliveries: readonly OutstandingDelivery[]): void {
    const work = this.#scheduleVisible(deliveries)
      .catch((error: unknown) =>
        this.#parts.log.warn({ err: error, deliveries: deliveries.length }, 'new deliveries wait for the next sweep'),
      )
      .finally(() => this.#announced.delete(work));
    this.#announced.add(work);
  }

  /** Schedules everything that is due soon. @throws where Postgres or Redis is away */
  async sweep(): Promise<number> {
    const { database, queue, now, aheadMs } = this.#parts;
    const outstanding = await outstandingDeliveries(database, new Date(now() + aheadMs), PER_ENDPOINT);
    await queue.schedule(outstanding);
    return outstanding.length;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#sweeping, ...this.#announced]);
  }

  async #scheduleVisible(deliveries: readonly OutstandingDelivery[]): Promise<void> {
    const { database, queue, patienceMs } = this.#parts;
    const { signal } = this.#stopping;
    const until = performance.now() + patienceMs;
    const backOff = new BackOff(20, 1_000);
    let waiting = deliveries;
    while (waiting.length > 0 && !signal.aborted && performance.now() < until) {
      const visible = await visibleDeliveries(
        database,
        waiting.map(({ id }) => id),
      );
      await queue.schedule(waiting.filter(({ id }) => visible.has(id)));
      waiting = waiting.filter(({ id }) => !visible.has(id));
      if (waiting.length > 0) await backOff.wait(signal);
    }
    if (waiting.length > 0 && !signal.aborted)
      this.#parts.log.warn({ deliveries: waiting.length }, 'the projection lags behind the log: webhooks wait for it');
  }

  async #sweepAgainAndAgain(): Promise<void> {
    const { log, sweepMs } = this.#parts;
    const { signal } = this.#stopping;
    const backOff = new BackOff(200, sweepMs);
    while (!signal.aborted) {
      this.#hurry = new AbortController();
      const next = AbortSignal.any([signal, this.#hurry.signal]);
      try {
        const scheduled = await this.sweep();
        if (scheduled > 0) log.debug({ scheduled }, 'swept');
        backOff.reset();
        this.#sweptAt = performance.now();
        await pause(sweepMs, next);
      } catch (error) {
        log.warn({ err: error }, 'outstanding deliveries could not be scheduled');
        this.#sweptAt = performance.now();
        await backOff.wait(next);
      }
    }
  }
}
