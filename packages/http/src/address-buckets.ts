import type { Quota } from '@pf/contracts';
import { boundedCache, TokenBucket } from '@pf/runtime';
import { sharingGroups } from './address-group.ts';

/** Addresses that are remembered. With more at once, those that were quiet longest begin again with a full bucket. */
const ADDRESSES_MAX = 50_000;

/** The buckets of addresses in this process, and of the networks that addresses share with others. */
export class AddressBuckets {
  readonly #quota: Quota;
  readonly #buckets = boundedCache<string, TokenBucket>(ADDRESSES_MAX);
  readonly #now: () => number;

  /**
   * @param quota of one address
   * @param now a clock in milliseconds that only goes forward
   */
  constructor(quota: Quota, now: () => number = () => performance.now()) {
    this.#quota = quota;
    this.#now = now;
  }

  /** Counts a request. @returns null where it is admitted, else after how many milliseconds one is */
  take(ip: string | undefined): number | null {
    const now = this.#now();
    for (const bucket of this.#bucketsOf(ip, now)) {
      const { tokens, nextMs } = bucket.take(1, now);
      if (tokens === 0) return nextMs;
    }
    return null;
  }

  /** Uncounts a request that was admitted. */
  giveBack(ip: string | undefined): void {
    for (const bucket of this.#bucketsOf(ip, this.#now())) bucket.giveBack(1);
  }

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
