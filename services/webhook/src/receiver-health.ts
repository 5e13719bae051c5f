/** Failures in a row from which a URL counts as failing: a single one may be the event's. */
const FAILING_FROM = 3;
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;
/** Of so many attempts the median says whether a URL is slow: a single one may be the event's, or the network's. */
const MEDIAN_OF = 5;

/**
 * How many attempts a URL may have under way, learned from how it responds: one at first, twice as many after each
 * success, half as many after a failure. A URL that fails gets one probing attempt at a time with growing rests in
 * between, whatever its backlog is, until one succeeds. A URL is slow while most of its last attempts were. Times are
 * milliseconds by one clock.
 */
export class ReceiverHealth {
  readonly #most: number;
  /** Whether each of the last attempts was slow. */
  readonly #late: boolean[] = [];
  #atOnce = 1;
  #failures: number;
  #failedAt = Number.NEGATIVE_INFINITY;
  #restUntil = Number.NEGATIVE_INFINITY;

  /**
   * @param most attempts at once
   * @param failing whether the last attempt failed, as far as is known
   */
  constructor(most: number, failing: boolean) {
    this.#most = most;
    this.#failures = failing ? FAILING_FROM - 1 : 0;
  }

  get atOnce(): number {
    return this.#atOnce;
  }

  /** Whether its last attempt failed. */
  get failing(): boolean {
    return this.#failures > 0;
  }

  /** Whether most of its last five attempts took long, whatever became of them. */
  get slow(): boolean {
    return this.#late.filter(Boolean).length > MEDIAN_OF / 2;
  }

  /** An attempt has ended, in time or late. */
  took(late: boolean): void {
    this.#late.push(late);
    if (this.#late.length > MEDIAN_OF) this.#late.shift();
  }

  /** How much longer nothing is to be sent. */
  restMs(now: number): number {
    return Math.max(0, this.#restUntil - now);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#restUntil = Number.NEGATIVE_INFINITY;
    this.#atOnce = Math.min(this.#atOnce * 2, this.#most);
  }

  /** @param began when the attempt did: of those that were under way together, one counts */
  failed(began: number, now: number): void {
    if (began < this.#failedAt) return;
    this.#failedAt = now;
    this.#failures += 1;
    this.#atOnce = Math.ceil(this.#atOnce / 2);
    if (this.#failures < FAILING_FROM) return;
    this.#atOnce = 1;
    this.#restUntil = now + Math.min(FIRST_REST_MS * 2 ** (this.#failures - FAILING_FROM), LONGEST_REST_MS);
  }
}
