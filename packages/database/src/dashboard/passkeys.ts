import { newPasskeyId } from '@pf/contracts';
import type { Database, PrismaTransaction } from '../postgres/database.ts';
import { type AuditSource, recordPersonalChange } from './audit.ts';
import { changingPerson } from './rights.ts';

/** A passkey as its person sees it. */
export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** What a device has made: with the public key its signatures are verified. */
export interface PasskeyCredential {
  readonly credentialId: string;
  /** In COSE. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  /** Of signatures; 0 for devices that do not count. */
  readonly counter: number;
}

/** A passkey with the person whom it signs in. */
export interface KnownPasskey extends PasskeyCredential {
  readonly id: string;
  readonly name: string;
  readonly userId: string;
}

const COLUMNS = 'id, name, created_at AS "createdAt", last_used_at AS "lastUsedAt"';

/** A person's passkeys, newest first. */
export async function passkeysOf({ sql }: Database, userId: string): Promise<readonly Passkey[]> {
  const { rows } = await sql.query<Passkey>(
    `SELECT ${COLUMNS} FROM dashboard.passkeys WHERE user_id = $1 ORDER BY created_at DESC, id`,
    [userId],
  );
  return rows;
}

/** What the devices of a person call their passkeys. */
export async function credentialIdsOf({ sql }: Database, userId: string): Promise<readonly string[]> {
  const { rows } = await sql.query<{ id: string }>(
    'SELECT credential_id AS id FROM dashboard.passkeys WHERE user_id = $1',
    [userId],
  );
  return rows.map(({ id }) => id);
}

interface NewPasskey extends PasskeyCredential {
  readonly userId: string;
  readonly at: Date;
  readonly name: string;
  /** How many the person may have. */
  readonly max: number;
}

/** @returns `full` if the person has `max` passkeys, `exists` if the credential is a passkey already */
export async function addPasskey(
  database: Database,
  { userId, name, credentialId, publicKey, counter, at, max }: NewPasskey,
  source: AuditSource,
): Promise<Passkey | 'full' | 'exists'> {
  return changingPerson(database, userId, source, async (client) => {
    const { rowCount } = await client.query('SELECT FROM dashboard.passkeys WHERE user_id = $1', [userId]);
    if ((rowCount ?? 0) >= max) return 'full';
    const { rows } = await client.query<Passkey>(
      `INSERT INTO dashboard.passkeys (id, user_id, name, credential_id, public_key, counter, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (credential_id) DO NOTHING RETURNING ${COLUMNS}`,
      [newPasskeyId(), userId, name, credentialId, publicKey, counter, at],
    );
    const [row] = rows;
    if (!row) return 'exists';
    await recordPersonalChange(client, source, { action: 'passkey.added', subject: row.id, after: { name } });
    return row;
  });
}

interface OwnPasskey {
  readonly userId: string;
  readonly passkeyId: string;
}

/** @returns null if the person has no such passkey */
export async function renamePasskey(
  database: Database,
  { userId, passkeyId, name }: OwnPasskey & { readonly name: string },
  source: AuditSource,
): Promise<Passkey | null> {
  return changingPerson(database, userId, source, async (client) => {
    const { rows } = await client.query<Passkey>(
      `SELECT ${COLUMNS} FROM dashboard.passkeys WHERE id = $1 AND user_id = $2 FOR UPDATE`,
      [passkeyId, userId],
    );
    const [before] = rows;
    if (!before || before.name === name) return before ?? null;
    const { rows: renamed } = await client.query<Passkey>(
      `UPDATE dashboard.passkeys SET name = $3 WHERE id = $1 AND user_id = $2 RETURNING ${COLUMNS}`,
      [passkeyId, userId, name],
    );
    const [row] = renamed;
    if (!row) return null;
    await recordPersonalChange(client, source, {
      action: 'passkey.renamed',
      subject: passkeyId,
      before: { name: before.name },
      after: { name },
    });
    return row;
  });
}

/** @returns what it was called; null if the person has no such passkey */
export async function removePasskey(
  database: Database,
  { userId, passkeyId }: OwnPasskey,
  source: AuditSource,
): Promise<Pick<Passkey, 'name'> | null> {
  return changingPerson(database, userId, source, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'DELETE FROM dashboard.passkeys WHERE id = $1 AND user_id = $2 RETURNING name',
      [passkeyId, userId],
    );
    const [before] = rows;
    if (!before) return null;
    await recordPersonalChange(client, source, { action: 'passkey.removed', subject: passkeyId, before });
    return before;
  });
}

export async function findPasskey({ sql }: Database, credentialId: string): Promise<KnownPasskey | null> {
  const { rows } = await sql.query<{
    id: string;
    name: string;
    user_id: string;
    public_key: Buffer<ArrayBuffer>;
    counter: string;
  }>('SELECT id, name, user_id, public_key, counter FROM dashboard.passkeys WHERE credential_id = $1', [credentialId]);
  const [row] = rows;
  if (!row) return null;
  const { id, name, user_id: userId, public_key: publicKey, counter } = row;
  return { id, name, userId, credentialId, publicKey, counter: Number(counter) };
}

/**
 * Notes that a passkey has signed its person in.
 * @returns false if it was removed meanwhile, or has meanwhile signed in elsewhere with another counter
 */
export async function notePasskeyUse(
  prisma: PrismaTransaction,
  { id, counter }: KnownPasskey,
  use: { readonly counter: number; readonly at: Date },
): Promise<boolean> {
  const { count } = await prisma.passkey.updateMany({
    where: { id, counter },
    data: { counter: use.counter, lastUsedAt: use.at },
  });
  return count === 1;
}
