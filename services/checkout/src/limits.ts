import { AddressBuckets, ApiError, type GatewayCapacity, Slots, slotsOfAddress } from '@pf/http';
import { count } from '@pf/runtime';

/**
 * What this process has under way at the gateway, by kind. Submits wait for nodes to show a hash, which anyone can make
 * up, and builds for the sponsor of a merchant, which anyone can be: they take no place of other requests.
 */
const CAPACITY = { requests: 128, builds: 64, submits: 64, streams: 2_000 } as const;
type Kind = keyof typeof CAPACITY;
/**
 * The places beside these, once they are taken, of addresses and merchants with nothing of the kind under way: one for
 * each. So a few addresses that take all that they may have do not shut out the others.
 */
const RESERVE = { requests: 32, builds: 16, submits: 16, streams: 200 } as const;
/** The connections for all of it. */
export const CONNECTIONS: GatewayCapacity = {
  requests: sum(['requests', 'builds', 'submits']),
  streams: sum(['streams']),
};
/** The share of one merchant, whose sponsor may hang for seconds, so that payers of the others have room. */
const MERCHANT_SHARE = { requests: 1 / 2, builds: 1 / 8, submits: 1 / 2, streams: 1 / 2 } as const;
/** The share of one address: of a shop, perhaps, whose customers all use its network. */
const ADDRESS = { requests: 32, builds: 16, submits: 16, streams: 100 } as const;
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
    const ofAddress = slotsOfAddress(ip, this.#times(ADDRESS[what]), (group) => `${what} ${group}`);
    const place = this.#slots.take({ ...ofAddress, [what]: CAPACITY[what] });
    const isFull = typeof place !== 'function' && place.full === what;
    const release = isFull ? this.#takeReserve(ip, what) : place;
    if (typeof release !== 'function') {
      count('payments.rate_limited', { policy: what === 'streams' ? 'streams' : 'address' });
      if (isFull) throw allTaken();
      throw what === 'streams'
        ? tooMany('Too many payments are followed from this address.', 10)
        : tooMany('Too many requests of this address are under way.', 1);
    }
    try {
      const share = isFull ? 1 : CAPACITY[what] * MERCHANT_SHARE[what];
      const ofOwner = this.#slots.take({ [`${what} of ${await owner()}`]: share });
      if (typeof ofOwner !== 'function') {
        count('payments.rate_limited', { policy: 'merchant' });
        throw isFull ? allTaken() : tooMany('Too many people pay this merchant at this moment.', 2);
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

  /** Only where no group of the address has anything under way, so a /48 of IPv6 has one place of it, too. */
  #takeReserve(ip: string | undefined, what: Kind): ReturnType<Slots['take']> {
    const alone = slotsOfAddress(ip, 1, (group) => `${what} ${group}`, 1);
    return this.#slots.take({ ...alone, [`reserve of ${what}`]: RESERVE[what] });
  }

  #times(limit: number): number {
    return Math.max(1, Math.round(limit * this.#factor));
  }
}

const tooMany = (what: string, seconds: number): ApiError =>
  new ApiError('rate_limit.exceeded', { message: `${what} Try again in ${seconds} s.`, retryAfterSeconds: seconds });

const allTaken = (): ApiError =>
  new ApiError('service.unavailable', { message: 'Too many people pay at this moment.' });

function sum(kinds: readonly Kind[]): number {
  return kinds.reduce((all, kind) => all + CAPACITY[kind] + RESERVE[kind], 0);
}
