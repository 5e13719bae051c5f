import { type Database, findIntentAccount, type IntentAccount } from '@pf/database';
import { LRUCache } from 'lru-cache';
import { ApiError } from './api-error.ts';
import type { Holder } from './api-keys.ts';
import type { OpenedIntent } from './client-secrets.ts';

/** As long as an API key is trusted. */
const KNOWN_MS = 10_000;
const KNOWN_MAX = 10_000;

/** Looks up whose intent a client secret opens, each mode with its own connections, and caches it for a moment. */
export class IntentHolders {
  readonly #known: LRUCache<string, IntentAccount, OpenedIntent>;

  constructor(databases: Readonly<Record<'live' | 'test', Pick<Database, 'sql'>>>) {
    // fetch() makes one query for all requests that wait for the same intent.
    this.#known = new LRUCache<string, IntentAccount, OpenedIntent>({
      max: KNOWN_MAX,
      ttl: KNOWN_MS,
      fetchMethod: async (_key, _stale, { context: { intentId, livemode } }) =>
        (await findIntentAccount(livemode ? databases.live : databases.test, intentId, livemode)) ?? undefined,
    });
  }

  /**
   * The account in whose name a verified secret is used.
   * @throws ApiError `service.unavailable` if the intent is not projected: the secret shows that it was made, so the
   *   projection is being rebuilt
   */
  async holder(opened: OpenedIntent): Promise<Holder> {
    const { access, intentId, livemode } = opened;
    const account = await this.#known.fetch(`${livemode} ${intentId}`, { context: opened });
    if (!account) throw new ApiError('service.unavailable');
    const { accountId, plan } = account;
    return { keyId: intentId, accountId, livemode, scope: access, plan, expiresAt: null, intentId };
  }
}
