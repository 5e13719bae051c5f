import { type Database, secretsInForce, type WebhookSecret, webhookSecrets } from '@pf/database';
import { LRUCache } from 'lru-cache';

/** A rotation made elsewhere is seen after this time at the latest. */
const TTL_MS = 30_000;
const MAX_OWNERS = 10_000;

/** The secrets that deliveries are signed with, read from the database at most every 30 s. */
export interface SecretCache {
  /** Those in force at a moment (milliseconds since 1970), the present one first; empty where the account has none. */
  inForce(accountId: string, livemode: boolean, at: number): Promise<readonly string[]>;
}

export function createSecretCache(database: Database, key: Buffer): SecretCache {
  const cache = new LRUCache<string, readonly WebhookSecret[], { accountId: string; livemode: boolean }>({
    max: MAX_OWNERS,
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
