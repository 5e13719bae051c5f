import { isApiKey, type KeyScope } from '@pf/contracts';
import { type Database, findKeyHolder, hashApiKey, type KeyHolder } from '@pf/database';
import type { AccountId } from '@pf/domain';
import { readPass } from '@pf/http';
import { LRUCache } from 'lru-cache';
import { ApiError } from './api-error.ts';

/**
 * With the 15 s between two checks of an open stream it stays below the 30 s within which a revocation takes effect.
 */
const KNOWN_MS = 10_000;
/** Short, so that a key that was tried before it was created works soon after. */
const UNKNOWN_MS = 2_000;
const bearer = /^Bearer +(\S+) *$/i;

/** Who makes a request: the holder of an API key, or a person who makes it in the dashboard. */
export interface Holder extends KeyHolder {
  /** The person; `keyId` then names them in this account, for limits. */
  readonly userId?: string;
}

export interface ApiKeysOptions {
  /** How long a key is trusted before it is looked up again. */
  readonly knownMs?: number;
  /** Milliseconds since 1970, by a clock that all processes share. */
  readonly now?: () => number;
  /** What may have signed a pass of the dashboard. Without any, none is accepted. */
  readonly passSecrets?: readonly Uint8Array[];
}

/**
 * Looks up the holders of API keys in Postgres and caches them for a moment. Keeps only hashes of keys. The passes of
 * the dashboard need no look-up.
 */
export class ApiKeys {
  readonly #known: LRUCache<string, KeyHolder>;
  /** A cache of its own, so that a flood of guessed keys does not evict valid ones. */
  readonly #unknown = new LRUCache<string, true>({ max: 10_000, ttl: UNKNOWN_MS });

  readonly #now: () => number;
  readonly #passSecrets: readonly Uint8Array[];

  constructor(database: Database, { knownMs = KNOWN_MS, now = Date.now, passSecrets = [] }: ApiKeysOptions = {}) {
    this.#now = now;
    this.#passSecrets = passSecrets;
    // fetch() makes one query for all requests that wait for the same key, and does not cache a rejection.
    this.#known = new LRUCache<string, KeyHolder>({
      max: 10_000,
      ttl: knownMs,
      fetchMethod: async (hash) => (await findKeyHolder(database, Buffer.from(hash, 'base64'))) ?? undefined,
    });
  }

  /**
   * The holder of the key or pass in an Authorization header.
   * @param graceSeconds for how long after its end a pass is still accepted
   * @throws ApiError `api_key.missing` or `api_key.invalid`; an error of the database if it is needed and unavailable
   */
  async holder(authorization: string | undefined, graceSeconds = 0): Promise<Holder> {
    const key = bearer.exec(authorization ?? '')?.[1];
    if (key === undefined) throw unauthorized('api_key.missing');
    if (!isApiKey(key)) return this.#person(key, graceSeconds);
    const hash = hashApiKey(key).toString('base64');
    const known = this.#known.get(hash);
    if (known) return this.#inTime(known);
    if (this.#unknown.has(hash)) throw unauthorized('api_key.invalid');
    const found = await this.#known.fetch(hash);
    if (found) return this.#inTime(found);
    this.#unknown.set(hash, true);
    throw unauthorized('api_key.invalid');
  }

  async #person(text: string, graceSeconds: number): Promise<Holder> {
    const pass = await readPass(text, this.#passSecrets, this.#now(), graceSeconds);
    if (!pass) throw unauthorized('api_key.invalid');
    const { accountId, livemode, plan, userId } = pass;
    return {
      keyId: `${userId} ${accountId}`,
      accountId: accountId as AccountId,
      livemode,
      scope: 'full',
      plan,
      expiresAt: null,
      userId,
    };
  }

  /** A key may expire while it is cached. */
  #inTime(holder: KeyHolder): KeyHolder {
    if (holder.expiresAt !== null && holder.expiresAt.getTime() <= this.#now()) throw unauthorized('api_key.invalid');
    return holder;
  }
}

/** @throws ApiError `api_key.insufficient_scope` if the endpoint requires another scope */
export function requireScope(holder: Holder, needed: KeyScope): void {
  if (needed === 'full' && holder.scope !== 'full') throw unauthorized('api_key.insufficient_scope');
}

const unauthorized = (code: 'api_key.missing' | 'api_key.invalid' | 'api_key.insufficient_scope'): ApiError =>
  new ApiError(code, { headers: { 'WWW-Authenticate': 'Bearer' } });
