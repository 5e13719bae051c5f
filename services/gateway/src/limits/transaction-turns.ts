import { count, KeyedPlaces } from '@pf/runtime';
import { ApiError } from '../api-error.ts';
import { type Holder, isPayer } from '../api-keys.ts';

/**
 * Transactions under way at one gateway, each with a connection to Postgres: of an account in one mode, of its payers,
 * and of one payment link. Live mode has six connections and test mode three, for all accounts.
 */
const UNDER_WAY = { account: 2, payers: 1, link: 1 } as const;
/** What may wait for its turn: of an account or its payers in one mode, and of one payment link. */
const WAITING = { account: 512, link: 32 } as const;
/** How long one waits, for all its turns. */
const WAIT_MS = 2_000;
const RETRY_AFTER_SECONDS = 1;

/** Whose transaction it is. */
type Writer = Pick<Holder, 'accountId' | 'livemode' | 'scope'>;

/**
 * Bounds the transactions of an account that take or wait for a connection to Postgres, so that a burst of one account,
 * or of one payer, leaves connections to the requests of others.
 */
export class TransactionTurns {
  readonly #accounts = new KeyedPlaces(WAITING.account);
  readonly #links = new KeyedPlaces(WAITING.link);

  /**
   * Runs what takes a connection for a transaction when it is the turn of the account, or of its payers.
   * @throws ApiError `rate_limit.exceeded` if its turn does not come in time; nothing was done
   */
  run<Result>(writer: Writer, work: () => Promise<Result>): Promise<Result> {
    return this.#ofAccount(writer, performance.now() + WAIT_MS, work);
  }

  /**
   * Runs what locks a payment link when it is the turn of the link, and then of the account or of its payers.
   * @throws ApiError `rate_limit.exceeded` if its turn does not come in time; nothing was done
   */
  ofLink<Result>(writer: Writer, linkId: string, work: () => Promise<Result>): Promise<Result> {
    const until = performance.now() + WAIT_MS;
    const refuse = (): ApiError => refused('this payment link');
    return this.#links.run({ key: linkId, most: UNDER_WAY.link, until, refuse }, () =>
      this.#ofAccount(writer, until, work),
    );
  }

  #ofAccount<Result>(writer: Writer, until: number, work: () => Promise<Result>): Promise<Result> {
    const who = isPayer(writer) ? 'payers' : 'account';
    const key = `${who} ${writer.accountId} ${writer.livemode}`;
    const refuse = (): ApiError => refused(who === 'payers' ? 'the payers of this account' : 'this account');
    return this.#accounts.run({ key, most: UNDER_WAY[who], until, refuse }, work);
  }
}

function refused(whose: string): ApiError {
  count('payments.rate_limited', { policy: 'transactions' });
  return new ApiError('rate_limit.exceeded', {
    message: `Too many changes of ${whose} are in progress. Nothing was done. Retry after ${RETRY_AFTER_SECONDS} s.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
