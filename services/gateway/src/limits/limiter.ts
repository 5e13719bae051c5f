import { KEY_QUOTAS, PAYER_ADDRESS_QUOTA, type Quota } from '@pf/contracts';
import type { KeyHolder } from '@pf/database';
import { count } from '@pf/runtime';
import type { Request, Response } from 'express';
import ipaddr from 'ipaddr.js';
import { ApiError } from '../api-error.ts';
import type { RateLimits, Standing } from './rate-limits.ts';

/** How the headers name the quota of the key, and that of an address under it. */
type PolicyName = 'key' | 'address';

/** Holds requests to the rates of their key, and tells every client how it stands (draft-ietf-httpapi-ratelimit-headers-10). */
export class Limiter {
  readonly #limits: RateLimits;
  readonly #factor: number;

  /** @param factor multiplies all quotas: for load tests, and for machines that carry more */
  constructor(limits: RateLimits, factor = 1) {
    this.#limits = limits;
    this.#factor = factor;
  }

  /**
   * Counts a request and sets the RateLimit headers of its answer. Resolves at once for most.
   * @throws ApiError `rate_limit.exceeded`
   */
  async admit(
    { keyId, plan, scope }: KeyHolder,
    { ip }: Pick<Request, 'ip'>,
    response: Pick<Response, 'setHeader'>,
  ): Promise<void> {
    const quota = this.#quota(KEY_QUOTAS[plan]);
    if (scope !== 'payer') {
      const standing = await this.#limits.count(keyId, quota);
      show(response, [['key', quota, standing]]);
      if (!standing.allowed) throw exceeded('key', standing);
      return;
    }
    // One payer who asks too much must not use up what all payers of the app share.
    const perAddress = this.#quota(PAYER_ADDRESS_QUOTA);
    const address = await this.#limits.count(`${keyId}:${addressGroup(ip)}`, perAddress);
    const standing = address.allowed ? await this.#limits.count(keyId, quota) : null;
    show(response, [
      ['address', perAddress, address],
      ['key', quota, standing],
    ]);
    if (!address.allowed) throw exceeded('address', address);
    if (standing && !standing.allowed) throw exceeded('key', standing);
  }

  #quota({ requests, windowSeconds }: Quota): Quota {
    return { requests: Math.max(1, Math.round(requests * this.#factor)), windowSeconds };
  }
}

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

function exceeded(policy: PolicyName, { retryMs }: Standing): ApiError {
  count('payments.rate_limited', { policy });
  return new ApiError('rate_limit.exceeded', { retryAfterSeconds: secondsOf(retryMs) });
}

/** All policies that apply; how the client stands with those that were asked. */
function show(
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

/** Until the whole quota is there again; for one who was refused, until the next request is taken. */
const resetSeconds = ({ requests, windowSeconds }: Quota, { allowed, left, retryMs }: Standing): number =>
  allowed ? Math.ceil(((requests - left) * windowSeconds) / requests) : secondsOf(retryMs);

/** An IPv4 address, or the /64 that an IPv6 address lies in: a subscriber has all of it. */
export function addressGroup(ip: string | undefined): string {
  if (ip === undefined || !ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  return address instanceof ipaddr.IPv6
    ? address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')
    : address.toString();
}
