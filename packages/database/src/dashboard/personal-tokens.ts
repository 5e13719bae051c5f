import { createHash } from 'node:crypto';
import { newPersonalToken, newPersonalTokenId, personalTokenHint } from '@pf/contracts';
import { role as roleSchema, type Role } from '@pf/contracts/dashboard';
import type pg from 'pg';
import type { Database } from '../postgres/database.ts';
import { type AuditSource, recordPersonalChange } from './audit.ts';
import { changingPerson } from './rights.ts';

/** A personal token without its text. */
export interface PersonalToken {
  readonly id: string;
  /** Its prefix and last four characters: `pft_…aB3d`. */
  readonly hint: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** To a minute; null if it was never used. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** The person of a token in force. */
export interface TokenHolder {
  readonly tokenId: string;
  /** Of the token. */
  readonly tokenName: string;
  readonly expiresAt: Date;
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly secondFactor: boolean;
  readonly createdAt: Date;
}

const COLUMNS = `id, hint, name, created_at AS "createdAt", expires_at AS "expiresAt", last_used_at AS "lastUsedAt",
  revoked_at AS "revokedAt"`;
/** The most ended tokens of a person that are kept. */
const ENDED_MAX = 50;

/** SHA-256 of a token's text: what is stored and looked up. 190 random bits need no salt and no slow hash. */
const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

interface NewToken {
  readonly userId: string;
  readonly at: Date;
  readonly name: string;
  readonly expiresAt: Date;
  /** How many the person may have that are neither revoked nor expired. */
  readonly max: number;
}

/** A token with its plain text, which is not stored. */
export type CreatedToken = PersonalToken & { readonly token: string };

/** Creates a token of a person. @returns null if the person has `max` tokens that can be used */
export const createPersonalToken = (
  database: Database,
  token: NewToken,
  source: AuditSource,
): Promise<CreatedToken | null> =>
  changingPerson(database, token.userId, source, (client) => insertPersonalToken(client, token, source));

/** As createPersonalToken, within the caller's transaction, which has locked the person. */
export async function insertPersonalToken(
  client: pg.ClientBase,
  { userId, name, expiresAt, at, max }: NewToken,
  source: AuditSource,
): Promise<CreatedToken | null> {
  if ((await countPersonalTokens(client, userId, at)) >= max) return null;
  await client.query(
    `DELETE FROM dashboard.personal_tokens WHERE id IN
       (SELECT id FROM dashboard.personal_tokens WHERE user_id = $1 AND (revoked_at IS NOT NULL OR expires_at <= $2)
         ORDER BY created_at DESC, id OFFSET ${ENDED_MAX})`,
    [userId, at],
  );
  const token = newPersonalToken();
  const hint = personalTokenHint(token);
  const { rows } = await client.query<PersonalToken>(
    `INSERT INTO dashboard.personal_tokens (id, user_id, hash, hint, name, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${COLUMNS}`,
    [newPersonalTokenId(), userId, hashToken(token), hint, name, at, expiresAt],
  );
  const [row] = rows;
  if (!row) throw new Error('the token was not stored');
  const after = { hint, name, expiresAt };
  await recordPersonalChange(client, source, { action: 'token.created', subject: row.id, after });
  return { ...row, token };
}

/** How many tokens of a person are neither revoked nor expired. */
export async function countPersonalTokens(
  sql: Pick<pg.ClientBase, 'query'>,
  userId: string,
  at: Date,
): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM dashboard.personal_tokens
      WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > $2`,
    [userId, at],
  );
  return rows[0]?.count ?? 0;
}

/** A person's tokens: first those that can be used, then the others; each newest first, at most `limit`. */
export async function personalTokens(
  { sql }: Database,
  userId: string,
  at: Date,
  limit: number,
): Promise<readonly PersonalToken[]> {
  const { rows } = await sql.query<PersonalToken>(
    `SELECT ${COLUMNS} FROM dashboard.personal_tokens WHERE user_id = $1
      ORDER BY revoked_at IS NULL AND expires_at > $2 DESC, created_at DESC, id LIMIT $3`,
    [userId, at, limit],
  );
  return rows;
}

/** Revokes a token at once. Revoking it again changes nothing. @returns null if the person has no such token */
export async function revokePersonalToken(
  database: Database,
  { userId, tokenId, at }: { readonly userId: string; readonly tokenId: string; readonly at: Date },
  source: AuditSource,
): Promise<PersonalToken | null> {
  return changingPerson(database, userId, source, async (client) => {
    const { rowCount } = await client.query(
      'UPDATE dashboard.personal_tokens SET revoked_at = $3 WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL',
      [tokenId, userId, at],
    );
    const { rows } = await client.query<PersonalToken>(
      `SELECT ${COLUMNS} FROM dashboard.personal_tokens WHERE id = $1 AND user_id = $2`,
      [tokenId, userId],
    );
    const [row] = rows;
    if (!row) return null;
    const { hint, name } = row;
    if (rowCount === 1)
      await recordPersonalChange(client, source, {
        action: 'token.revoked',
        subject: tokenId,
        before: { hint, name },
      });
    return row;
  });
}

/** The person of a token; null if it does not exist, was revoked or has expired. Notes its use, once a minute. */
export async function findTokenHolder({ sql }: Database, token: string, at: Date): Promise<TokenHolder | null> {
  const { rows } = await sql.query<TokenHolder & { readonly is_noted: boolean }>({
    name: 'token-holder',
    text: `SELECT t.id AS "tokenId", t.name AS "tokenName", t.expires_at AS "expiresAt", u.id AS "userId", u.name,
                  u.email, coalesce(u.two_factor_enabled, false) AS "secondFactor", u.created_at AS "createdAt",
                  coalesce(t.last_used_at > $2::timestamptz - interval '1 minute', false) AS is_noted
             FROM dashboard.personal_tokens t JOIN dashboard.users u ON u.id = t.user_id
            WHERE t.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > $2`,
    values: [hashToken(token), at],
  });
  const [row] = rows;
  if (!row) return null;
  const { is_noted: isNoted, ...holder } = row;
  if (!isNoted)
    await sql.query({
      name: 'token-used',
      text: `UPDATE dashboard.personal_tokens SET last_used_at = $2
              WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $2::timestamptz - interval '1 minute')`,
      values: [holder.tokenId, at],
    });
  return holder;
}

/** The role in an account of the person with this token; null if the token has ended or they are not a member. */
export async function roleWithToken(
  { sql }: Database,
  {
    tokenId,
    userId,
    accountId,
    at,
  }: { readonly tokenId: string; readonly userId: string; readonly accountId: string; readonly at: Date },
): Promise<Role | null> {
  const { rows } = await sql.query<{ role: string }>({
    name: 'role-with-token',
    text: `SELECT m.role FROM dashboard.personal_tokens t JOIN dashboard.members m ON m.user_id = t.user_id
            WHERE t.id = $1 AND t.user_id = $2 AND t.revoked_at IS NULL AND t.expires_at > $4 AND m.account_id = $3`,
    values: [tokenId, userId, accountId, at],
  });
  return rows[0] ? roleSchema.parse(rows[0].role) : null;
}
