import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { newWebhookSecretId } from '@pf/contracts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/database.ts';

/** A secret in plain text, `whsec_` + base64 of 32 bytes, and the time from which it signs. */
export interface WebhookSecret {
  readonly secret: string;
  readonly validFrom: Date;
}

/** An account and mode: each has its own secrets. */
export interface SecretOwner {
  readonly accountId: string;
  readonly livemode: boolean;
}

/** A secret cannot be read: there is none, or SECRETS_KEY is not the one that it was encrypted with. */
export class UnreadableSecretError extends Error {
  override readonly name = 'UnreadableSecretError';
}

/** How long a replaced secret still signs beside the new one. */
export const SECRET_OVERLAP_MS = 24 * 3_600_000;

const FORMAT = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Creates a secret that signs from `validFrom` on (default: now), and deletes those whose overlap has ended.
 * @param key 32 bytes, SECRETS_KEY
 * @returns its plain text
 */
export async function createWebhookSecret(
  database: Database,
  key: Buffer,
  owner: SecretOwner,
  validFrom: Date = new Date(),
): Promise<string> {
  const id = newWebhookSecretId();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const { accountId, livemode } = owner;
  await inTransaction(database, async (client) => {
    await client.query(
      `INSERT INTO service.webhook_secrets (id, account_id, livemode, ciphertext, valid_from)
        VALUES ($1, $2, $3, $4, $5)`,
      [id, accountId, livemode, encrypt(key, id, secret), validFrom],
    );
    await client.query(
      `DELETE FROM service.webhook_secrets s WHERE account_id = $1 AND livemode = $2 AND EXISTS (
         SELECT FROM service.webhook_secrets newer
          WHERE newer.account_id = $1 AND newer.livemode = $2 AND newer.valid_from > s.valid_from
            AND newer.valid_from < $3)`,
      [accountId, livemode, new Date(Date.now() - SECRET_OVERLAP_MS)],
    );
  });
  return secret;
}

/**
 * All secrets of an account and mode, newest first, including those that are not valid yet.
 * @throws UnreadableSecretError if `key` is not the one they were encrypted with
 */
export async function webhookSecrets(
  { prisma }: Database,
  key: Buffer,
  { accountId, livemode }: SecretOwner,
): Promise<readonly WebhookSecret[]> {
  const rows = await prisma.webhookSecret.findMany({
    where: { accountId, livemode },
    orderBy: [{ validFrom: 'desc' }, { createdAt: 'desc' }],
  });
  return rows.map(({ id, ciphertext, validFrom }) => ({
    secret: decrypt(key, id, Buffer.from(ciphertext)),
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

/**
 * AES-256-GCM: format, nonce, tag, ciphertext. The row's id is authenticated with it, so that rows cannot be swapped.
 */
function encrypt(key: Buffer, id: string, secret: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(id));
  const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), ciphertext]);
}

function decrypt(key: Buffer, id: string, sealed: Buffer): string {
  if (sealed[0] !== FORMAT) throw new UnreadableSecretError(`webhook secret ${id} has an unknown format`);
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
  const tag = sealed.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(id))
    .setAuthTag(tag);
  const plain = decipher.update(sealed.subarray(1 + NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([plain, decipher.final()]).toString('utf8');
  } catch (cause) {
    throw new UnreadableSecretError(
      `webhook secret ${id} cannot be decrypted: SECRETS_KEY is not the one it was encrypted with`,
      { cause },
    );
  }
}
