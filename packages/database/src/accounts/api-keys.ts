import { createHash } from 'node:crypto';
import type { KeyScope, Plan } from '@pf/contracts';
import { apiKeyHint, keyScope, newApiKey, newApiKeyId, plan } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import type pg from 'pg';
import { type AuditSource, recordChange } from '../dashboard/audit.ts';
import { type Database, inTransaction } from '../postgres/database.ts';
import { changingAccount } from '../dashboard/rights.ts';

/** An API key without its text. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: AccountId;
  /** Its prefix and last four characters: `pk_test_…aB3d`. */
  readonly hint: string;
  readonly livemode: boolean;
  readonly scope: KeyScope;
  readonly name: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  readonly expiresAt: Date | null;
  /** To a minute or so; null if it was never used. */
  readonly lastUsedAt: Date | null;
}

/** The account, mode and scope of an API key, which the gateway needs for every request. */
export interface KeyHolder {
  readonly keyId: string;
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly scope: KeyScope;
  readonly plan: Plan;
  readonly expiresAt: Date | null;
}

interface ApiKeyRow extends Omit<ApiKey, 'accountId' | 'scope'> {
  readonly accountId: string;
  readonly scope: string;
}

const fromRow = ({ accountId, scope, ...key }: ApiKeyRow): ApiKey => ({
  ...key,
  accountId: accountId as AccountId,
  scope: keyScope.parse(scope),
});

/** What is not read of a key. */
const WITHOUT_HASH = { hash: true } as const;

/** SHA-256 of a key's text: what is stored and looked up. 190 random bits need no salt and no slow hash. */
export const hashApiKey = (key: string): Buffer => createHash('sha256').update(key).digest();

/** What the account says about a key that is created. */
export interface NewApiKey {
  readonly accountId: string;
  readonly livemode: boolean;
  readonly scope?: KeyScope;
  readonly name?: string | null;
  readonly expiresAt?: Date | null;
}

/** The columns that may be read of a key, as ApiKeyRow names them: not its hash. */
const COLUMNS = `id, account_id AS "accountId", hint, livemode, scope, name, created_at AS "createdAt",
  revoked_at AS "revokedAt", expires_at AS "expiresAt", last_used_at AS "lastUsedAt"`;

/**
 * Creates a key of an account. `key` is its plain text, which is not stored.
 * @param by who does; without it, as for tests, the audit log has no entry
 */
export function createKey(
  database: Database,
  key: NewApiKey,
  by?: AuditSource,
): Promise<ApiKey & { readonly key: string }> {
  return inTransaction(database, (client) => insertKey(client, key, by));
}

/** As createKey, within the caller's transaction. */
export async function insertKey(
  client: pg.ClientBase,
  { accountId, livemode, scope = 'full', name = null, expiresAt = null }: NewApiKey,
  by: AuditSource | undefined,
): Promise<ApiKey & { readonly key: string }> {
  const key = newApiKey(livemode);
  const hint = apiKeyHint(key);
  const { rows } = await client.query<ApiKeyRow>(
    `INSERT INTO service.api_keys (id, account_id, hash, hint, livemode, scope, name, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${COLUMNS}`,
    [newApiKeyId(), accountId, hashApiKey(key), hint, livemode, scope, name, expiresAt],
  );
  const [row] = rows;
  if (!row) throw new Error('the key was not stored');
  const change = { accountId, action: 'key.created', livemode, subject: row.id } as const;
  if (by) await recordChange(client, by, { ...change, after: { hint, name, scope, expiresAt } });
  return { ...fromRow(row), key };
}

/** An account's keys, of one mode if `livemode` is set, oldest first, including revoked ones. */
export async function listKeys(
  { prisma }: Database,
  { accountId, livemode }: { readonly accountId: string; readonly livemode?: boolean },
): Promise<readonly ApiKey[]> {
  const rows = await prisma.apiKey.findMany({
    where: { accountId, ...(livemode !== undefined && { livemode }) },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    omit: WITHOUT_HASH,
  });
  return rows.map(fromRow);
}

/** An account's keys: first those that can be used, then the others; each newest first, at most `limit`. */
export async function accountKeys(
  { sql }: Database,
  accountId: string,
  at: Date,
  limit: number,
): Promise<readonly ApiKey[]> {
  const { rows } = await sql.query<ApiKeyRow>(
    `SELECT ${COLUMNS} FROM service.api_keys WHERE account_id = $1
      ORDER BY revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) DESC, created_at DESC, id
      LIMIT $3`,
    [accountId, at, limit],
  );
  return rows.map(fromRow);
}

/**
 * Revokes a key: gateways refuse it within 30 s. Revoking it again changes nothing.
 * @param by who does; without it, as for tests, the audit log has no entry
 * @returns null if the account has no such key
 */
export async function revokeKey(
  database: Database,
  { accountId, keyId, at = new Date() }: { readonly accountId: string; readonly keyId: string; readonly at?: Date },
  by?: AuditSource,
): Promise<ApiKey | null> {
  return changingAccount(database, accountId, by ?? { kind: 'operator' }, async (client) => {
    const { rowCount } = await client.query(
      'UPDATE service.api_keys SET revoked_at = $3 WHERE id = $1 AND account_id = $2 AND revoked_at IS NULL',
      [keyId, accountId, at],
    );
    const { rows } = await client.query<ApiKeyRow>(
      `SELECT ${COLUMNS} FROM service.api_keys WHERE id = $1 AND account_id = $2`,
      [keyId, accountId],
    );
    const [row] = rows;
    if (!row) return null;
    const { hint, name, scope, livemode } = row;
    const change = { accountId, action: 'key.revoked', livemode, subject: keyId } as const;
    if (by && rowCount === 1) await recordChange(client, by, { ...change, before: { hint, name, scope } });
    return fromRow(row);
  });
}

/** The holder of a key, by hashApiKey of its text; null if the key does not exist, was revoked or has expired. */
export async function findKeyHolder({ sql }: Database, hash: Buffer): Promise<KeyHolder | null> {
  const { rows } = await sql.query<{
    id: string;
    account_id: string;
    livemode: boolean;
    scope: string;
    plan: string;
    expires_at: Date | null;
  }>({
    name: 'find-key-holder',
    text: `SELECT k.id, k.account_id, k.livemode, k.scope, k.expires_at, a.plan
             FROM service.api_keys k JOIN service.accounts a ON a.id = k.account_id
            WHERE k.hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`,
    values: [hash],
  });
  const row = rows[0];
  if (!row) return null;
  return {
    keyId: row.id,
    accountId: row.account_id as AccountId,
    livemode: row.livemode,
    scope: keyScope.parse(row.scope),
    plan: plan.parse(row.plan),
    expiresAt: row.expires_at,
  };
}

/** When keys were last used, by id: one statement for all of them. A time that is hardly later is not written. */
export async function recordKeyUses({ sql }: Database, uses: ReadonlyMap<string, Date>): Promise<void> {
  if (uses.size === 0) return;
  await sql.query({
    name: 'record-key-uses',
    // A key that another gateway writes now needs no second write.
    text: `WITH later AS (
             SELECT k.id, used.at FROM service.api_keys k
               JOIN unnest($1::text[], $2::timestamptz[]) AS used (id, at) ON used.id = k.id
              WHERE k.last_used_at IS NULL OR k.last_used_at < used.at - interval '30 seconds'
                FOR NO KEY UPDATE OF k SKIP LOCKED)
           UPDATE service.api_keys k SET last_used_at = later.at FROM later WHERE k.id = later.id`,
    values: [[...uses.keys()], [...uses.values()]],
  });
}
