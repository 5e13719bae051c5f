import { createHash } from 'node:crypto';
import { isPersonalToken, STRANGER_QUOTA } from '@pf/contracts';
import { type Database, findTokenHolder, type TokenHolder } from '@pf/database';
import { AddressBuckets } from '@pf/http';
import { boundedCache, count } from '@pf/runtime';
import { DashboardError } from '../dashboard-error.ts';

/** Hashes of tokens that were valid: they are no guesses. */
const PROVEN_MAX = 10_000;

/**
 * Finds whose a personal token is. An address may send as many invalid ones as it may send invalid keys to the gateway;
 * then nothing is looked up for it, but for tokens that were valid before.
 */
export class TokenHolders {
  readonly #database: Database;
  readonly #quota: { readonly requests: number; readonly windowSeconds: number };
  readonly #buckets: AddressBuckets;
  readonly #proven = boundedCache<string, true>(PROVEN_MAX);

  /** @param factor multiplies the quota, for tests */
  constructor(database: Database, factor: number) {
    this.#database = database;
    const { requests, windowSeconds } = STRANGER_QUOTA;
    this.#quota = { requests: Math.max(1, Math.round(requests * factor)), windowSeconds };
    this.#buckets = new AddressBuckets(this.#quota);
  }

  /** @throws DashboardError `token.invalid`; `rate_limit.exceeded` where the address has sent too many of them */
  async find(token: string, ip: string | undefined, at: Date): Promise<TokenHolder> {
    const hash = createHash('sha256').update(token).digest('base64');
    if (this.#proven.has(hash)) return this.#lookUp(token, hash, at);
    const nextMs = this.#buckets.take(ip);
    if (nextMs !== null) throw this.#exceeded(nextMs);
    try {
      const holder = await this.#lookUp(token, hash, at);
      this.#buckets.giveBack(ip);
      return holder;
    } catch (error) {
      // It may be valid: it could not be looked up.
      if (!(error instanceof DashboardError)) this.#buckets.giveBack(ip);
      throw error;
    }
  }

  async #lookUp(token: string, hash: string, at: Date): Promise<TokenHolder> {
    const holder = isPersonalToken(token) ? await findTokenHolder(this.#database, token, at) : null;
    if (holder) {
      this.#proven.set(hash, true);
      return holder;
    }
    this.#proven.delete(hash);
    throw new DashboardError('token.invalid');
  }

  #exceeded(waitMs: number): DashboardError {
    count('payments.rate_limited', { policy: 'stranger' });
    const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
    const { requests, windowSeconds } = this.#quota;
    return new DashboardError('rate_limit.exceeded', {
      message:
        `This address has sent more than ${requests} invalid personal tokens in ${windowSeconds} seconds. ` +
        `Check the token, and try again in ${seconds} s.`,
      retryAfterSeconds: seconds,
    });
  }
}
