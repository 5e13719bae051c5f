import { count, KeyedPlaces } from '@pf/runtime';
import { ApiError } from '../api-error.ts';

/** What may wait for its turn at one payment link. */
const WAITING = 32;
/** How long one waits. */
const WAIT_MS = 2_000;
const RETRY_AFTER_SECONDS = 1;

/**
 * Has what locks a payment link come one at a time at one gateway: what waits for the lock would wait with a connection
 * to Postgres, of the few that the payers of its account have.
 */
export class LinkTurns {
  readonly #links = new KeyedPlaces(WAITING);

  /**
   * Runs what locks a payment link when it is its turn.
   * @throws ApiError `rate_limit.exceeded` if its turn does not come in time; nothing was done
   */
  run<Result>(linkId: string, work: () => Promise<Result>): Promise<Result> {
    return this.#links.run({ key: linkId, most: 1, until: performance.now() + WAIT_MS, refuse: refused }, work);
  }
}

function refused(): ApiError {
  count('payments.rate_limited', { policy: 'transactions' });
  return new ApiError('rate_limit.exceeded', {
    message:
      'Too many changes of this payment link are in progress. Nothing was done. ' +
      `Retry after ${RETRY_AFTER_SECONDS} s.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
