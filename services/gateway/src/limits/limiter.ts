import {
  BUILD_QUOTAS,
  CHAIN_QUOTAS,
  CHANGE_BYTES,
  CHANGE_QUOTAS,
  CREATE_QUOTAS,
  ENDPOINT_TEST_QUOTA,
  INTENT_QUOTA,
  KEY_QUOTAS,
  KEYS_AT_ONCE,
  LOOK_QUOTAS,
  NEW_ENDPOINT_QUOTA,
  PAYMENT_LINK_QUOTA,
  PAYER_ADDRESS_QUOTA,
  PAYER_ADDRESS_SHARE,
  PAYER_CHAIN_SHARE,
  type Quota,
  REPEATED_BUILD_QUOTAS,
  REPLAY_QUOTA,
  RETRY_QUOTA,
  SUBMIT_QUOTAS,
} from '@pf/contracts';
import type { IntentId, Metadata } from '@pf/domain';
import { addressGroup, sharingGroups } from '@pf/http';
import { boundedCache, count, TokenBucket } from '@pf/runtime';
import type { Request, Response } from 'express';
import { ApiError } from '../api-error.ts';
import { type Holder, isPayer } from '../api-keys.ts';
import type { Opened } from '../client-secrets.ts';
import type { RateLimits, Standing } from './rate-limits.ts';

/**
 * The names of quotas in the headers: of a key, of all keys of an account in a mode, of a payer's address, of an intent
 * or a payment link with its client secret, of a person in the dashboard.
 */
type PolicyName = 'key' | 'account' | 'address' | 'intent' | 'link' | 'person';
const CALLERS: Readonly<Record<PolicyName, string>> = {
  key: 'This API key',
  account: 'This account, with all its API keys of this mode,',
  address: 'This address',
  intent: 'This payment intent, with its client secret,',
  link: 'This payment link, with its client secret,',
  person: 'This person',
};

/** A quota as the headers name it; it has no standing where the request does not count there. */
type Shown = readonly [name: PolicyName, quota: Quota, standing: Standing | null];

/** Who asks a chain for something. */
type Asking = Pick<Holder, 'accountId' | 'livemode' | 'plan' | 'scope'>;

/** Of what costs much for one intent: of a payer's address, of all, and what of the first does not count in that. */
type IntentQuotas = Readonly<Record<'address' | 'intent' | 'share', Quota>>;

/** Addresses with a key of payers, or with an intent, whose share is remembered. */
const SHARES_MAX = 50_000;

/** Enforces the quotas of API keys and reports them in headers (draft-ietf-httpapi-ratelimit-headers-10). */
export class Limiter {
  readonly #limits: RateLimits;
  readonly #factor: number;
  readonly #shares = boundedCache<string, TokenBucket>(SHARES_MAX);

  /** @param factor multiplies all quotas, for load tests and for larger machines */
  constructor(limits: RateLimits, factor = 1) {
    this.#limits = limits;
    this.#factor = factor;
  }

  /**
   * Counts a request and sets the RateLimit headers of its response. Most requests need no round trip to Redis.
   * @throws ApiError `rate_limit.exceeded`
   */
  async admit(holder: Holder, { ip }: Pick<Request, 'ip'>, response: Pick<Response, 'setHeader'>): Promise<void> {
    const { keyId, accountId, livemode, plan, scope, userId } = holder;
    const quota = this.#quota(KEY_QUOTAS[plan]);
    if (scope === 'payer') {
      // One payer must not use up the quota that all payers of the app share, whatever the number of its keys.
      const payers = `payers ${accountId} ${livemode}`;
      const share = `${payers}:${addressGroup(ip)}`;
      const all = [
        [keyId, 'key', quota],
        [payers, 'account', atOnce(quota)],
      ] as const;
      await this.#admitPayer({ of: payers, ip, share, all }, response);
      return;
    }
    const policy = userId === undefined ? 'key' : 'person';
    const standing = await this.#limits.count(keyId, quota);
    setHeaders(response, [[policy, quota, standing]]);
    if (!standing.allowed) throw exceeded(policy, quota, standing);
    await this.#admitAccount(holder, quota, response);
  }

