import { identityIdOf, newUserId } from '@pf/contracts';
import type pg from 'pg';
import { type Database, inTransaction, type PrismaTransaction } from '../postgres/database.ts';
import { type AuditSource, recordPersonalChange } from './audit.ts';
import { isPasswordSince } from './passwords.ts';
import { changingPerson } from './rights.ts';

/** A person at an identity provider. */
export interface ProviderIdentity {
  readonly issuer: string;
  readonly subject: string;
}

/** An identity as its person sees it. */
export interface LinkedIdentity extends ProviderIdentity {
  readonly id: string;
  readonly createdAt: Date;
}

interface Person {
  readonly userId: string;
  readonly email: string;
}

/** The person who signs in with this identity; null if there is none. */
export async function personOfIdentity(
  { sql }: Pick<Database, 'sql'>,
  { issuer, subject }: ProviderIdentity,
): Promise<Person | null> {
  const { rows } = await sql.query<Person>(
    `SELECT person.id AS "userId", person.email FROM dashboard.provider_identities AS identity
       JOIN dashboard.users AS person ON person.id = identity.user_id WHERE issuer = $1 AND subject = $2`,
    [issuer, subject],
  );
  return rows[0] ?? null;
}

/** Whether an identity signs this person in, by a sign-in that began then: a new password unlinks what began before. */
export async function isLinked(
  prisma: PrismaTransaction,
  { issuer, subject }: ProviderIdentity,
  { userId, began }: { readonly userId: string; readonly began: Date },
): Promise<boolean> {
  if ((await prisma.providerIdentity.count({ where: { issuer, subject, userId } })) === 0) return false;
  return !(await isPasswordSince(prisma, userId, began));
}

interface NewIdentity extends ProviderIdentity {
  readonly name: string;
  /** In lower case. The provider has verified it. */
  readonly email: string;
  /** When the sign-in at the provider began. */
  readonly began: Date;
  readonly at: Date;
}

/**
 * Gives an identity to the person with its e-mail address, or registers one.
 * @returns `unverified` if the person has not confirmed the address here: a stranger may have registered it; `ended` if
 *   they have set a password since the sign-in began, which unlinks
 */
export async function linkIdentity(
  database: Database,
  { issuer, subject, name, email, began, at }: NewIdentity,
  source: AuditSource,
): Promise<{ readonly person: Person; readonly isNew: boolean } | 'unverified' | 'ended'> {
  return inTransaction(database, async (client) => {
    const { rowCount } = await client.query(
      `INSERT INTO dashboard.users (id, name, email, email_verified, created_at, updated_at)
       VALUES ($1, $2, $3, true, $4, $4) ON CONFLICT (email) DO NOTHING`,
      [newUserId(), name, email, at],
    );
    const isNew = rowCount === 1;
    await client.query('SELECT FROM dashboard.users WHERE email = $1 FOR NO KEY UPDATE', [email]);
    const { rows } = await client.query<Person & { verified: boolean; ended: boolean }>(
      `SELECT id AS "userId", email, email_verified AS verified,
              EXISTS (SELECT FROM dashboard.credentials
                       WHERE user_id = person.id AND provider_id = 'credential' AND updated_at > $2) AS ended
         FROM dashboard.users AS person WHERE email = $1`,
      [email, began],
    );
    const [found] = rows;
    if (!found?.verified) return 'unverified';
    if (found.ended) return 'ended';
    const person = { userId: found.userId, email: found.email };
    await client.query(
      `INSERT INTO dashboard.provider_identities (issuer, subject, user_id, created_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT DO NOTHING`,
      [issuer, subject, person.userId, at],
    );
    const by = { ...source, id: person.userId, name: person.email };
    if (isNew) await recordPersonalChange(client, by, { action: 'person.registered', subject: person.userId });
    await recordPersonalChange(client, by, { action: 'identity.linked', subject: person.userId, after: { issuer } });
    return { person, isNew };
  });
}

/** A person's identities, newest first. */
export async function identitiesOf(
  { sql }: { readonly sql: Pick<pg.PoolClient, 'query'> },
  userId: string,
): Promise<readonly LinkedIdentity[]> {
  const { rows } = await sql.query<ProviderIdentity & { createdAt: Date }>(
    `SELECT issuer, subject, created_at AS "createdAt" FROM dashboard.provider_identities WHERE user_id = $1
      ORDER BY created_at DESC, issuer, subject`,
    [userId],
  );
  return rows.map((row) => ({ ...row, id: identityIdOf(row.issuer, row.subject) }));
}

/** Whether a person can sign in without an identity. Passkeys do not count: a new password removes them. */
export async function hasPassword({ sql }: Pick<Database, 'sql'>, userId: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    'SELECT FROM dashboard.credentials WHERE user_id = $1 AND password IS NOT NULL LIMIT 1',
    [userId],
  );
  return rowCount === 1;
}

/** Unlinks an identity of a person. @returns the identity; null if the person has none with this id */
export async function unlinkIdentity(
  database: Database,
  { userId, identityId }: { readonly userId: string; readonly identityId: string },
  source: AuditSource,
): Promise<LinkedIdentity | null> {
  return changingPerson(database, userId, source, async (client) => {
    const identity = (await identitiesOf({ sql: client }, userId)).find(({ id }) => id === identityId);
    if (!identity) return null;
    const { issuer, subject } = identity;
    const { rowCount } = await client.query(
      'DELETE FROM dashboard.provider_identities WHERE issuer = $1 AND subject = $2',
      [issuer, subject],
    );
    if (rowCount !== 1) return null;
    const change = { action: 'identity.unlinked', subject: userId, before: { issuer } } as const;
    await recordPersonalChange(client, source, change);
    return identity;
  });
}
