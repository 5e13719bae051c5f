import { createHmac } from 'node:crypto';
import { equalInConstantTime } from '@pf/runtime';

/** 32 bytes in base64url. */
const MAC_LENGTH = 43;

const macOf = (secret: Uint8Array, channel: string, text: string): string =>
  createHmac('sha256', secret).update(`${channel}\n${text}`).digest('base64url');

/**
 * What only a holder of the secret can say on this channel: whoever else publishes there is not believed, and what was
 * said on one channel proves nothing on another.
 */
export const signed = (secret: Uint8Array, channel: string, text: string): string =>
  `${macOf(secret, channel, text)}.${text}`;

/** The signed text; null where none of the secrets has signed it for this channel. */
export function verified(secrets: readonly Uint8Array[], channel: string, message: string): string | null {
  const mac = message.slice(0, MAC_LENGTH);
  const text = message.slice(MAC_LENGTH + 1);
  if (message[MAC_LENGTH] !== '.') return null;
  return secrets.some((secret) => equalInConstantTime(macOf(secret, channel, text), mac)) ? text : null;
}
