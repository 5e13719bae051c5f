import { shapeOf } from '../evm/rlp.ts';

/**
 * ox finds where the client data of a passkey's signature begins by trying every byte of it, each time with all that
 * follows: 50 ms for 2 KiB. So it gets only signatures whose client data begins soon.
 */

/** Of authenticator data: without extensions it has 37 bytes, which is also the least. */
const AUTHENTICATOR_BYTES = { min: 37, max: 101 } as const;
/** Behind the client data: r and s of the signature, x and y of the key. */
const KEY_BYTES = 128;
/** What ox reads in a fraction of a millisecond, whatever is in it. */
const CHEAP_BYTES = 256;
/** Of a key that acts for another account: the type, and the account. */
const KEYCHAIN_HEAD_BYTES = 21;
const MULTISIG_DEPTH_MAX = 3;
/** ox ignores these bytes at the end of a signature. */
const MAGIC = Buffer.alloc(32, 0x77);
const [OPEN, CLOSE] = [0x7b, 0x7d];

/** What is wrong with one that is refused for this. */
export const COSTLY_PASSKEY =
  'has a passkey signature whose client data does not begin within ' + `${AUTHENTICATOR_BYTES.max} bytes`;

/** Whether one of these texts, read as a signature, takes long to read. */
export const hasCostlyPasskey = (texts: readonly Uint8Array[]): boolean => texts.some(isCostly);

/** The same for the fields of a transaction in a node's response. */
export function isCostlyResponse(value: unknown, name = ''): boolean {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).some(([field, one]) => isCostlyResponse(one, field));
  if (typeof value !== 'string' || value.length <= 2 + 2 * CHEAP_BYTES) return false;
  const bytes = Buffer.from(value.slice(2), 'hex');
  if (name === 'webauthnData') return !beginsSoon(bytes);
  // A multisig's comes without its type.
  return name === 'signature' && isCostly(Buffer.concat([Buffer.of(MULTISIG), bytes]));
}

const [PASSKEY, KEYCHAIN, KEYCHAIN_V2, MULTISIG] = [2, 3, 4, 5] as const;

function isCostly(text: Uint8Array): boolean {
  if (text.length <= CHEAP_BYTES) return false;
  const envelope = MAGIC.equals(text.subarray(-MAGIC.length)) ? text.subarray(0, -MAGIC.length) : text;
  const type = envelope[0];
  if (type === PASSKEY) return !beginsSoon(envelope.subarray(1, -KEY_BYTES));
  if (type === KEYCHAIN || type === KEYCHAIN_V2) return isCostly(envelope.subarray(KEYCHAIN_HEAD_BYTES));
  if (type !== MULTISIG) return false;
  const shape = shapeOf(envelope.subarray(1), MULTISIG_DEPTH_MAX);
  return shape === null || hasCostlyPasskey(shape.texts);
}

/** @param data authenticator data, then client data: JSON */
function beginsSoon(data: Uint8Array): boolean {
  if (data.at(-1) !== CLOSE) return false;
  for (let at: number = AUTHENTICATOR_BYTES.min; at <= AUTHENTICATOR_BYTES.max; at += 1)
    if (data[at] === OPEN && isJson(Buffer.from(data.subarray(at)).toString())) return true;
  return false;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
