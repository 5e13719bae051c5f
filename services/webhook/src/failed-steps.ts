import { BackOff, boundedCache, count } from '@pf/runtime';

const FIRST_MS = 10_000;
const LONGEST_MS = 10 * 60 * 1000;
const REMEMBERED_MAX = 10_000;

/**
 * How often in a row the steps of replays or catch-ups have failed here: each failure doubles the time until the step
 * is tried again, up to ten minutes. Each process counts by itself, so together they try more often at first.
 */
export class FailedSteps {
  readonly #of: 'replay' | 'catch_up';
  readonly #pauses = boundedCache<string, BackOff>(REMEMBERED_MAX);

  constructor(of: 'replay' | 'catch_up') {
    this.#of = of;
  }

  /** Counts a failure. @returns in how many milliseconds the step is tried again: at random, half of it at least */
  againMs(id: string): number {
    const pauses = this.#pauses.get(id) ?? new BackOff(FIRST_MS, LONGEST_MS);
    this.#pauses.set(id, pauses);
    count('payments.deliveries.failed_steps', { of: this.#of });
    return pauses.takeMs();
  }

  /** A step has succeeded. */
  forget(id: string): void {
    this.#pauses.delete(id);
  }
}
