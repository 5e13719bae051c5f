import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** SECRETS_KEY: keys of 32 bytes. The first encrypts; all decrypt, so that a key can be replaced while services run. */
export type Keyring = Buffer | readonly Buffer[];

/** Something that is stored encrypted cannot be read: its key is not in SECRETS_KEY, or it is damaged. */
export class UnreadableSecretError extends Error {
  override readonly name = 'UnreadableSecretError';
}

/** Without a key id: written by 1.0.0, or with a ring of one key. */
const ANONYMOUS = 1;
const NAMED = 2;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The first encrypts and signs. */
export const keysOf = (keyring: Keyring): readonly Buffer[] => (Buffer.isBuffer(keyring) ? [keyring] : keyring);

/** Keys for one purpose, derived from those of SECRETS_KEY: the first makes, all verify. */
export const derivedKeys = (keyring: Keyring, purpose: string): readonly Buffer[] =>
  keysOf(keyring).map((key) => Buffer.from(hkdfSync('sha256', key, '', `payment intents: ${purpose}`, 32)));

/** The same for HMACs: with a Buffer as its key, an HMAC takes Node five times as long. */
export const derivedMacKeys = (keyring: Keyring, purpose: string): readonly KeyObject[] =>
  derivedKeys(keyring, purpose).map((key) => createSecretKey(key));

function firstKey(keyring: Keyring): Buffer {
  const [key] = keysOf(keyring);
  if (key === undefined) throw new Error('SECRETS_KEY holds no key');
  return key;
}

/** The name of a key, which tells nothing of it: the beginning of a hash. */
const idOf = (key: Buffer): Buffer =>
  createHash('sha256').update('SECRETS_KEY').update(key).digest().subarray(0, KEY_ID_BYTES);

/** What begins everything that the first key of the ring has encrypted. */
export const currentPrefix = (keyring: Keyring): Buffer => Buffer.concat([Buffer.of(NAMED), idOf(firstKey(keyring))]);

/**
 * AES-256-GCM: format, key id, nonce, tag, ciphertext. With one key there is nothing to tell apart: the key id is left
 * out, and 1.0.0 can read it.
 * @param id of the row: it is authenticated, so that rows cannot be swapped
 * @param named whether to name the key
 */
export function encrypt(keyring: Keyring, id: string, text: string, named = keysOf(keyring).length > 1): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', firstKey(keyring), nonce).setAAD(Buffer.from(id));
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  const prefix = named ? currentPrefix(keyring) : Buffer.of(ANONYMOUS);
  return Buffer.concat([prefix, nonce, cipher.getAuthTag(), ciphertext]);
}

/** @throws UnreadableSecretError */
export function decrypt(keyring: Keyring, id: string, sealed: Buffer): string {
  const keys = keysOf(keyring);
  if (sealed[0] === ANONYMOUS) {
    for (const key of keys) {
      const text = open(key, id, sealed.subarray(1));
      if (text !== null) return text;
    }
    throw new UnreadableSecretError(`${id} cannot be decrypted: SECRETS_KEY is not the one it was encrypted with`);
  }
  if (sealed[0] !== NAMED) throw new UnreadableSecretError(`${id} has an unknown format`);
  const keyId = sealed.subarray(1, 1 + KEY_ID_BYTES);
  const key = keys.find((one) => idOf(one).equals(keyId));
  if (key === undefined)
    throw new UnreadableSecretError(
      `${id} cannot be decrypted: SECRETS_KEY is not the one it was encrypted with (key ${keyId.toString('hex')}); ` +
        `it holds ${keys.map((one) => idOf(one).toString('hex')).join(', ')}`,
    );
  const text = open(key, id, sealed.subarray(1 + KEY_ID_BYTES));
  if (text === null) throw new UnreadableSecretError(`${id} cannot be decrypted: it is damaged, or of another row`);
  return text;
}

function open(key: Buffer, id: string, sealed: Buffer): string | null {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(id))
      .setAuthTag(tag);
    const plain = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([plain, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}
