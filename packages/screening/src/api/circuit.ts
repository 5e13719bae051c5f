/** Consecutive failures that open the circuit. */
const FAILURES = 3;
/** It stays open this long at first, twice as long after each further failure, up to the maximum. */
const OPEN_MS = 1_000;
const OPEN_MAX_MS = 5_000;
/** The longest Retry-After of a provider that is honored. */
const RETRY_AFTER_MAX_MS = 60_000;

/**
 * A circuit breaker: while a provider is unavailable, requests fail at once. After the open time one request probes it.
 */
export class Circuit {
  readonly #now: () => number;
  #failures = 0;
  #openUntil = 0;
  #probing = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** False if a request may be sent: its sender begins it, then reports the result. */
  get isOpen(): boolean {
    return this.#openUntil !== 0 && (this.#probing || this.#now() < this.#openUntil);
  }

  /** A request is sent. After the open time it is the probe. */
  begin(): void {
    this.#probing = this.#openUntil !== 0;
  }

  /** Whole seconds until the next probe, at least one. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil((this.#openUntil - this.#now()) / 1_000));
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openUntil = 0;
    this.#probing = false;
  }

  /**
   * @param retryAfterMs the provider's Retry-After: it opens the circuit at once
   * @returns true if this opened the circuit: the beginning of an outage
   */
  failed(retryAfterMs: number | null): boolean {
    const wasOpen = this.#openUntil !== 0;
    // Requests under way when the circuit opened change nothing; only the probe does.
    if (wasOpen && !this.#probing && retryAfterMs === null) return false;
    this.#probing = false;
    this.#failures += 1;
    if (retryAfterMs === null && this.#failures < FAILURES) return false;
    const growing = Math.min(OPEN_MS * 2 ** Math.max(0, this.#failures - FAILURES), OPEN_MAX_MS);
    this.#openUntil = Math.max(
      this.#openUntil,
      this.#now() + Math.max(growing, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS)),
    );
    return !wasOpen;
  }
}
