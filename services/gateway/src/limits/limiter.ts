import { KEY_QUOTAS, PAYER_ADDRESS_QUOTA, PAYER_ADDRESS_SHARE, type Quota } from '@pf/contracts';
import { addressGroup } from '@pf/http';
import { count, TokenBucket } from '@pf/runtime';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../api-error.ts';
import type { Holder } from '../api-keys.ts';
import type { RateLimits, Standing } from './rate-limits.ts';

/** The names of quotas in the headers: of a key, of a client address that uses it, of a person in the dashboard. */
type PolicyName = 'key' | 'address' | 'person';
const CALLERS: Readonly<Record<PolicyName, string>> = {
  key: 'This API key',
  address: 'This address',
  person: 'This person',
};

/** Addresses with keys of payers whose share is remembered. */
const SHARES_MAX = 50_000;

/** Enforces the quotas of API keys and reports them in headers (draft-ietf-httpapi-ratelimit-headers-10). */
export class Limiter {
  readonly #limits: RateLimits;
  readonly #factor: number;
  readonly #shares = new LRUCache<string, TokenBucket>({ max: SHARES_MAX });

  /** @param factor multiplies all quotas, for load tests and for larger machines */
  constructor(limits: RateLimits, factor = 1) {
    this.#limits = limits;
    this.#factor = factor;
  }

  /**
   * Counts a request and sets the RateLimit headers of its response. Most requests need no round trip to Redis.
   * @throws ApiError `rate_limit.exceeded`
   */
  async admit(
    { keyId, plan, scope, userId }: Holder,
    { ip }: Pick<Request, 'ip'>,
    response: Pick<Response, 'setHeader'>,
  ): Promise<void> {
    const quota = this.#quota(KEY_QUOTAS[plan]);
    if (scope !== 'payer') {
      const policy = userId === undefined ? 'key' : 'person';
      const standing = await this.#limits.count(keyId, quota);
      setHeaders(response, [[policy, quota, standing]]);
      if (!standing.allowed) throw exceeded(policy, quota, standing);
      return;
    }
    // One payer must not use up the quota that all payers of the app share.
    const perAddress = this.#quota(PAYER_ADDRESS_QUOTA);
    const payer = `${keyId}:${addressGroup(ip)}`;
    const address = await this.#limits.count(payer, perAddress);
    // What others use up of the key's quota must not keep a payer from paying.
    const standing = address.allowed && !this.#isWithinShare(payer) ? await this.#limits.count(keyId, quota) : null;
    setHeaders(response, [
      ['address', perAddress, address],
      ['key', quota, standing],
    ]);
    if (!address.allowed) throw exceeded('address', perAddress, address);
    if (standing && !standing.allowed) throw exceeded('key', quota, standing);
  }

  #isWithinShare(payer: string): boolean {
    const now = performance.now();
    let share = this.#shares.get(payer);
    if (!share) this.#shares.set(payer, (share = new TokenBucket(this.#quota(PAYER_ADDRESS_SHARE), now)));
    return share.take(1, now).tokens > 0;
  }

  #quota({ requests, windowSeconds }: Quota): Quota {
    return { requests: Math.max(1, Math.round(requests * this.#factor)), windowSeconds };
  }
}

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

function exceeded(policy: PolicyName, { requests, windowSeconds }: Quota, { retryMs }: Standing): ApiError {
  count('payments.rate_limited', { policy });
  const retryAfterSeconds = secondsOf(retryMs);
  return new ApiError('rate_limit.exceeded', {
    message:
      `${CALLERS[policy]} has exceeded its rate limit of ${requests} requests in ${windowSeconds} seconds. ` +
      `Retry after ${retryAfterSeconds} s.`,
    retryAfterSeconds,
  });
}

/** Sets the headers: every policy that applies, and the standing with those that were counted. */
function setHeaders(
  response: Pick<Response, 'setHeader'>,
  policies: readonly (readonly [name: PolicyName, quota: Quota, standing: Standing | null])[],
): void {
  response.setHeader(
    'RateLimit-Policy',
    policies.map(([name, { requests, windowSeconds }]) => `"${name}";q=${requests};w=${windowSeconds}`).join(', '),
  );
  response.setHeader(
    'RateLimit',
    policies
      .flatMap(([name, quota, standing]) =>
        standing ? [`"${name}";r=${standing.left};t=${resetSeconds(quota, standing)}`] : [],
      )
      .join(', '),
  );
}

/** Seconds until the whole quota is available again; after a refusal, until the next request is allowed. */
const resetSeconds = ({ requests, windowSeconds }: Quota, { allowed, left, retryMs }: Standing): number =>
  allowed ? Math.ceil(((requests - left) * windowSeconds) / requests) : secondsOf(retryMs);
