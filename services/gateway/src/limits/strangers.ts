import { type Quota, STRANGER_QUOTA } from '@pf/contracts';
import { sharingGroups } from '@pf/http';
import { boundedCache, count, TokenBucket } from '@pf/runtime';
import { ApiError } from '../api-error.ts';

/** Addresses that are remembered. With more at once, those that were quiet longest begin again with a full bucket. */
const ADDRESSES_MAX = 50_000;

/**
 * Limits what an address may ask without a valid API key: keys that are refused, unknown paths, preflights, the
 * reference. Each gateway counts by itself, in memory, so that a refusal costs nothing.
 */
export class Strangers {
  readonly #quota: Quota;
  readonly #buckets = boundedCache<string, TokenBucket>(ADDRESSES_MAX);
  readonly #now: () => number;

  /**
   * @param factor multiplies the quota, for tests
   * @param now a clock in milliseconds that only goes forward
   */
  constructor(factor = 1, now: () => number = () => performance.now()) {
    this.#now = now;
    const { requests, windowSeconds } = STRANGER_QUOTA;
    this.#quota = { requests: Math.max(1, Math.round(requests * factor)), windowSeconds };
  }

  /** Counts a request from an address. @throws ApiError `rate_limit.exceeded` */
  admit(ip: string | undefined): void {
    const now = this.#now();
    const nextMs = this.#take(ip, now);
    if (nextMs === null) return;
    count('payments.rate_limited', { policy: 'stranger' });
    const seconds = Math.max(1, Math.ceil(nextMs / 1_000));
    const { requests, windowSeconds } = this.#quota;
    throw new ApiError('rate_limit.exceeded', {
      message:
        `This address has made more than ${requests} requests without a valid API key in ${windowSeconds} seconds. ` +
        `Check the key, and retry after ${seconds} s.`,
      retryAfterSeconds: seconds,
    });
  }

  /** Uncounts a request whose key was found to be valid. */
  acquit(ip: string | undefined): void {
    for (const bucket of this.#bucketsOf(ip, this.#now())) bucket.giveBack(1);
  }

  /** @returns null if every bucket had one, else milliseconds until the first without one has */
  #take(ip: string | undefined, now: number): number | null {
    for (const bucket of this.#bucketsOf(ip, now)) {
      const { tokens, nextMs } = bucket.take(1, now);
      if (tokens === 0) return nextMs;
    }
    return null;
  }

  /** Of the address, and of the network that it shares with others. */
  *#bucketsOf(ip: string | undefined, now: number): Generator<TokenBucket> {
    const { requests, windowSeconds } = this.#quota;
    for (const { group, times } of sharingGroups(ip)) {
      let bucket = this.#buckets.get(group);
      if (!bucket) {
        bucket = new TokenBucket({ requests: requests * times, windowSeconds }, now);
        this.#buckets.set(group, bucket);
      }
      yield bucket;
    }
  }
}
