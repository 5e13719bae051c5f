import { isApiKey, type KeyScope } from '@pf/contracts';
import { type Database, findKeyHolder, hashApiKey, type KeyHolder } from '@pf/database';
import { LRUCache } from 'lru-cache';
import { ApiError } from './api-error.ts';

/**
 * With the 15 s between two checks of an open stream it stays below the 30 s within which a revocation takes effect.
 */
const KNOWN_MS = 10_000;
/** Short, so that a key that was tried before it was created works soon after. */
const UNKNOWN_MS = 2_000;
const bearer = /^Bearer +(\S+) *$/i;

/** Looks up the holders of API keys in Postgres and caches them for a moment. Keeps only hashes of keys. */
export class ApiKeys {
  readonly #known: LRUCache<string, KeyHolder>;
  /** A cache of its own, so that a flood of guessed keys does not evict valid ones. */
  readonly #unknown = new LRUCache<string, true>({ max: 10_000, ttl: UNKNOWN_MS });

  readonly #now: () => number;

  /**
   * @param knownMs how long a key is trusted before it is looked up again
   * @param now milliseconds since 1970, by a clock that all processes share
   */
  constructor(database: Database, knownMs = KNOWN_MS, now: () => number = Date.now) {
    this.#now = now;
    // fetch() makes one query for all requests that wait for the same key, and does not cache a rejection.
    this.#known = new LRUCache<string, KeyHolder>({
      max: 10_000,
      ttl: knownMs,
      fetchMethod: async (hash) => (await findKeyHolder(database, Buffer.from(hash, 'base64'))) ?? undefined,
    });
  }

  /**
   * The holder of the key in an Authorization header.
   * @throws ApiError `api_key.missing` or `api_key.invalid`; an error of the database if it is needed and unavailable
   */
  async holder(authorization: string | undefined): Promise<KeyHolder> {
    const key = bearer.exec(authorization ?? '')?.[1];
    if (key === undefined) throw unauthorized('api_key.missing');
    if (!isApiKey(key)) throw unauthorized('api_key.invalid');
    const hash = hashApiKey(key).toString('base64');
    const known = this.#known.get(hash);
    if (known) return this.#inTime(known);
    if (this.#unknown.has(hash)) throw unauthorized('api_key.invalid');
    const found = await this.#known.fetch(hash);
    if (found) return this.#inTime(found);
    this.#unknown.set(hash, true);
    throw unauthorized('api_key.invalid');
  }

  /** A key may expire while it is cached. */
  #inTime(holder: KeyHolder): KeyHolder {
    if (holder.expiresAt !== null && holder.expiresAt.getTime() <= this.#now()) throw unauthorized('api_key.invalid');
    return holder;
  }
}

/** @throws ApiError `api_key.insufficient_scope` if the endpoint requires another scope */
export function requireScope(holder: KeyHolder, needed: KeyScope): void {
  if (needed === 'full' && holder.scope !== 'full') throw unauthorized('api_key.insufficient_scope');
}

const unauthorized = (code: 'api_key.missing' | 'api_key.invalid' | 'api_key.insufficient_scope'): ApiError =>
  new ApiError(code, { headers: { 'WWW-Authenticate': 'Bearer' } });
