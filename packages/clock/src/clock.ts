import { CLOCK_TOLERANCE_MS, type Instant } from '@pf/domain';

/**
 * The time of a process that decides or broadcasts. Which kind of time is compared with which is said in
 * docs/internals/time.md; no service reads `Date.now()` for anything that is stored or compared across processes.
 */
export interface Clock {
  /**
   * The wall clock of this process, in ms since 1970.
   * @throws ClockUnprovenError unless it is proven to be within CLOCK_TOLERANCE_MS of the references
   */
  now(): Instant;
  /** The same; null where it is not proven. */
  provenTime(): Instant | null;
  /**
   * Resolves if the clock is proven, after measuring it again where the last proof is old.
   * @throws ClockUnprovenError
   */
  prove(): Promise<void>;
}

/** The clock of this process is wrong, or could not be compared with the references. */
export class ClockUnprovenError extends Error {
  override readonly name = 'ClockUnprovenError';
  constructor(standing: string) {
    super(
      `The clock of this process is not proven to be within ${CLOCK_TOLERANCE_MS} ms of Kafka's and Postgres': ` +
        `${standing}. Check its time synchronization (docs/operations/runbooks/wrong-clock.md).`,
    );
  }
}

/** A clock that needs no proof: for tests, and tools that run beside the services. */
export const trustedClock = (now: () => Instant = Date.now): Clock => ({
  now,
  provenTime: now,
  prove: () => Promise.resolve(),
});
