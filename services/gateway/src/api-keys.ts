import { isApiKey, type KeyScope } from '@pf/contracts';
import { type Database, findKeyHolder, hashApiKey, type KeyHolder } from '@pf/database';
import { LRUCache } from 'lru-cache';
import { ApiError } from './api-error.ts';

/** Revocation must reach every gateway within 30 s, and open streams, which ask every 15 s: both together stay below. */
const KNOWN_MS = 10_000;
/** A key that was just made works soon, even where it was tried before. */
const UNKNOWN_MS = 2_000;
const bearer = /^Bearer +(\S+) *$/i;

/** Who holds which key: asked of Postgres once, remembered for a moment. Only hashes are kept. */
export class ApiKeys {
  readonly #known: LRUCache<string, KeyHolder>;
  /** Apart, so that a flood of guesses does not push out those who work. */
  readonly #unknown = new LRUCache<string, true>({ max: 10_000, ttl: UNKNOWN_MS });

  /** @param knownMs how long a key is trusted without asking again */
  constructor(database: Database, knownMs = KNOWN_MS) {
    // fetch() asks once for all who wait for the same key; a rejection is not remembered.
    this.#known = new LRUCache<string, KeyHolder>({
      max: 10_000,
      ttl: knownMs,
      fetchMethod: async (hash) => (await findKeyHolder(database, Buffer.from(hash, 'base64'))) ?? undefined,
    });
  }

  /**
   * Whose request this is, by its Authorization header.
   * @throws ApiError `api_key.missing`, `api_key.invalid`, or an error of the database where it has to be asked and is away
   */
  async holder(authorization: string | undefined): Promise<KeyHolder> {
    const key = bearer.exec(authorization ?? '')?.[1];
    if (key === undefined) throw unauthorized('api_key.missing');
    if (!isApiKey(key)) throw unauthorized('api_key.invalid');
    const hash = hashApiKey(key).toString('base64');
    const known = this.#known.get(hash);
    if (known) return known;
    if (this.#unknown.has(hash)) throw unauthorized('api_key.invalid');
    const found = await this.#known.fetch(hash);
    if (found) return found;
    this.#unknown.set(hash, true);
    throw unauthorized('api_key.invalid');
  }
}

/** @throws ApiError `api_key.insufficient_scope` where the endpoint is not for keys of this scope */
export function requireScope(holder: KeyHolder, needed: KeyScope): void {
  if (needed === 'full' && holder.scope !== 'full') throw unauthorized('api_key.insufficient_scope');
}

const unauthorized = (code: 'api_key.missing' | 'api_key.invalid' | 'api_key.insufficient_scope'): ApiError =>
  new ApiError(code, { headers: { 'WWW-Authenticate': 'Bearer' } });
