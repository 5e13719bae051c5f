import { WAIT_LIMITS } from '@pf/contracts';
import type { IntentId } from '@pf/domain';
import { SITE_TIMES_OF_FEW, slotsOfAddress, Slots } from '@pf/http';
import { count, KeyedPlaces } from '@pf/runtime';
import { ApiError } from '../api-error.ts';
import type { Holder } from '../api-keys.ts';

const RETRY_AFTER_SECONDS = 5;
/** How long one waits for its turn to read, and how many of an account, and of a mode. */
const READ_WAIT_MS = 3_000;
const READS_WAITING = 64;

type Policy = 'tests' | 'looks';

/** Whose request waits. */
type Waiter = Pick<Holder, 'accountId' | 'livemode' | 'userId'>;
/** How many places each name has. */
type Places = Readonly<Record<string, number>>;

interface Waiting {
  readonly waiter: Waiter;
  readonly ip: string | undefined;
  readonly ofIntent?: Places;
}

/**
 * Counts the requests that wait for others at this gateway: for the receiver of a test event, or for a node that shows
 * a hash. They have a room of their own, so that they take none of what other requests need.
 */
export class Waits {
  readonly #factor: number;
  readonly #slots = new Slots();
  readonly #reads = new KeyedPlaces(READS_WAITING);

  /** @param factor multiplies the limits of an account and an address, as it does the quotas */
  constructor(factor = 1) {
    this.#factor = factor;
  }

  /** Runs what waits for the receiver of a test event. @throws ApiError `rate_limit.exceeded` */
  test<Result>(waiter: Waiter, ip: string | undefined, wait: () => Promise<Result>): Promise<Result> {
    return this.#run('tests', { waiter, ip }, 'Too many test events wait for their receivers', wait);
  }

  /** Runs what waits for a node that shows a hash. @throws ApiError `rate_limit.exceeded` */
  look<Result>(
    waiter: Waiter,
    [intentId, ip]: readonly [IntentId, string | undefined],
    wait: () => Promise<Result>,
  ): Promise<Result> {
    const ofIntent = slotsOfAddress(
      ip,
      this.#times(WAIT_LIMITS.looks.intent),
      (group) => `${intentId} ${group}`,
      SITE_TIMES_OF_FEW,
    );
    return this.#run('looks', { waiter, ip, ofIntent }, 'Too many hashes are being looked for', wait);
  }

  /**
   * Reads from a node what is known of a hash, when it is the turn of the account: anyone can submit the hash of the
   * longest transaction there is, and what is parsed holds up whatever this gateway does.
   * @throws ApiError `rate_limit.exceeded`
   */
  read<Result>({ accountId, livemode }: Waiter, read: () => Promise<Result>): Promise<Result> {
    const { account, test, live } = WAIT_LIMITS.reads;
    const until = performance.now() + READ_WAIT_MS;
    const refuse = (): ApiError => refused('looks', 'Too many hashes are being read');
    const inTurn = <Of>(key: string, most: number, work: () => Promise<Of>): Promise<Of> =>
      this.#reads.run({ key, most, until, refuse }, work);
    return inTurn(`${accountId} ${livemode}`, account, () =>
      inTurn(livemode ? 'live' : 'test', livemode ? live : test, read),
    );
  }

  async #run<Result>(
    policy: Policy,
    { waiter: { accountId, livemode, userId }, ip, ofIntent = {} }: Waiting,
    what: string,
    wait: () => Promise<Result>,
  ): Promise<Result> {
    const { caller, account, test, all, reserve } = WAIT_LIMITS[policy];
    const callers = (most: number, name: string): Places =>
      userId === undefined
        ? slotsOfAddress(ip, this.#times(most), (group) => `${name} ${group}`, SITE_TIMES_OF_FEW)
        : { [`${name} ${userId}`]: this.#times(most) };
    const own = {
      ...ofIntent,
      ...callers(caller, policy),
      [`${policy} ${accountId} ${livemode}`]: this.#times(account),
      ...(!livemode && { [`${policy} in test mode`]: test }),
    };
    const first = this.#slots.take({ ...own, [policy]: all });
    const taken =
      typeof first === 'function' || first.full !== policy
        ? first
        : this.#slots.take({
            ...own,
            ...callers(1, `${policy} in reserve`),
            [`${policy} in reserve ${accountId}`]: 1,
            [`${policy} in reserve`]: reserve,
          });
    if (typeof taken !== 'function') throw refused(policy, what);
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

function refused(policy: Policy, what: string): ApiError {
  count('payments.rate_limited', { policy });
  return new ApiError('rate_limit.exceeded', {
    message: `${what} at this moment. Nothing was done. Retry after ${RETRY_AFTER_SECONDS} s.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
