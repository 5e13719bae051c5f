import { newApiKey, newApiKeyId, apiKeyHint, keyScope, type KeyScope } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import { type ApiKey, hashApiKey } from '../accounts/api-keys.ts';
import { type Database, inTransaction } from '../postgres/database.ts';
import { lockMembers } from './members.ts';

/** The most keys that a list shows. */
const LISTED_MAX = 500;

interface KeyRow {
  readonly id: string;
  readonly hint: string;
  readonly livemode: boolean;
  readonly scope: string;
  readonly name: string | null;
  readonly created_at: Date;
  readonly revoked_at: Date | null;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
}

const COLUMNS = 'id, hint, livemode, scope, name, created_at, revoked_at, expires_at, last_used_at';
const fromRow = (row: KeyRow, accountId: string): ApiKey => ({
  id: row.id,
  accountId: accountId as AccountId,
  hint: row.hint,
  livemode: row.livemode,
  scope: keyScope.parse(row.scope),
  name: row.name,
  createdAt: row.created_at,
  revokedAt: row.revoked_at,
  expiresAt: row.expires_at,
  lastUsedAt: row.last_used_at,
});

/**
 * Creates a key of an account. `key` is its plain text, which is not stored.
 * @returns null if the account has `max` keys in this mode that are neither revoked nor expired
 */
export async function createAccountKey(
  database: Database,
  {
    accountId,
    livemode,
    scope,
    name,
    expiresAt,
    at,
    max,
  }: {
    readonly accountId: string;
    readonly livemode: boolean;
    readonly scope: KeyScope;
    readonly name: string;
    readonly expiresAt: Date | null;
    readonly at: Date;
    readonly max: number;
  },
): Promise<(ApiKey & { readonly key: string }) | null> {
  const key = newApiKey(livemode);
  return inTransaction(database, async (client) => {
    await lockMembers(client, accountId);
    const { rows: counted } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM service.api_keys
        WHERE account_id = $1 AND livemode = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)`,
      [accountId, livemode, at],
    );
    if ((counted[0]?.count ?? 0) >= max) return null;
    const { rows } = await client.query<KeyRow>(
      `INSERT INTO service.api_keys (id, account_id, hash, hint, livemode, scope, name, expires_at, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING ${COLUMNS}`,
      [newApiKeyId(), accountId, hashApiKey(key), apiKeyHint(key), livemode, scope, name, expiresAt, at],
    );
    const [row] = rows;
    if (!row) throw new Error('the key was not stored');
    return { ...fromRow(row, accountId), key };
  });
}

/** An account's keys: first those that can be used, then the others; each newest first. */
export async function accountKeys({ sql }: Database, accountId: string, at: Date): Promise<readonly ApiKey[]> {
  const { rows } = await sql.query<KeyRow>(
    `SELECT ${COLUMNS} FROM service.api_keys WHERE account_id = $1
      ORDER BY revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) DESC, created_at DESC, id
      LIMIT ${LISTED_MAX}`,
    [accountId, at],
  );
  return rows.map((row) => fromRow(row, accountId));
}

/** Revokes a key: gateways refuse it within 30 s. Again: nothing changes. @returns null if there is no such key */
export async function revokeAccountKey(
  { sql }: Database,
  { accountId, keyId, at }: { readonly accountId: string; readonly keyId: string; readonly at: Date },
): Promise<ApiKey | null> {
  const { rows } = await sql.query<KeyRow>(
    `UPDATE service.api_keys SET revoked_at = coalesce(revoked_at, $3) WHERE id = $1 AND account_id = $2
     RETURNING ${COLUMNS}`,
    [keyId, accountId, at],
  );
  const [row] = rows;
  return row ? fromRow(row, accountId) : null;
}
