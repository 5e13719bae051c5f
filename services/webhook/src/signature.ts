import { createHmac, createSecretKey } from 'node:crypto';

/** The data that the signatures cover. */
export interface SignedMessage {
  readonly eventId: string;
  /** When the delivery is sent, in whole seconds since 1970. */
  readonly timestamp: number;
  /** The exact bytes of the body. */
  readonly body: Buffer;
}

/** Hex HMAC-SHA256 of the body, keyed with the UTF-8 bytes of the whole `whsec_…` text (docs/reference/contract.md). */
export const pfSignature = (body: Buffer, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex');

/**
 * `v1,` and the base64 HMAC of `id.timestamp.body`, keyed with the decoded secret (https://www.standardwebhooks.com).
 */
function standardSignature({ eventId, timestamp, body }: SignedMessage, secret: string): string {
  // Node takes three times as long with a Buffer as key.
  const key = createSecretKey(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${eventId}.${timestamp}.`).update(body).digest('base64')}`;
}

/**
 * The headers by which a receiver verifies a delivery: X-PF-Signature, and those of Standard Webhooks.
 * @param secrets those in force, the current one first: it alone signs X-PF-Signature, all of them sign
 *   webhook-signature
 */
export function signatureHeaders(
  message: SignedMessage,
  secrets: readonly [string, ...string[]],
): Readonly<Record<string, string>> {
  return {
    'X-PF-Signature': pfSignature(message.body, secrets[0]),
    'webhook-id': message.eventId,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': secrets.map((secret) => standardSignature(message, secret)).join(' '),
  };
}
