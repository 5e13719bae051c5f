import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ChainId } from '@pf/domain';

/** Who may write an observation: the watcher of a network, or the intent service, which tells intents of deposits. */
export type ObservationAuthor = ChainId | 'intent';

/** Before the signature, which is the last field of the JSON text. */
const FIELD = ',"signature":"';
/** 32 bytes in base64url. */
const SIGNATURE_LENGTH = 43;
const CLOSING = '"}';
const SUFFIX_LENGTH = FIELD.length + SIGNATURE_LENGTH + CLOSING.length;

/**
 * The key of an author: 32 bytes, made from the secret that only the intent service has. A watcher has the key of its
 * network alone, from which no other follows (docs/internals/decisions/0041-observations-are-signed.md).
 * @param secret OBSERVATION_SECRET
 */
export const observationKey = (secret: Uint8Array, author: ObservationAuthor): Buffer =>
  createHmac('sha256', secret).update(author).digest();

/** OBSERVATION_KEYS of a watcher of these networks. */
export const observationKeys = (secret: Uint8Array, chains: readonly string[]): string =>
  chains.map((chain) => `${chain}=${observationKey(secret, chain as ChainId).toString('base64')}`).join(',');

const signatureOf = (key: Uint8Array, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64url');

/** @param text a JSON object with at least one field @returns it with its signature as the last field */
export const signObservation = (key: Uint8Array, text: string): string =>
  `${text.slice(0, -1)}${FIELD}${signatureOf(key, text)}${CLOSING}`;

/** Whether the text has a signature, of whomever. */
export const isSignedObservation = (value: string): boolean =>
  value.endsWith(CLOSING) && value.slice(-SUFFIX_LENGTH).startsWith(FIELD);

/** Whether one of the keys has signed the text. */
export function isSignedBy(keys: readonly Uint8Array[], value: string): boolean {
  if (!isSignedObservation(value)) return false;
  const text = `${value.slice(0, -SUFFIX_LENGTH)}}`;
  const signature = Buffer.from(value.slice(-SUFFIX_LENGTH + FIELD.length, -CLOSING.length));
  return keys.some((key) => {
    const expected = Buffer.from(signatureOf(key, text));
    // Only texts of other than ASCII have another number of bytes.
    return expected.length === signature.length && timingSafeEqual(expected, signature);
  });
}
