import type { Quota } from '@pf/contracts';
import { LRUCache } from 'lru-cache';
import type { SharedBuckets } from './shared-buckets.ts';
import { type Taken, TokenBucket } from './token-bucket.ts';

/** A lease that lasted no longer than this was too small: the next one is twice as large. */
const SHORT_MS = 100;
/** Of a quota that a gateway holds at most: what it may lose, or let through too much. */
const LEASE_SHARE = 1 / 60;
const BUCKETS_MAX = 20_000;

/** How a caller stands with a quota after a request was counted, or refused. */
export interface Standing {
  readonly allowed: boolean;
  /** Requests that are left now, as far as this gateway knows. */
  readonly left: number;
  /** Until the next request can be taken, where this one was refused. */
  readonly retryMs: number;
}

interface Waiter {
  settle(standing: Standing): void;
}

/**
 * One bucket as this gateway sees it. It takes tokens from the shared one in leases, larger ones while requests come fast,
 * so that most requests cost no round trip; what is not used of a lease is kept for later.
 */
class LeasedBucket {
  readonly #name: string;
  readonly #quota: Quota;
  readonly #shared: SharedBuckets;
  readonly #largest: number;
  /** Counts alone while Redis is away. */
  #own: TokenBucket | null = null;
  #held = 0;
  #left: number;
  #lease = 1;
  #leasedAt = -Infinity;
  /** Before this nothing more can be had. */
  #emptyUntil = 0;
  #waiting: Waiter[] = [];
  #asking = false;

  constructor(name: string, quota: Quota, shared: SharedBuckets) {
    this.#name = name;
    this.#quota = quota;
    this.#shared = shared;
    this.#largest = Math.max(1, Math.floor(quota.requests * LEASE_SHARE));
    this.#left = quota.requests;
  }

  /** Counts one request. Does not wait where a token is held, or none can be had. */
  take(): Standing | Promise<Standing> {
    if (this.#held > 0 && this.#waiting.length === 0) {
      this.#held -= 1;
      return this.#allowed();
    }
    if (performance.now() < this.#emptyUntil) return this.#refused();
    return new Promise((settle) => {
      this.#waiting.push({ settle });
      if (!this.#asking) void this.#ask();
    });
  }

  async #ask(): Promise<void> {
    this.#asking = true;
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
    this.#asking = false;
  }

  async #take(wanted: number): Promise<Taken> {
    const taken = await this.#shared.take(this.#name, this.#quota, wanted);
    if (taken) {
      this.#own = null;
      return taken;
    }
    const now = performance.now();
    return (this.#own ??= new TokenBucket(this.#quota, now)).take(wanted, now);
  }

  #allowed(): Standing {
    return { allowed: true, left: this.#left + this.#held, retryMs: 0 };
  }

  #refused(): Standing {
    return { allowed: false, left: 0, retryMs: Math.max(1, this.#emptyUntil - performance.now()) };
  }
}

/** Counts requests against quotas by name: in Redis, for all gateways together; in this process while Redis is away. */
export class RateLimits {
  readonly #shared: SharedBuckets;
  readonly #buckets = new LRUCache<string, LeasedBucket>({ max: BUCKETS_MAX });

  constructor(shared: SharedBuckets) {
    this.#shared = shared;
  }

  /** Counts one request of `name` against `quota`. A quota that has changed, as when a plan does, is another bucket. */
  count(name: string, quota: Quota): Standing | Promise<Standing> {
    const key = `${name}:${quota.requests}:${quota.windowSeconds}`;
    let bucket = this.#buckets.get(key);
    if (!bucket) this.#buckets.set(key, (bucket = new LeasedBucket(key, quota, this.#shared)));
    return bucket.take();
  }
}