  /** Counts a request for all keys of the account in this mode. What payers do must not stop what its servers do. */
  async #admitAccount(
    { accountId, livemode }: Holder,
    ofKey: Quota,
    response: Pick<Response, 'setHeader'>,
  ): Promise<void> {
    const quota = atOnce(ofKey);
    const standing = await this.#limits.count(`account ${accountId} ${livemode}`, quota);
    if (standing.allowed) return;
    setHeaders(response, [['account', quota, standing]]);
    throw exceeded('account', quota, standing);
  }

  /**
   * Counts a request with a client secret or a Solana Pay token: for its intent or link, and for its address in this
   * mode. It takes nothing of the quotas of the account's keys.
   * @throws ApiError `rate_limit.exceeded`
   */
  async admitPayer(opened: Opened, { ip }: Pick<Request, 'ip'>, response: Pick<Response, 'setHeader'>): Promise<void> {
    const group = addressGroup(ip);
    const [id, policy, quota] =
      opened.access === 'payment_link_secret'
        ? ([opened.linkId, 'link', PAYMENT_LINK_QUOTA] as const)
        : ([opened.intentId, 'intent', INTENT_QUOTA] as const);
    const names = { of: `payer ${opened.livemode ? 'live' : 'test'}`, ip, share: `${id}:${group}` };
    await this.#admitPayer({ ...names, all: [[id, policy, this.#quota(quota)]] }, response);
  }

  /**
   * Counts a new payment intent or link of the account.
   * @throws ApiError `rate_limit.exceeded`
   */
  async admitCreate(holder: Pick<Holder, 'accountId' | 'livemode' | 'plan'>): Promise<void> {
    const quota = CREATE_QUOTAS[holder.plan];
    const refused = await this.#refusalOfAccount('creates', quota, holder);
    if (refused) throw tooMany('creates', 'This account has created too many payment intents today', refused);
  }

  /**
   * Counts a payment intent that a payer begins with a link of the account.
   * @throws ApiError `rate_limit.exceeded`
   */
  async admitChoice(holder: Pick<Holder, 'accountId' | 'livemode' | 'plan'>): Promise<void> {
    const quota = CREATE_QUOTAS[holder.plan];
    const refused = await this.#refusalOfAccount('choices', quota, holder);
    if (refused)
      throw tooMany('creates', "Too many payment intents were begun today with this account's links", refused);
  }

  /**
   * Counts a change of a payment intent of the account.
   * @throws ApiError `rate_limit.exceeded`
   */
  async admitChange(holder: Pick<Holder, 'accountId' | 'livemode' | 'plan'>): Promise<void> {
    const refused = await this.#refusalOfAccount('changes', CHANGE_QUOTAS[holder.plan], holder);
    if (refused) throw tooMany('changes', 'This account has changed its payment intents too often today', refused);
  }

  /**
   * Counts how large a change was that was admitted and made: however little of the metadata it names, all of it is
   * decided on, kept and sent again. What is no longer left of the quota is not owed.
   * @param metadata of the intent after the change
   */
  async countSize(holder: Pick<Holder, 'accountId' | 'livemode' | 'plan'>, metadata: Metadata | null): Promise<void> {
    const more = Math.ceil(Buffer.byteLength(JSON.stringify(metadata)) / CHANGE_BYTES) - 1;
    const countOne = () => this.#refusalOfAccount('changes', CHANGE_QUOTAS[holder.plan], holder);
    await Promise.all(Array.from({ length: more }, countOne));
  }

  /**
   * Counts a transaction that is to be built for an intent, which asks the chain's upstreams several times.
   * @throws ApiError `intent.too_many_builds`, `rate_limit.exceeded`
   */
  async admitBuild(intentId: IntentId, holder: Asking, ip: string | undefined): Promise<void> {
    const refused = await this.#refusalOf('builds', BUILD_QUOTAS, intentId, holder, ip);
    if (refused) throw tooManyBuilds(intentId, refused);
  }

  /**
   * Counts a build that is asked for again: the chain is asked whether it can still land.
   * @throws ApiError `intent.too_many_builds`, `rate_limit.exceeded`
   */
  async admitRepeatedBuild(intentId: IntentId, holder: Asking, ip: string | undefined): Promise<void> {
    const refused = await this.#refusalOf('repeated builds', REPEATED_BUILD_QUOTAS, intentId, holder, ip);
    if (refused) throw tooManyBuilds(intentId, refused);
  }

  /**
   * Counts what is submitted to an intent, before it is parsed.
   * @throws ApiError `rate_limit.exceeded`
   */
  async admitSubmit(intentId: IntentId, holder: Asking, ip: string | undefined): Promise<void> {
    const refused = await this.#refusalOf('submits', SUBMIT_QUOTAS, intentId, holder, ip);
    if (refused) throw tooMany('submits', 'Too much was submitted to this payment intent', refused);
  }

  /**
   * Counts a hash that is to be looked for, which asks the chain's upstreams several times.
   * @throws ApiError `rate_limit.exceeded`
   */
  async admitLook(intentId: IntentId, holder: Asking, ip: string | undefined): Promise<void> {
    const refused = await this.#refusalOf('looks', LOOK_QUOTAS, intentId, holder, ip);
    if (refused) throw tooMany('looks', 'Too many hashes were submitted to this payment intent', refused);
  }

  /**
   * Counts a test event of the account.
   * @throws ApiError `rate_limit.exceeded`
   */
  async admitTest(holder: Pick<Holder, 'accountId' | 'livemode'>): Promise<void> {
    const refused = await this.#refusalOfAccount('tests', ENDPOINT_TEST_QUOTA, holder);
    if (refused) throw tooMany('tests', 'Too many test events were sent', refused);
  }

  /**
   * Counts a delivery that the account sends again by hand.
   * @throws ApiError `rate_limit.exceeded`
   */
  async admitRetry(holder: Pick<Holder, 'accountId' | 'livemode'>): Promise<void> {
    const refused = await this.#refusalOfAccount('retries', RETRY_QUOTA, holder);
    if (refused) throw tooMany('retries', 'Too many deliveries were sent again. Use a replay', refused);
  }

  /**
   * Counts a replay that the account begins, also by enabling an endpoint.
   * @throws ApiError `rate_limit.exceeded`
   */
  async admitReplay(holder: Pick<Holder, 'accountId' | 'livemode'>): Promise<void> {
    const refused = await this.#refusalOfAccount('replays', REPLAY_QUOTA, holder);
    if (refused) throw tooMany('replays', 'Too many replays were begun', refused);
  }

  /**
   * Counts a new webhook endpoint of the account.
   * @throws ApiError `rate_limit.exceeded`
   */
  async admitEndpoint(holder: Pick<Holder, 'accountId' | 'livemode'>): Promise<void> {
    const refused = await this.#refusalOfAccount('endpoints', NEW_ENDPOINT_QUOTA, holder);
    if (refused) throw tooMany('endpoints', 'Too many webhook endpoints were created', refused);
  }

  /** Counts what an account does in one mode, with any of its keys. @returns where it is refused */
  async #refusalOfAccount(
    what: 'creates' | 'changes' | 'choices' | 'tests' | 'retries' | 'replays' | 'endpoints',
    quota: Quota,
    { accountId, livemode }: Pick<Holder, 'accountId' | 'livemode'>,
  ): Promise<Standing | null> {
    const standing = await this.#limits.count(`${what} ${accountId} ${livemode}`, this.#quota(quota));
    return standing.allowed ? null : standing;
  }

  /**
   * Counts what costs much for an intent: of a payer's address or of the account, and of all.
   * @returns where it is refused
   * @throws ApiError `rate_limit.exceeded` where the account, or its payers, have asked too much for all its intents
   */
  async #refusalOf(
    what: 'builds' | 'repeated builds' | 'submits' | 'looks',
    quotas: IntentQuotas,
    intentId: IntentId,
    holder: Asking,
    ip: string | undefined,
  ): Promise<Standing | null> {
    const { accountId, livemode, plan } = holder;
    const chain = `chain ${accountId} ${livemode}`;
    const quota = this.#quota(CHAIN_QUOTAS[plan]);
    if (isPayer(holder)) {
      const payer = `${what} ${intentId}:${addressGroup(ip)}`;
      const own = await this.#countAddress(`${what} ${intentId}`, ip, this.#quota(quotas.address));
      if (!own.allowed) return own;
      // An account has many intents, and many payers that are its own.
      if (!this.#isWithinShare(`${chain}:${addressGroup(ip)}`, PAYER_CHAIN_SHARE)) {
        const standing = await this.#limits.count(`${chain} payers`, atOnce(quota));
        if (!standing.allowed)
          throw tooMany('chain', 'The payers of this account ask the chains for too much at a time', standing);
      }
      // Whoever has the intent's id in a QR code must not keep others from paying.
      if (this.#isWithinShare(payer, quotas.share)) return null;
    } else {
      const standing = await this.#limits.count(chain, quota);
      if (!standing.allowed) throw tooMany('chain', 'This account asks the chains for too much at a time', standing);
    }
    const all = await this.#limits.count(`${what} ${intentId}`, this.#quota(quotas.intent));
    return all.allowed ? null : all;
  }

  /**
   * Counts for an address and for the network that it shares with others.
   * @param of what the buckets are of
   * @returns the standing of the address, or where the network has none left
   */
  async #countAddress(of: string, ip: string | undefined, { requests, windowSeconds }: Quota): Promise<Standing> {
    let first: Standing | null = null;
    for (const { group, times } of sharingGroups(ip)) {
      const standing = await this.#limits.count(`${of}:${group}`, { requests: requests * times, windowSeconds });
      first ??= standing;
      if (!standing.allowed) return standing;
    }
    if (first === null) throw new Error('every address has a group');
    return first;
  }

  /**
   * @param of what the buckets of the payer's address are of
   * @param share the name of its share
   * @param all the buckets of all payers, the smallest first
   */
  async #admitPayer(
    {
      of,
      ip,
      share,
      all,
    }: {
      readonly of: string;
      readonly ip: string | undefined;
      readonly share: string;
      readonly all: readonly (readonly [name: string, policy: PolicyName, quota: Quota])[];
    },
    response: Pick<Response, 'setHeader'>,
  ): Promise<void> {
    const perAddress = this.#quota(PAYER_ADDRESS_QUOTA);
    const own = await this.#countAddress(of, ip, perAddress);
    // What others use up must not keep a payer from paying.
    const counts = own.allowed && !this.#isWithinShare(share, PAYER_ADDRESS_SHARE);
    let shown: Shown | null = null;
    for (const [name, policy, quota] of all) {
      const standing = counts ? await this.#limits.count(name, quota) : null;
      if (shown === null || standing?.allowed === false) shown = [policy, quota, standing];
      if (standing?.allowed === false) break;
    }
    setHeaders(response, [['address', perAddress, own], ...(shown ? [shown] : [])]);
    if (!own.allowed) throw exceeded('address', perAddress, own);
    if (shown?.[2]?.allowed === false) throw exceeded(shown[0], shown[1], shown[2]);
  }

  #isWithinShare(payer: string, quota: Quota): boolean {
    const now = performance.now();
    let share = this.#shares.get(payer);
    if (!share) this.#shares.set(payer, (share = new TokenBucket(this.#quota(quota), now)));
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

/** What all keys of an account have together. @param quota of one */
const atOnce = ({ requests, windowSeconds }: Quota): Quota => ({ requests: requests * KEYS_AT_ONCE, windowSeconds });

function tooMany(
  policy: 'chain' | 'creates' | 'changes' | 'submits' | 'looks' | 'tests' | 'retries' | 'replays' | 'endpoints',
  what: string,
  { retryMs }: Standing,
): ApiError {
  count('payments.rate_limited', { policy });
  const retryAfterSeconds = secondsOf(retryMs);
  return new ApiError('rate_limit.exceeded', {
    message: `${what}. Nothing was done. Retry after ${retryAfterSeconds} s.`,
    retryAfterSeconds,
  });
}

function tooManyBuilds(intentId: IntentId, { retryMs }: Standing): ApiError {
  count('payments.rate_limited', { policy: 'builds' });
  return new ApiError('intent.too_many_builds', {
    details: { intent_id: intentId },
    retryAfterSeconds: secondsOf(retryMs),
  });
}

/** Sets the headers: every policy that applies, and the standing with those that were counted. */
function setHeaders(response: Pick<Response, 'setHeader'>, policies: readonly Shown[]): void {
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
