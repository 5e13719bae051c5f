import { type Access, type AccessRules, allows, isApiKey } from '@pf/contracts';
import { type Database, findKeyHolder, hashApiKey, type KeyHolder } from '@pf/database';
import type { AccountId, IntentId } from '@pf/domain';
import { readPass } from '@pf/http';
import { boundedCache, Places } from '@pf/runtime';
import type { LRUCache } from 'lru-cache';
import { ApiError } from './api-error.ts';
import type { Strangers } from './limits/strangers.ts';

/**
 * With the 15 s between two checks of an open stream it stays below the 30 s within which a revocation takes effect.
 */
const KNOWN_MS = 10_000;
/** Short, so that a key that was tried before it was created works soon after. */
const UNKNOWN_MS = 2_000;
/** Hashes of keys that were valid: they are no guesses. */
const PROVEN_MAX = 50_000;
/** Look-ups of other keys at a time, and those that wait for their turn. */
const UNPROVEN = { atOnce: 2, waiting: 100, waitMs: 2_000 } as const;
/** Of MPP: services/gateway/src/mpp/credential.ts reads it. */
const PAYMENT = /^Payment +/i;
const bearer = /^Bearer +(\S+) *$/i;

/**
 * Who makes a request: the holder of an API key, a person who makes it in the dashboard, or a payer with what opens one
 * intent or payment link.
 */
export interface Holder extends Omit<KeyHolder, 'scope'> {
  readonly scope: Access;
  /** The person; `keyId` then names them in this account, for limits. */
  readonly userId?: string;
  /** Of a person: whether they may see secrets of the account. */
  readonly secrets?: boolean;
  /** The only intent that exists for this holder; `keyId` is then its id. */
  readonly intentId?: IntentId;
  /** The only payment link that exists for this holder; `keyId` is then its id. */
  readonly linkId?: string;
}

/** Whether it may be in the hands of a payer, who sees intents reduced. */
export const isPayer = ({ scope }: Pick<Holder, 'scope'>): boolean => scope !== 'full';

/** A key of scope `full`. Not a person in the dashboard: some may only look. */
export const isAccount = (holder: Holder): boolean => !isPayer(holder) && holder.userId === undefined;

/** Whether it may pass on what opens something to a payer: a key of scope `full`, or a person who may see secrets. */
export const seesSecrets = (holder: Holder): boolean => isAccount(holder) || holder.secrets === true;

/** What an Authorization header presents, whatever it is. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  bearer.exec(authorization ?? '')?.[1];

export interface ApiKeysOptions {
  /** How long a key is trusted before it is looked up again. */
  readonly knownMs?: number;
  /** How long the look-up of a key that was never valid waits for its turn. */
  readonly turnMs?: number;
  /** Milliseconds since 1970, by a clock that all processes share. */
  readonly now?: () => number;
  /** What may have signed a pass of the dashboard. Without any, none is accepted. */
  readonly passSecrets?: readonly Uint8Array[];
  /** Limits the addresses that send other keys. Default: none is limited. */
  readonly strangers?: Pick<Strangers, 'admit' | 'acquit'>;
}

/**
 * Looks up the holders of API keys in Postgres and caches them for a moment. Keeps only hashes of keys. The passes of
 * the dashboard need no look-up.
 */
export class ApiKeys {
  readonly #known: LRUCache<string, KeyHolder>;
  /** A cache of its own, so that a flood of guessed keys does not evict valid ones. */
  readonly #unknown = boundedCache<string, true>(10_000, { ttl: UNKNOWN_MS });

  readonly #proven = boundedCache<string, true>(PROVEN_MAX);
  readonly #turns = new Places(UNPROVEN.atOnce, UNPROVEN.waiting);
  readonly #turnMs: number;
  readonly #now: () => number;
  readonly #passSecrets: readonly Uint8Array[];
  readonly #strangers: Pick<Strangers, 'admit' | 'acquit'> | undefined;

  constructor(
    database: Database,
    { knownMs = KNOWN_MS, turnMs = UNPROVEN.waitMs, now = Date.now, passSecrets = [], strangers }: ApiKeysOptions = {},
  ) {
    this.#turnMs = turnMs;
    this.#now = now;
    this.#passSecrets = passSecrets;
    this.#strangers = strangers;
    // fetch() makes one query for all requests that wait for the same key, and does not cache a rejection.
    this.#known = boundedCache<string, KeyHolder>(10_000, {
      ttl: knownMs,
      fetchMethod: async (hash) => {
        const find = () => findKeyHolder(database, Buffer.from(hash, 'base64'));
        return (await (this.#proven.has(hash) ? find() : this.#inTurn(find))) ?? undefined;
      },
    });
  }

