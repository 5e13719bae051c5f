import { createHash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Database, PrismaTransaction } from '../postgres/database.ts';
import { type AuditSource, recordPersonalChange } from './audit.ts';
import { changingPerson } from './rights.ts';

/** A person who has set a new password. */
interface Person {
  readonly userId: string;
  readonly email: string;
}

/**
 * How the sign-in library stores the token of the link with which a new password is set: hashed. Links that were sent
 * before it did, within the last hour, are stored as they are.
 */
const linkOf = (token: string): readonly string[] => {
  const plain = `reset-password:${token}`;
  return [createHash('sha256').update(plain).digest('base64url'), plain];
};

/** The person for whom a link sets a new password; null if it was used, has expired, or never existed. */
export async function personOfResetLink({ sql }: Database, token: string, at: Date): Promise<Person | null> {
  const { rows } = await sql.query<Person>(
    `SELECT u.id AS "userId", u.email FROM dashboard.verifications v JOIN dashboard.users u ON u.id = v.value
      WHERE v.identifier = ANY($1) AND v.expires_at > $2`,
    [linkOf(token), at],
  );
  return rows[0] ?? null;
}

/**
 * Sets a new password by a link, which is used up with it. What proved before who the person is proves nothing any
 * more: all of it happens, or nothing. Who can open the link reads the mail of the address, which is so confirmed.
 * @param hash of the password, as the sign-in library makes it
 * @returns false if the link was used meanwhile
 */
export async function resetPassword(
  database: Database,
  {
    token,
    person,
    hash,
    at,
  }: { readonly token: string; readonly person: Person; readonly hash: string; readonly at: Date },
  source: AuditSource,
): Promise<boolean> {
  const { userId: id, email: name } = person;
  // The link proves who it is.
  const by = { ...source, id, name, right: { userId: id, proof: null, at } };
  return changingPerson(database, id, by, async (client) => {
    const { rowCount } = await client.query(
      'DELETE FROM dashboard.verifications WHERE identifier = ANY($1) AND value = $2 AND expires_at > $3',
      [linkOf(token), id, at],
    );
    if (rowCount === 0) return false;
    await client.query('UPDATE dashboard.users SET email_verified = true, updated_at = $2 WHERE id = $1', [id, at]);
    await setPassword(client, { userId: id, hash, at });
    await recordPersonalChange(client, by, { action: 'password.reset', subject: id });
    return true;
  });
}

/** Sets the new password of a person who has proved the old one. All that proved it before ends, their session, too. */
export async function changePassword(
  database: Database,
  { userId, hash, at }: { readonly userId: string; readonly hash: string; readonly at: Date },
  source: AuditSource,
): Promise<void> {
  await changingPerson(database, userId, source, async (client) => {
    await setPassword(client, { userId, hash, at });
    await recordPersonalChange(client, source, { action: 'password.changed', subject: userId });
  });
}

/** Whether this is the hash of a person's password now. */
export const isPasswordOf = async ({ credential }: PrismaTransaction, userId: string, hash: string): Promise<boolean> =>
  (await credential.count({ where: { userId, providerId: 'credential', password: hash } })) > 0;

/** Whether the password of a person was set since then: whatever proved who they are has ended with the one before. */
export const isPasswordSince = async ({ credential }: PrismaTransaction, userId: string, at: Date): Promise<boolean> =>
  (await credential.count({ where: { userId, providerId: 'credential', updatedAt: { gt: at } } })) > 0;

/**
 * The password, and the end of what signed in before: sessions, links, passkeys, identities, tokens and approvals. The
 * caller has locked the person. Their next sign-in at the provider links its identity again, by the address.
 */
async function setPassword(
  client: pg.ClientBase,
  { userId, hash, at }: { readonly userId: string; readonly hash: string; readonly at: Date },
): Promise<void> {
  const { rowCount } = await client.query(
    `UPDATE dashboard.credentials SET password = $2, updated_at = $3 WHERE user_id = $1 AND provider_id = 'credential'`,
    [userId, hash, at],
  );
  if (rowCount === 0)
    await client.query(
      `INSERT INTO dashboard.credentials (id, account_id, provider_id, user_id, password, created_at, updated_at)
       VALUES ($1, $2, 'credential', $2, $3, $4, $4)`,
      [randomUUID(), userId, hash, at],
    );
  await client.query('DELETE FROM dashboard.sessions WHERE user_id = $1', [userId]);
  // Other links to set a password, and sign-ins by the old one that wait for a code.
  await client.query('DELETE FROM dashboard.verifications WHERE value = $1', [userId]);
  await client.query('DELETE FROM dashboard.passkeys WHERE user_id = $1', [userId]);
  await client.query('DELETE FROM dashboard.provider_identities WHERE user_id = $1', [userId]);
  await client.query('DELETE FROM dashboard.device_requests WHERE user_id = $1', [userId]);
  await client.query('UPDATE dashboard.personal_tokens SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL', [
    userId,
    at,
  ]);
}
