import { type Database, findIntentAccount, findPaymentLinkAccount, type IntentAccount } from '@pf/database';
import { boundedCache } from '@pf/runtime';
import type { LRUCache } from 'lru-cache';
import { ApiError } from './api-error.ts';
import type { Holder } from './api-keys.ts';
import type { Opened } from './client-secrets.ts';

/** As long as an API key is trusted. */
const KNOWN_MS = 10_000;
const KNOWN_MAX = 10_000;

/** Looks up whose intent or link a secret opens, each mode with its own connections, and caches it for a moment. */
export class IntentHolders {
  readonly #known: LRUCache<string, IntentAccount, { readonly opened: Opened }>;

  constructor(databases: Readonly<Record<'live' | 'test', Pick<Database, 'sql'>>>) {
    // fetch() makes one query for all requests that wait for the same one.
    this.#known = boundedCache<string, IntentAccount, { readonly opened: Opened }>(KNOWN_MAX, {
      ttl: KNOWN_MS,
      fetchMethod: async (_key, _stale, { context: { opened } }) => {
        const { livemode } = opened;
        const database = livemode ? databases.live : databases.test;
        const found =
          opened.access === 'payment_link_secret'
            ? await findPaymentLinkAccount(database, opened.linkId, livemode)
            : await findIntentAccount(database, opened.intentId, livemode);
        return found ?? undefined;
      },
    });
  }

  /**
   * The account in whose name a verified secret is used.
   * @throws ApiError `service.unavailable` if it is not there: the secret shows that it was made, so the projection is
   *   being rebuilt, or a backup restored
   */
  async holder(opened: Opened): Promise<Holder> {
    const { access, livemode } = opened;
    const id = opened.access === 'payment_link_secret' ? opened.linkId : opened.intentId;
    const account = await this.#known.fetch(`${livemode} ${id}`, { context: { opened } });
    if (!account) throw new ApiError('service.unavailable');
    const { accountId, plan } = account;
    const only = opened.access === 'payment_link_secret' ? { linkId: id } : { intentId: opened.intentId };
    return { keyId: id, accountId, livemode, scope: access, plan, expiresAt: null, ...only };
  }
}
