import { type ApiKey, insertKey, type NewApiKey } from '../accounts/api-keys.ts';
import type { Database } from '../postgres/database.ts';
import type { AuditSource } from './audit.ts';
import { changingAccount } from './rights.ts';

/**
 * Creates a key of an account. `key` is its plain text, which is not stored.
 * @returns null if the account has `max` keys in this mode that are neither revoked nor expired
 */
export async function createAccountKey(
  database: Database,
  { at, max, ...key }: NewApiKey & { readonly at: Date; readonly max: number },
  by: AuditSource,
): Promise<(ApiKey & { readonly key: string }) | null> {
  return changingAccount(database, key.accountId, by, async (client) => {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM service.api_keys
        WHERE account_id = $1 AND livemode = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)`,
      [key.accountId, key.livemode, at],
    );
    return (rows[0]?.count ?? 0) >= max ? null : insertKey(client, key, by);
  });
}
