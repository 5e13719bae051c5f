import { type Database, type OutstandingDelivery, outstandingDeliveries, visibleDeliveries } from '@pf/database';
import { BackOff, type Logger, pause } from '@pf/runtime';

/** Jobs of one endpoint that a sweep adds at most: enough to fill all slots, whose workers find the rest themselves. */
const PER_ENDPOINT = 500;

export interface SchedulerDependencies {
  readonly database: Database;
  readonly queue: { schedule(deliveries: readonly OutstandingDelivery[]): Promise<void> };
  readonly log: Logger;
  readonly now: () => number;
  /** Pause between two sweeps. */
  readonly sweepMs: number;
  /** How far ahead of its time a delivery is scheduled; more than the pause between two sweeps. */
  readonly aheadMs: number;
  /** How long to wait until the projection shows the events of new deliveries; after it they are left to the sweeps. */
  readonly visibleWithinMs: number;
}

/**
 * Schedules the deliveries that Postgres has outstanding: new ones once their events are projected, all others by
 * sweeps.
 */
export class Scheduler {
  readonly #dependencies: SchedulerDependencies;
  readonly #stopping = new AbortController();
  readonly #announcements = new Set<Promise<void>>();
  #sweepNow = new AbortController();
  #sweeping: Promise<void> = Promise.resolve();
  #sweptAt = performance.now();

  constructor(dependencies: SchedulerDependencies) {
    this.#dependencies = dependencies;
  }

  start(): void {
    this.#sweeping = this.#sweepPeriodically();
  }

  /** Sweeps at once: Redis is available again, and may be empty. */
  sweepNow(): void {
    this.#sweepNow.abort();
  }

  /** Milliseconds since the last sweep, successful or not. */
  idleMs(): number {
    return performance.now() - this.#sweptAt;
  }

  /**
   * Schedules new deliveries as soon as the projection shows their events: no integrator receives a state that GET does
   * not return yet. Returns at once; what fails is left to the sweeps.
   */
  announce(deliveries: readonly OutstandingDelivery[]): void {
    const work = this.#scheduleVisible(deliveries)
      .catch((error: unknown) =>
        this.#dependencies.log.warn(
          { err: error, deliveries: deliveries.length },
          'new deliveries wait for the next sweep',
        ),
      )
      .finally(() => this.#announcements.delete(work));
    this.#announcements.add(work);
  }

  /** Schedules everything that is due soon. @throws if Postgres or Redis is unavailable */
  async sweep(): Promise<number> {
    const { database, queue, now, aheadMs } = this.#dependencies;
    const outstanding = await outstandingDeliveries(database, new Date(now() + aheadMs), PER_ENDPOINT);
    await queue.schedule(outstanding);
    return outstanding.length;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#sweeping, ...this.#announcements]);
  }

  async #scheduleVisible(deliveries: readonly OutstandingDelivery[]): Promise<void> {
    const { database, queue, visibleWithinMs } = this.#dependencies;
    const { signal } = this.#stopping;
    const until = performance.now() + visibleWithinMs;
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
      this.#dependencies.log.warn(
        { deliveries: waiting.length },
        'the projection lags behind the log: webhooks wait for it',
      );
  }

  async #sweepPeriodically(): Promise<void> {
    const { log, sweepMs } = this.#dependencies;
    const { signal } = this.#stopping;
    const backOff = new BackOff(200, sweepMs);
    while (!signal.aborted) {
      this.#sweepNow = new AbortController();
      const next = AbortSignal.any([signal, this.#sweepNow.signal]);
      try {
        const scheduled = await this.sweep();
        if (scheduled > 0) log.debug({ scheduled }, 'sweep done');
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
