import type { Quota } from '@pf/contracts';

/** What was taken of a bucket, and how it stands after that. */
export interface Taken {
  /** At most as many as were wanted. */
  readonly tokens: number;
  /** Whole tokens that are left in the bucket. */
  readonly left: number;
  /** Until there is one more than `left`, milliseconds. */
  readonly nextMs: number;
}

/** A token bucket in this process. The clock comes with each call. */
export class TokenBucket {
  readonly #quota: Quota;
  #level: number;
  #at: number;

  /** Full. @param now milliseconds, of any clock that does not go back */
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
}
