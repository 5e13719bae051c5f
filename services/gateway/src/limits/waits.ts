import { WAIT_LIMITS } from '@pf/contracts';
import type { IntentId } from '@pf/domain';
import { addressGroup, Slots } from '@pf/http';
import { count } from '@pf/runtime';
import { ApiError } from '../api-error.ts';
import type { Holder } from '../api-keys.ts';

const RETRY_AFTER_SECONDS = 5;

/** Whose request waits. */
type Waiter = Pick<Holder, 'accountId' | 'livemode'>;

/**
 * Counts the requests that wait for others at this gateway: for the receiver of a test event, or for a node that shows
 * a hash. They have a room of their own, so that they take none of what other requests need.
 */
export class Waits {
  readonly #factor: number;
  readonly #slots = new Slots();

  /** @param factor multiplies the limits of an account and an address, as it does the quotas */
  constructor(factor = 1) {
    this.#factor = factor;
  }

  /** Runs what waits for the receiver of a test event. @throws ApiError `rate_limit.exceeded` */
  test<Result>({ accountId, livemode }: Waiter, wait: () => Promise<Result>): Promise<Result> {
    const { account, test, all } = WAIT_LIMITS.tests;
    const wanted = {
      [`tests ${accountId} ${livemode}`]: this.#times(account),
      ...(!livemode && { 'tests in test mode': test }),
      tests: all,
    };
    return this.#run(wanted, 'tests', 'Too many test events wait for their receivers', wait);
  }

  /** Runs what waits for a node that shows a hash. @throws ApiError `rate_limit.exceeded` */
  look<Result>(
    { accountId, livemode }: Waiter,
    [intentId, ip]: readonly [IntentId, string | undefined],
    wait: () => Promise<Result>,
  ): Promise<Result> {
    const { address, account, test, all } = WAIT_LIMITS.looks;
    const wanted = {
      [`looks ${intentId} ${addressGroup(ip)}`]: this.#times(address),
      [`looks ${accountId} ${livemode}`]: this.#times(account),
      ...(!livemode && { 'looks in test mode': test }),
      looks: all,
    };
    return this.#run(wanted, 'looks', 'Too many hashes are being looked for', wait);
  }

  async #run<Result>(
    wanted: Readonly<Record<string, number>>,
    policy: 'tests' | 'looks',
    what: string,
    wait: () => Promise<Result>,
  ): Promise<Result> {
    const taken = this.#slots.take(wanted);
    if (typeof taken !== 'function') {
      count('payments.rate_limited', { policy });
      throw new ApiError('rate_limit.exceeded', {
        message: `${what} at this moment. Nothing was done. Retry after ${RETRY_AFTER_SECONDS} s.`,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    try {
      return await wait();
    } finally {
      taken();
    }
  }

  #times(limit: number): number {
    return Math.max(1, Math.round(limit * this.#factor));
  }
}
