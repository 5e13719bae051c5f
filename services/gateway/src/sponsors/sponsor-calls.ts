import type { Network } from '@pf/chains/networks';
import type { Sponsor } from '@pf/database';
import type { AccountId } from '@pf/domain';
import type { Sender } from '@pf/egress';
import { Slots } from '@pf/http';
import { readAnswer, requestText, type ServiceCall } from '@pf/rpc';
import { count, KeyedPlaces, type Logger } from '@pf/runtime';
import { ApiError } from '../api-error.ts';
import { type Holder, isPayer } from '../api-keys.ts';

/** For one whole request to a sponsor. Together with a wait it is less than clients wait for a response. */
export const SPONSOR_TIMEOUT_MS = 5_000;
/** Of an answer. A transaction and its signatures take less than 4 KiB. */
export const SPONSOR_KEPT_BYTES = 16_384;

/**
 * Requests that one gateway has under way: of an account in live mode and in test mode. Of all test accounts, the first
 * of each, and beside these what they have more: a few whose sponsors hang never keep an account from its first.
 */
const UNDER_WAY = { live: 16, test: 4, firstOfTest: 32, moreOfTest: 32 } as const;
/** Requests of one account that may wait for their turn, and how long. Further ones are refused at once. */
const WAITING = 16;
const WAIT_MS = 2_000;
const RETRY_AFTER_MAX_SECONDS = 60;

interface SponsorCallsDependencies {
  /** With the timeout and size above. */
  readonly sender: Pick<Sender, 'send'>;
  readonly log: Logger;
}

/** Who asks a sponsor, and on which network. */
export interface Asking {
  readonly sponsor: Sponsor;
  readonly holder: Holder;
  readonly network: Pick<Network, 'name'>;
}

/**
 * Asks the sponsors of accounts. Each request is bounded in time and size, and goes to public addresses only. A sponsor
 * that hangs takes the places of its own account, so others never wait for it.
 */
export class SponsorCalls {
  readonly #dependencies: SponsorCallsDependencies;
  readonly #places = new KeyedPlaces(WAITING);
  readonly #firsts = new Slots();

  constructor(dependencies: SponsorCallsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * @param accept makes of the result what is wanted, or throws what `refused` returns
   * @throws ApiError 422 `sponsor.refused`, 503 `sponsor.unavailable`
   */
  async ask<T, Accepted>(
    asking: Asking,
    call: ServiceCall<T>,
    accept: (result: T) => Accepted | Promise<Accepted>,
  ): Promise<Accepted> {
    const { accountId, livemode } = asking.holder;
    const until = performance.now() + WAIT_MS;
    const refuse = () =>
      this.#unavailable(asking, 'it has too many requests of this account under way', {
        message:
          `The sponsor of ${asking.sponsor.chain} is busy with other requests of this account. ` +
          'Nothing was broadcast. Retry the request.',
      });
    const own = { key: `${accountId} ${livemode}`, most: livemode ? UNDER_WAY.live : UNDER_WAY.test, until, refuse };
    const asked = async () => this.#accepted(asking, await accept(await this.#send(asking, call)));
    // What waits for a place of its account takes none of test mode.
    return this.#places.run(own, () => (livemode ? asked() : this.#inTest(accountId, { until, refuse }, asked)));
  }

  async #inTest<Asked>(
    accountId: AccountId,
    waiting: { readonly until: number; readonly refuse: () => Error },
    ask: () => Promise<Asked>,
  ): Promise<Asked> {
    const first = this.#firsts.take({ [accountId]: 1 });
    if (typeof first !== 'function')
      return this.#places.run({ key: 'more of test', most: UNDER_WAY.moreOfTest, ...waiting }, ask);
    try {
      return await this.#places.run({ key: 'first of test', most: UNDER_WAY.firstOfTest, ...waiting }, ask);
    } finally {
      first();
    }
  }

  #accepted<Accepted>({ network }: Asking, accepted: Accepted): Accepted {
    count('payments.sponsor.requests', { network: network.name, outcome: 'answered' });
    return accepted;
  }

  async #send<T>(asking: Asking, call: ServiceCall<T>): Promise<T> {
    const { url, headers } = asking.sponsor;
    const body = Buffer.from(requestText(call));
    const sent = await this.#dependencies.sender.send(url, { ...headers, 'content-type': 'application/json' }, body);
    if (sent.kind === 'failed') throw this.#unavailable(asking, uncapitalized(sent.reason));
    if (sent.kind === 'not_sent') {
      this.#dependencies.log.error({ err: new Error(sent.message) }, 'a sponsor could not be called');
      throw this.#unavailable(asking, 'it could not be asked');
    }
    const { status, bodyStart, retryAfter } = sent;
    if (status === 429 || status >= 500)
      throw this.#unavailable(asking, `it responded ${status}`, { retryAfterSeconds: secondsIn(retryAfter) });
    const answer = readAnswer(call, bodyStart);
    switch (answer.kind) {
      case 'result':
        return answer.value;
      case 'refused':
        throw this.refused(asking, `it refused ${call.method}`, answer.message);
      case 'malformed':
        throw this.refused(asking, `it responded ${status}, without a valid result of ${call.method}`);
      default:
        return answer satisfies never;
    }
  }

  /**
   * The error for a sponsor that does not sign, or for one that was caught.
   * @param reason in our words
   * @param said in those of the sponsor, which only the account may read
   */
  refused(asking: Asking, reason: string, said?: string): ApiError {
    this.#note(asking, 'refused', reason, said);
    const shown = said === undefined || said === '' || isPayer(asking.holder) ? reason : `${reason}: ${said}`;
    return new ApiError('sponsor.refused', {
      message: `The sponsor did not sign for the fee of this transaction: ${shown}. Nothing was broadcast.`,
      details: { chain: asking.sponsor.chain, reason: shown },
    });
  }

  #unavailable(
    asking: Asking,
    reason: string,
    { message, retryAfterSeconds }: { readonly message?: string; readonly retryAfterSeconds?: number | undefined } = {},
  ): ApiError {
    this.#note(asking, 'unavailable', reason);
    return new ApiError('sponsor.unavailable', {
      ...(message !== undefined && { message }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      details: { chain: asking.sponsor.chain, reason },
    });
  }

  #note({ sponsor, holder, network }: Asking, outcome: 'refused' | 'unavailable', reason: string, said?: string): void {
    const { accountId, livemode } = holder;
    count('payments.sponsor.requests', { network: network.name, outcome });
    const { origin } = new URL(sponsor.url);
    this.#dependencies.log.warn(
      { accountId, livemode, chain: sponsor.chain, origin, outcome, reason, said },
      'a sponsor did not sign',
    );
  }
}

/** As a part of a sentence. */
const uncapitalized = (sentence: string): string =>
  `${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1).replace(/\.$/, '')}`;

/** How long it asks to be left alone; undefined where it does not say, or names a date. */
function secondsIn(retryAfter: string | null): number | undefined {
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
  return seconds === undefined ? undefined : Math.min(Math.max(seconds, 1), RETRY_AFTER_MAX_SECONDS);
}
