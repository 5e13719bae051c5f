/** `requests` at once, refilled evenly within `windowSeconds`. */
interface Quota {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** The tokens taken from a bucket, and its level afterwards. */
export interface Taken {
  /** At most as many as were requested. */
  readonly tokens: number;
  /** Whole tokens left in the bucket. */
  readonly left: number;
  /** Milliseconds until the bucket has one more token than `left`. */
  readonly nextMs: number;
}

/** A token bucket in memory. The caller passes the time. */
export class TokenBucket {
  readonly #quota: Quota;
  #level: number;
  #at: number;

  /** A full bucket. @param now milliseconds of any monotonic clock */
  constructor(quota: Quota, now: number) {
    this.#quota = quota;
    this.#level = quota.requests;
    this.#at = now;
  }

  take(wanted: number, now: number): Taken {
    const { requests, windowSeconds } = this.#quota;
    const perMs = requests / (windowSeconds * 1_000);
    this.#level = Math.min(requests, this.#level + Math.max(0, now - this.#at) * perMs);
    this.#at = now;
    const tokens = Math.min(wanted, Math.floor(this.#level));
    this.#level -= tokens;
    const left = Math.floor(this.#level);
    return { tokens, left, nextMs: (left + 1 - this.#level) / perMs };
  }

  /** Returns tokens that were taken and not needed. */
  giveBack(tokens: number): void {
    this.#level = Math.min(this.#quota.requests, this.#level + tokens);
  }
}
