import { decrypt, encrypt, type Keyring, UnreadableSecretError } from '../webhooks/keyring.ts';

/** Of a key as it is, which was written before keys were encrypted, or by a process without SECRETS_KEY. */
const PLAIN_BYTES = 32;

/** What the ciphertext of an old intent's key is bound to. */
export const coldKeyPlace = (intentId: string): string => `cold ${intentId}`;

const isPlain = (stored: Uint8Array): boolean => stored.length === PLAIN_BYTES;
/** The text that is encrypted. */
const textOf = (key: Uint8Array): string => Buffer.from(key).toString('base64');

/** The text of a stored key that is not encrypted; null where it is. */
export const plainColdKey = (stored: Uint8Array): string | null => (isPlain(stored) ? textOf(stored) : null);

/** What `ledger.cold_intents` has of the key of an old intent. @param keyring null: the key as it is */
export const sealColdKey = (keyring: Keyring | null, intentId: string, key: Uint8Array): Uint8Array =>
  keyring === null ? key : encrypt(keyring, coldKeyPlace(intentId), textOf(key));

/** @throws UnreadableSecretError */
export function openColdKey(keyring: Keyring | null, intentId: string, stored: Uint8Array): Uint8Array {
  if (isPlain(stored)) return stored;
  if (keyring === null)
    throw new UnreadableSecretError(`the key of ${intentId} is encrypted, and SECRETS_KEY is not set`);
  return Buffer.from(decrypt(keyring, coldKeyPlace(intentId), Buffer.from(stored)), 'base64');
}
