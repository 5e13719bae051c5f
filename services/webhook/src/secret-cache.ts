import { type Database, secretsInForce, type WebhookSecret, webhookSecrets } from '@pf/database';
import { LRUCache } from 'lru-cache';

/** A rotation by another process takes effect after this time at the latest. */
const TTL_MS = 30_000;
const MAX_ENTRIES = 10_000;

/** The webhook secrets of accounts, read from the database at most every 30 s. */
export interface SecretCache {
  /** The secrets in force at `at` (milliseconds since 1970), the current one first; empty if the account has none. */
  inForce(accountId: string, livemode: boolean, at: number): Promise<readonly string[]>;
}

export function createSecretCache(database: Database, key: Buffer): SecretCache {
  const cache = new LRUCache<string, readonly WebhookSecret[], { accountId: string; livemode: boolean }>({
    max: MAX_ENTRIES,
    ttl: TTL_MS,
    fetchMethod: (_key, _stale, { context }) => webhookSecrets(database, key, context),
  });
  return {
    async inForce(accountId, livemode, at) {
      return secretsInForce(
        (await cache.fetch(`${accountId} ${livemode}`, { context: { accountId, livemode } })) ?? [],
        at,
      );
    },
  };
}
