import { boundedCache, count } from '@pf/runtime';

const FIRST_MS = 10_000;
const LONGEST_MS = 10 * 60 * 1000;
const REMEMBERED_MAX = 10_000;

/**
 * How often in a row the steps of replays or catch-ups have failed here: each failure doubles the time until the step
 * is tried again, up to ten minutes. Each process counts by itself, so together they try more often at first.
 */
export class FailedSteps {
  readonly #of: 'replay' | 'catch_up';
  readonly #failures = boundedCache<string, number>(REMEMBERED_MAX);

  constructor(of: 'replay' | 'catch_up') {
    this.#of = of;
  }

  /** Counts a failure. @returns in how many milliseconds the step is tried again: at random, half of it at least */
  againMs(id: string): number {
    const failures = this.#failures.get(id) ?? 0;
    this.#failures.set(id, failures + 1);
    count('payments.deliveries.failed_steps', { of: this.#of });
    return Math.min(FIRST_MS * 2 ** failures, LONGEST_MS) * (0.5 + Math.random() / 2);
  }

  /** A step has succeeded. */
  forget(id: string): void {
    this.#failures.delete(id);
  }
}
