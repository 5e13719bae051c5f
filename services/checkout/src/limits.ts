import { AddressBuckets, ApiError, type GatewayCapacity, sharingGroups, Slots } from '@pf/http';
import { count } from '@pf/runtime';

/**
 * What this process has under way at the gateway, by kind. Submits wait for nodes to show a hash, which anyone can make
 * up: they take no place of other requests.
 */
const CAPACITY = { requests: 128, submits: 64, streams: 2_000 } as const;
type Kind = keyof typeof CAPACITY;
/** The connections for it. */
export const CONNECTIONS: GatewayCapacity = {
  requests: CAPACITY.requests + CAPACITY.submits,
  streams: CAPACITY.streams,
};
/** The share of one merchant, whose sponsor may hang, so that payers of the others have room. */
const MERCHANT_SHARE = 1 / 2;
/** The share of one address: of a shop, perhaps, whose customers all use its network. */
const ADDRESS = { requests: 32, submits: 16, streams: 100 } as const;
/** Any requests of one address; pages and their files among them. */
const QUOTA = { requests: 600, windowSeconds: 60 } as const;

/** Limits what an address may ask of this process, and have under way. The gateway's own limits hold, too. */
export class Limits {
  readonly #factor: number;
  readonly #slots = new Slots();
  readonly #buckets: AddressBuckets;

  /** @param factor multiplies the limits of an address, for tests */
  constructor(factor = 1) {
    this.#factor = factor;
    this.#buckets = new AddressBuckets({ ...QUOTA, requests: this.#times(QUOTA.requests) });
  }

  /** Counts a request. @throws ApiError `rate_limit.exceeded` */
  admit(ip: string | undefined): void {
    const nextMs = this.#buckets.take(ip);
    if (nextMs === null) return;
    count('payments.rate_limited', { policy: 'address' });
    throw tooMany('Too many requests come from this address.', Math.max(1, Math.ceil(nextMs / 1_000)));
  }

  /**
   * Counts what is under way at the gateway until the returned function is called.
   * @param owner finds out whose payment it is: a look-up, which has its turn, too
   * @throws ApiError `rate_limit.exceeded` where the address or the owner has its most, `service.unavailable` where the
   *   process has
   */
  async begin(ip: string | undefined, owner: () => Promise<string>, what: Kind): Promise<() => void> {
    const ofAddress = sharingGroups(ip).map(({ group, times }): [string, number] => [
      `${what} ${group}`,
      this.#times(ADDRESS[what]) * times,
    ]);
    const release = this.#slots.take({ ...Object.fromEntries(ofAddress), [what]: CAPACITY[what] });
    if (typeof release !== 'function') {
      count('payments.rate_limited', { policy: what === 'streams' ? 'streams' : 'address' });
      if (release.full === what)
        throw new ApiError('service.unavailable', { message: 'Too many people pay at this moment.' });
      throw what === 'streams'
        ? tooMany('Too many payments are followed from this address.', 10)
        : tooMany('Too many requests of this address are under way.', 1);
    }
    try {
      const ofOwner = this.#slots.take({ [`${what} of ${await owner()}`]: CAPACITY[what] * MERCHANT_SHARE });
      if (typeof ofOwner !== 'function') {
        count('payments.rate_limited', { policy: 'merchant' });
        throw tooMany('Too many people pay this merchant at this moment.', 2);
      }
      return () => {
        ofOwner();
        release();
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  #times(limit: number): number {
    return Math.max(1, Math.round(limit * this.#factor));
  }
}

const tooMany = (what: string, seconds: number): ApiError =>
  new ApiError('rate_limit.exceeded', { message: `${what} Try again in ${seconds} s.`, retryAfterSeconds: seconds });
