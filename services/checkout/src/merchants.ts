import { isPaymentLinkId } from '@pf/contracts';
import { accountOfIntent, accountOfPaymentLink, type Database, findMerchant, type Merchant } from '@pf/database';
import { boundedCache } from '@pf/runtime';
import type { LRUCache } from 'lru-cache';

/** Changed settings take effect after this time at the latest. */
const TTL_MS = 30_000;
/** A merchant may have a logo of 43 KB. */
const MERCHANTS_MAX = 500;
const IDS_MAX = 20_000;

/**
 * Whom intents and payment links pay, as those who pay may see it. Kept in memory, so that a page that many open costs
 * few queries.
 */
export class Merchants {
  readonly #accounts: LRUCache<string, string>;
  readonly #merchants: LRUCache<string, Merchant>;

  constructor(database: Pick<Database, 'sql'>) {
    // fetch() makes one query for all requests that wait for the same row. It caches neither a rejection nor nothing.
    this.#accounts = boundedCache<string, string>(IDS_MAX, {
      fetchMethod: async (id) =>
        (await (isPaymentLinkId(id) ? accountOfPaymentLink : accountOfIntent)(database, id)) ?? undefined,
    });
    this.#merchants = boundedCache<string, Merchant>(MERCHANTS_MAX, {
      ttl: TTL_MS,
      // While Postgres is unavailable, people see the merchant as it was.
      allowStaleOnFetchRejection: true,
      fetchMethod: async (accountId) => (await findMerchant(database, accountId)) ?? undefined,
    });
  }

  /** Whose payment it is, for limits: an account, or the id itself where its account is not known now. */
  async ownerOf(id: string): Promise<string> {
    return (await this.#accounts.fetch(id).catch(() => undefined)) ?? id;
  }

  /**
   * Null if there is no such intent or payment link.
   * @throws an error of the database if it is needed and unavailable
   */
  async of(id: string): Promise<Merchant | null> {
    const accountId = await this.#accounts.fetch(id);
    return accountId === undefined ? null : ((await this.#merchants.fetch(accountId)) ?? null);
  }
}
