/** So many failures in a row open it. */
const FAILURES = 3;
/** It stays open this long at first, twice as long after each further failure, up to the maximum. */
const OPEN_MS = 1_000;
const OPEN_MAX_MS = 5_000;
/** A provider's wish to be left alone is heeded up to here. */
const ASKED_MAX_MS = 60_000;

/**
 * Remembers that a provider is away, so that those who ask learn it at once. When the time is over, one request tries.
 */
export class Circuit {
  readonly #now: () => number;
  #failures = 0;
  #openUntil = 0;
  #trying = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** True where a request may go out; whoever is told so reports how it went. */
  admits(): boolean {
    if (this.#openUntil === 0) return true;
    if (this.#trying || this.#now() < this.#openUntil) return false;
    this.#trying = true;
    return true;
  }

  /** Whole seconds until the next try, at least one. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil((this.#openUntil - this.#now()) / 1_000));
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openUntil = 0;
    this.#trying = false;
  }

  /**
   * @param askedMs how long the provider asked to be left alone: that opens it at once
   * @returns true where this opened it: the beginning of an outage
   */
  failed(askedMs: number | null): boolean {
    const wasOpen = this.#openUntil !== 0;
    // Those that were under way when it opened say nothing new; only the one that tries does.
    if (wasOpen && !this.#trying && askedMs === null) return false;
    this.#trying = false;
    this.#failures += 1;
    if (askedMs === null && this.#failures < FAILURES) return false;
    const growing = Math.min(OPEN_MS * 2 ** Math.max(0, this.#failures - FAILURES), OPEN_MAX_MS);
    this.#openUntil = Math.max(this.#openUntil, this.#now() + Math.max(growing, Math.min(askedMs ?? 0, ASKED_MAX_MS)));
    return !wasOpen;
  }
}