  /**
   * The holder of the key or pass in an Authorization header.
   * @param ip where a request comes from that has no valid key, for its limit
   * @throws ApiError `api_key.missing` or `api_key.invalid`, `rate_limit.exceeded` where the address has sent too many;
   *   an error of the database if it is needed and unavailable
   */
  async holder(authorization: string | undefined, ip?: string): Promise<Holder> {
    const key = bearerOf(authorization);
    const hash = key !== undefined && isApiKey(key) ? hashApiKey(key).toString('base64') : null;
    const known = hash === null ? undefined : this.#known.get(hash);
    if (known) return this.#inTime(known);
    const isProven = hash !== null && this.#proven.has(hash);
    // Before anything is looked up.
    if (!isProven) this.#strangers?.admit(ip);
    if (key === undefined && PAYMENT.test(authorization ?? ''))
      throw unauthorized('api_key.invalid', { message: NO_CREDENTIAL });
    if (key === undefined) throw unauthorized('api_key.missing');
    try {
      const holder = await (hash === null ? this.#person(key, 0) : this.#lookUp(hash));
      if (!isProven) this.#strangers?.acquit(ip);
      return holder;
    } catch (error) {
      // The key may be valid: it could not be looked up.
      if (!isProven && !(error instanceof ApiError && error.status === 401)) this.#strangers?.acquit(ip);
      throw error;
    }
  }

  /**
   * The holder of the key or pass of an open stream, or of a request whose body is there now, which was valid when it
   * began.
   * @param graceSeconds for how long after its end a pass is still accepted
   * @throws as `holder`, but for limits
   */
  async stillHolder(authorization: string | undefined, graceSeconds: number): Promise<Holder> {
    const key = bearerOf(authorization) ?? '';
    return isApiKey(key) ? this.#lookUp(hashApiKey(key).toString('base64')) : this.#person(key, graceSeconds);
  }

  async #lookUp(hash: string): Promise<Holder> {
    if (this.#unknown.has(hash)) throw unauthorized('api_key.invalid');
    const found = await this.#known.fetch(hash);
    if (found) {
      this.#proven.set(hash, true);
      return this.#inTime(found);
    }
    this.#proven.delete(hash);
    this.#unknown.set(hash, true);
    throw unauthorized('api_key.invalid');
  }

  /** However many keys are guessed, from however many addresses, they take two connections at most. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.run({ waitMs: this.#turnMs, refuse: () => new ApiError('service.unavailable') }, work);
  }

  async #person(text: string, graceSeconds: number): Promise<Holder> {
    const pass = await readPass(text, this.#passSecrets, this.#now(), graceSeconds);
    if (!pass) throw unauthorized('api_key.invalid');
    const { accountId, livemode, plan, userId, secrets } = pass;
    return {
      keyId: `${userId} ${accountId}`,
      accountId: accountId as AccountId,
      livemode,
      scope: 'full',
      plan,
      expiresAt: null,
      userId,
      secrets,
    };
  }

  /** A key may expire while it is cached. */
  #inTime(holder: KeyHolder): KeyHolder {
    if (holder.expiresAt !== null && holder.expiresAt.getTime() <= this.#now()) throw unauthorized('api_key.invalid');
    return holder;
  }
}

/** @throws ApiError `api_key.insufficient_scope` if the operation requires more */
export function requireAccess({ scope }: Holder, operation: AccessRules): void {
  if (allows(scope, operation)) return;
  const message = BEYOND[scope];
  throw unauthorized('api_key.insufficient_scope', { ...(message !== undefined && { message }) });
}

const NO_CREDENTIAL =
  'The payment credential does not match a challenge of this service, or the challenge was changed. Send the ' +
  'request with an API key or the client secret, to get a challenge.';

/** What is said to payers who ask for more than their secret allows. */
const BEYOND: Readonly<Partial<Record<Access, string>>> = {
  client_secret:
    'A client secret only fetches, follows, detects, builds and submits its payment intent. Use an API key with the ' +
    'scope "full".',
  solana_pay_token:
    'A Solana Pay token only fetches and builds its payment intent. Use the client secret of the intent.',
  paymaster_token:
    'A paymaster token only asks who pays the gas of its payment intent. Use the client secret of the intent.',
  mpp_challenge:
    'A payment credential only pays the payment intent of its challenge. Use the client secret of the intent.',
  payment_link_secret:
    'The client secret of a payment link only fetches it and chooses an offer. Use that of the chosen intent, or an ' +
    'API key with the scope "full".',
};

const unauthorized = (
  code: 'api_key.missing' | 'api_key.invalid' | 'api_key.insufficient_scope',
  more: { readonly message?: string } = {},
): ApiError => new ApiError(code, { ...more, headers: { 'WWW-Authenticate': 'Bearer' } });
