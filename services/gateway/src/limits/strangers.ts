import { type Quota, STRANGER_QUOTA } from '@pf/contracts';
import { AddressBuckets } from '@pf/http';
import { count } from '@pf/runtime';
import { ApiError } from '../api-error.ts';

/**
 * Limits what an address may ask without a valid API key: keys that are refused, unknown paths, preflights, the
 * reference. Each gateway counts by itself, in memory, so that a refusal costs nothing.
 */
export class Strangers {
  readonly #quota: Quota;
  readonly #buckets: AddressBuckets;

  /**
   * @param factor multiplies the quota, for tests
   * @param now a clock in milliseconds that only goes forward
   */
  constructor(factor = 1, now?: () => number) {
    const { requests, windowSeconds } = STRANGER_QUOTA;
    this.#quota = { requests: Math.max(1, Math.round(requests * factor)), windowSeconds };
    this.#buckets = new AddressBuckets(this.#quota, now);
  }

  /** Counts a request from an address. @throws ApiError `rate_limit.exceeded` */
  admit(ip: string | undefined): void {
    const nextMs = this.#buckets.take(ip);
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
    this.#buckets.giveBack(ip);
  }
}
