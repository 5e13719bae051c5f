import { createHash } from 'node:crypto';
import type { KeyScope, Plan } from '@pf/contracts';
import { apiKeyHint, keyScope, newApiKey, newApiKeyId, plan } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import type { Database } from '../postgres/database.ts';

/** An API key without its text. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: AccountId;
  /** Its prefix and last four characters: `pk_test_…aB3d`. */
  readonly hint: string;
  readonly livemode: boolean;
  readonly scope: KeyScope;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

/** The account, mode and scope of an API key, which the gateway needs for every request. */
export interface KeyHolder {
  readonly keyId: string;
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly scope: KeyScope;
  readonly plan: Plan;
}

interface ApiKeyRow extends Omit<ApiKey, 'accountId' | 'scope'> {
  readonly accountId: string;
  readonly scope: string;
}

const fromRow = ({ id, accountId, hint, livemode, scope, createdAt, revokedAt }: ApiKeyRow): ApiKey => ({
  id,
  accountId: accountId as AccountId,
  hint,
  livemode,
  scope: keyScope.parse(scope),
  createdAt,
  revokedAt,
});

/** SHA-256 of a key's text: what is stored and looked up. 190 random bits need no salt and no slow hash. */
export const hashApiKey = (key: string): Buffer => createHash('sha256').update(key).digest();

/** Creates a key of an account. `key` is its plain text, which is not stored. */
export async function createKey(
  { prisma }: Database,
  {
    accountId,
    livemode,
    scope = 'full',
  }: { readonly accountId: string; readonly livemode: boolean; readonly scope?: KeyScope },
): Promise<ApiKey & { readonly key: string }> {
  const key = newApiKey(livemode);
  const row = await prisma.apiKey.create({
    data: {
      id: newApiKeyId(),
      accountId,
      hash: Uint8Array.from(hashApiKey(key)),
      hint: apiKeyHint(key),
      livemode,
      scope,
    },
  });
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
  });
  return rows.map(fromRow);
}

/**
 * Revokes a key: gateways refuse it within 30 s. Revoking it again changes nothing.
 * @returns null if the account has no such key
 */
export async function revokeKey(
  { prisma }: Database,
  { accountId, keyId }: { readonly accountId: string; readonly keyId: string },
): Promise<ApiKey | null> {
  await prisma.apiKey.updateMany({ where: { id: keyId, accountId, revokedAt: null }, data: { revokedAt: new Date() } });
  const row = await prisma.apiKey.findFirst({ where: { id: keyId, accountId } });
  return row && fromRow(row);
}

/** The holder of a key, by hashApiKey of its text; null if the key does not exist or was revoked. */
export async function findKeyHolder({ sql }: Database, hash: Buffer): Promise<KeyHolder | null> {
  const { rows } = await sql.query<{ id: string; account_id: string; livemode: boolean; scope: string; plan: string }>({
    name: 'find-key-holder',
    text: `SELECT k.id, k.account_id, k.livemode, k.scope, a.plan
             FROM service.api_keys k JOIN service.accounts a ON a.id = k.account_id
            WHERE k.hash = $1 AND k.revoked_at IS NULL`,
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
  };
}
