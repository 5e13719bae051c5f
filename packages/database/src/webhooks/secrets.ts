import { randomBytes } from 'node:crypto';
import { newWebhookSecretId, SECRETS_MAX } from '@pf/contracts';
import type pg from 'pg';
import { type AuditSource, recordChange } from '../dashboard/audit.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/database.ts';
import { decrypt, encrypt, type Keyring } from './keyring.ts';

/** A secret in plain text, `whsec_` + base64 of 32 bytes, and the time from which it signs. */
export interface WebhookSecret {
  readonly secret: string;
  readonly validFrom: Date;
}

/** An account and mode, or one URL of them: each may have its own secrets. */
export interface SecretOwner {
  readonly accountId: string;
  readonly livemode: boolean;
  /** Without one: the secrets of all URLs that have none of their own. */
  readonly endpointId?: string | undefined;
}

/** How long a replaced secret still signs beside the new one. */
export const SECRET_OVERLAP_MS = 24 * 3_600_000;

/** An owner has as many secrets as it may have: one must end before another can be made. */
export class TooManySecretsError extends Error {
  override readonly name = 'TooManySecretsError';
}

export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/**
 * Creates a secret that signs from `validFrom` on (default: now), and deletes those whose overlap has ended. The first
 * of a URL replaces that of its account and mode, which goes on signing for the overlap.
 * @param by who does; without it, as for tests, the audit log has no entry
 * @returns its plain text
 * @throws TooManySecretsError
 */
export async function createWebhookSecret(
  database: Database,
  keyring: Keyring,
  owner: SecretOwner,
  validFrom: Date = new Date(),
  by?: AuditSource,
): Promise<string> {
  const inherited = await inheritedSecrets(database, keyring, owner);
  return inTransaction(database, async (client) => {
    const secret = await addWebhookSecret(client, keyring, owner, validFrom, inherited);
    const { accountId, livemode, endpointId = null } = owner;
    const change = { accountId, action: 'secret.rotated', livemode, subject: endpointId } as const;
    if (by) await recordChange(client, by, { ...change, after: { validFrom } });
    return secret;
  });
}

/**
 * As createWebhookSecret, within the caller's transaction.
 * @param inherited from inheritedSecrets(), read before
 */
export async function addWebhookSecret(
  client: pg.PoolClient,
  keyring: Keyring,
  owner: SecretOwner,
  validFrom: Date,
  inherited: readonly WebhookSecret[],
): Promise<string> {
  const secret = newWebhookSecret();
  for (const one of inherited) await insertWebhookSecret(client, keyring, owner, one);
  await insertWebhookSecret(client, keyring, owner, { secret, validFrom });
  const values = [owner.accountId, owner.livemode, owner.endpointId ?? null];
  await client.query(
    `DELETE FROM service.webhook_secrets s
      WHERE account_id = $1 AND livemode = $2 AND endpoint_id IS NOT DISTINCT FROM $3 AND EXISTS (
       SELECT FROM service.webhook_secrets newer
        WHERE newer.account_id = $1 AND newer.livemode = $2 AND newer.endpoint_id IS NOT DISTINCT FROM $3
          AND newer.valid_from > s.valid_from AND newer.valid_from < $4)`,
    [...values, new Date(Date.now() - SECRET_OVERLAP_MS)],
  );
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM service.webhook_secrets
      WHERE account_id = $1 AND livemode = $2 AND endpoint_id IS NOT DISTINCT FROM $3`,
    values,
  );
  if ((rows[0]?.count ?? 0) > SECRETS_MAX)
    throw new TooManySecretsError(
      `there are already ${SECRETS_MAX} secrets; an old one stops signing 24 hours after its successor took over`,
    );
  return secret;
}

/** Writes a secret within the caller's transaction. */
export async function insertWebhookSecret(
  client: pg.PoolClient,
  keyring: Keyring,
  { accountId, livemode, endpointId }: SecretOwner,
  { secret, validFrom }: WebhookSecret,
): Promise<void> {
  const id = newWebhookSecretId();
  await client.query(
    `INSERT INTO service.webhook_secrets (id, account_id, livemode, endpoint_id, ciphertext, valid_from)
      VALUES ($1, $2, $3, $4, $5, $6)`,
    [id, accountId, livemode, endpointId ?? null, encrypt(keyring, id, secret), validFrom],
  );
}

/** What signs for a URL that has no secret of its own yet. */
export async function inheritedSecrets(
  database: Database,
  keyring: Keyring,
  { endpointId, ...account }: SecretOwner,
): Promise<readonly WebhookSecret[]> {
  if (endpointId === undefined) return [];
  const own = await ownSecrets(database, keyring, { ...account, endpointId });
  return own.length > 0 ? [] : (await ownSecrets(database, keyring, account)).toReversed();
}

/**
 * All secrets of an owner, newest first, including those that are not valid yet. Those of a URL without any are those
 * of its account and mode.
 * @throws UnreadableSecretError if no key of the ring is the one they were encrypted with
 */
export async function webhookSecrets(
  database: Database,
  keyring: Keyring,
  { endpointId, ...account }: SecretOwner,
): Promise<readonly WebhookSecret[]> {
  const own = endpointId === undefined ? [] : await ownSecrets(database, keyring, { ...account, endpointId });
  return own.length > 0 ? own : ownSecrets(database, keyring, account);
}

async function ownSecrets(
  { sql }: Database,
  keyring: Keyring,
  { accountId, livemode, endpointId }: SecretOwner,
): Promise<readonly WebhookSecret[]> {
  const { rows } = await sql.query<{ id: string; ciphertext: Buffer; valid_from: Date }>(
    `SELECT id, ciphertext, valid_from FROM service.webhook_secrets
      WHERE account_id = $1 AND livemode = $2 AND endpoint_id IS NOT DISTINCT FROM $3
      ORDER BY valid_from DESC, created_at DESC`,
    [accountId, livemode, endpointId ?? null],
  );
  return rows.map(({ id, ciphertext, valid_from: validFrom }) => ({
    secret: decrypt(keyring, id, ciphertext),
    validFrom,
  }));
}

/**
 * The secrets that sign at a time: the current one first, then each that was replaced within the last 24 h. The oldest
 * signs at any time before, so that no delivery goes unsigned when clocks differ.
 * @param secrets all, newest first
 */
export function secretsInForce(secrets: readonly WebhookSecret[], at: number): readonly string[] {
  const started = secrets.filter(({ validFrom }, index) => validFrom.getTime() <= at || index === secrets.length - 1);
  const firstEnded = started.findIndex((_, index) => {
    const successor = started[index - 1];
    return successor !== undefined && successor.validFrom.getTime() <= at - SECRET_OVERLAP_MS;
  });
  return started.slice(0, firstEnded === -1 ? undefined : firstEnded).map(({ secret }) => secret);
}
