import type { Quota } from '@pf/contracts';
import type { SharedBuckets } from './shared-buckets.ts';
import { boundedCache, type Taken, TokenBucket } from '@pf/runtime';

/** If a lease lasted no longer than this, the next one is twice as large. */
const SHORT_MS = 100;
/** The largest share of a quota that a gateway leases: the most that it can lose, or allow too much. */
const LEASE_SHARE = 1 / 60;
const BUCKETS_MAX = 20_000;

/** The standing with a quota after a request was counted or refused. */
export interface Standing {
  readonly allowed: boolean;
  /** Requests left, as far as this gateway knows. */
  readonly left: number;
  /** If refused: milliseconds until the next request is allowed. */
  readonly retryMs: number;
}

interface Waiter {
  settle(standing: Standing): void;
}

/**
 * A gateway's view of one shared bucket. It leases tokens from the shared bucket, more at a time while requests come
 * fast, so that most requests need no round trip, and keeps the unused tokens of a lease.
 */
class LeasedBucket {
  readonly #name: string;
  readonly #quota: Quota;
  readonly #shared: SharedBuckets;
  readonly #largest: number;
  /** Used while Redis is unavailable. */
  #local: TokenBucket | null = null;
  #held = 0;
  #left: number;
  #lease = 1;
  #leasedAt = -Infinity;
  /** Until then the shared bucket is empty. */
  #emptyUntil = 0;
  #waiting: Waiter[] = [];
  #leasing = false;

  constructor(name: string, quota: Quota, shared: SharedBuckets) {
    this.#name = name;
    this.#quota = quota;
    this.#shared = shared;
    this.#largest = Math.max(1, Math.floor(quota.requests * LEASE_SHARE));
    this.#left = quota.requests;
  }

  /** Counts one request. Synchronous if a token is held, or if the shared bucket is known to be empty. */
  take(): Standing | Promise<Standing> {
    if (this.#held > 0 && this.#waiting.length === 0) {
      this.#held -= 1;
      return this.#allowed();
    }
    if (performance.now() < this.#emptyUntil) return this.#refused();
    return new Promise((settle) => {
      this.#waiting.push({ settle });
      if (!this.#leasing) void this.#leaseMore();
    });
  }

  async #leaseMore(): Promise<void> {
    this.#leasing = true;
    while (this.#waiting.length > 0) {
      const now = performance.now();
      this.#lease =
        now - this.#leasedAt < SHORT_MS
          ? Math.min(this.#lease * 2, this.#largest)
          : Math.max(1, Math.floor(this.#lease / 4));
      this.#leasedAt = now;
      const taken = await this.#take(Math.max(this.#lease, this.#waiting.length));
      this.#left = taken.left;
      this.#held += taken.tokens;
      const served = this.#waiting.splice(0, this.#held);
      this.#held -= served.length;
      for (const waiter of served) waiter.settle(this.#allowed());
      if (taken.tokens === 0) {
        this.#emptyUntil = performance.now() + taken.nextMs;
        for (const waiter of this.#waiting.splice(0)) waiter.settle(this.#refused());
      }
    }
    this.#leasing = false;
  }

  async #take(wanted: number): Promise<Taken> {
    const taken = await this.#shared.take(this.#name, this.#quota, wanted);
    if (taken) {
      this.#local = null;
      return taken;
    }
    const now = performance.now();
    return (this.#local ??= new TokenBucket(this.#quota, now)).take(wanted, now);
  }

  #allowed(): Standing {
    return { allowed: true, left: this.#left + this.#held, retryMs: 0 };
  }

  #refused(): Standing {
    return { allowed: false, left: 0, retryMs: Math.max(1, this.#emptyUntil - performance.now()) };
  }
}

/** Counts requests against named quotas: in Redis for all gateways together, or per process while it is unavailable. */
export class RateLimits {
  readonly #shared: SharedBuckets;
  readonly #buckets = boundedCache<string, LeasedBucket>(BUCKETS_MAX);

  constructor(shared: SharedBuckets) {
    this.#shared = shared;
  }

  /** Counts one request of `name` against `quota`. A changed quota, as after a change of plan, is a new bucket. */
  count(name: string, quota: Quota): Standing | Promise<Standing> {
    const key = `${name}:${quota.requests}:${quota.windowSeconds}`;
    let bucket = this.#buckets.get(key);
    if (!bucket) this.#buckets.set(key, (bucket = new LeasedBucket(key, quota, this.#shared)));
    return bucket.take();
  }
}
