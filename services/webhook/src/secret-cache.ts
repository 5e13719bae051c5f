import { boundedCache } from '@pf/runtime';
import {
  type Database,
  type Keyring,
  type SecretOwner,
  secretsInForce,
  type WebhookSecret,
  webhookSecrets,
} from '@pf/database';

/** A rotation by another process takes effect after this time at the latest. */
const TTL_MS = 30_000;
const MAX_ENTRIES = 10_000;

/** The secrets of URLs, read from the database at most every 30 s. */
export interface SecretCache {
  /**
   * The secrets in force at `at` (milliseconds since 1970), the current one first; empty if there is none.
   * @throws UnreadableSecretError
   */
  inForce(owner: SecretOwner, at: number): Promise<readonly string[]>;
}

export function createSecretCache(database: Database, keyring: Keyring): SecretCache {
  const cache = boundedCache<string, readonly WebhookSecret[], SecretOwner>(MAX_ENTRIES, {
    ttl: TTL_MS,
    fetchMethod: (_key, _stale, { context }) => webhookSecrets(database, keyring, context),
  });
  return {
    async inForce({ accountId, livemode, endpointId }, at) {
      const context = { accountId, livemode, endpointId };
      return secretsInForce((await cache.fetch(`${accountId} ${livemode} ${endpointId}`, { context })) ?? [], at);
    },
  };
}
