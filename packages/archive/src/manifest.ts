import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { eventsKey, publicKeyKey, readName } from './names.ts';
import type { ObjectStore } from './store/object-store.ts';

const place = z.number().int().nonnegative();
const offset = z.string().regex(/^\d+$/);
const hash = z.string().regex(/^[0-9a-f]{64}$/);

const statement = z.object({
  format: z.literal(1),
  partition: z.number().int().nonnegative(),
  /** The places of the first and the last event (names.ts). */
  first: place,
  last: place,
  /** `2026-11-23`: of the events, in UTC. */
  day: z.iso.date(),
  /** The key of the file, its size in bytes, and the SHA-256 of its bytes. */
  file: z.string(),
  bytes: z.number().int().positive(),
  sha256: hash,
  /** The offsets of the first and the last event in the log that they were read from. */
  offsets: z.object({ first: offset, last: offset }),
  /** How many intents have events in it, and the lowest and highest version of any; null where none can be read. */
  intents: z.number().int().nonnegative(),
  versions: z.object({ lowest: z.number().int(), highest: z.number().int() }).nullable(),
  /** The identity of the last event: the log that goes on after it is the right one. */
  lastEvent: z.object({ intentId: z.string().nullable(), version: z.number().int().nullable(), sha256: hash }),
  /** The hash of the partition's chain before the first event, and after the last (chain.ts). */
  chain: z.object({ before: hash, after: hash }),
});
/** What the archive says of one of its files. */
export type Statement = z.infer<typeof statement>;

const manifest = statement.extend({ key: z.string(), signature: z.base64() });
/** A statement with its Ed25519 signature, and the id of the key that made it. */
export type Manifest = z.infer<typeof manifest>;

/** The fields in the order of the schema, so that a manifest that was read has the bytes that were signed. */
const bytesOf = (one: Statement): Buffer => Buffer.from(JSON.stringify(statement.parse(one)));

/** @throws ZodError or SyntaxError */
export const readManifest = (content: Uint8Array): Manifest =>
  manifest.parse(JSON.parse(Buffer.from(content).toString('utf8')));
/** Null where it is not a manifest. */
export function readIfManifest(content: Uint8Array): Manifest | null {
  try {
    return readManifest(content);
  } catch {
    return null;
  }
}
/** True where the file and the places in a manifest are those that its key stands for. */
export function isOfKey({ partition, first, last, day, file }: Manifest, key: string): boolean {
  const name = readName(key);
  return (
    name?.partition === partition &&
    name.first === first &&
    (name.last ?? last) === last &&
    file === eventsKey(day, name)
  );
}
export const writeManifest = (one: Manifest): Uint8Array =>
  Buffer.from(`${JSON.stringify(manifest.parse(one), null, 2)}\n`);

/** The raw Ed25519 public key is the end of its SPKI encoding. */
const RAW_BYTES = 32;
const rawOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' }).subarray(-RAW_BYTES);
/** SPKI of Ed25519, and PKCS #8 (RFC 8410), up to the key itself. */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Names a public key: the first 16 hex digits of its SHA-256. */
const idOf = (raw: Uint8Array): string => createHash('sha256').update(raw).digest('hex').slice(0, 16);

/** Signs manifests. */
export class Signer {
  readonly #key: KeyObject;
  readonly id: string;
  /** 32 bytes in base64. */
  readonly publicKey: string;

  /** @param seed 32 bytes: the private key of Ed25519 */
  constructor(seed: Uint8Array) {
    this.#key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
    const raw = rawOf(createPublicKey(this.#key));
    this.id = idOf(raw);
    this.publicKey = raw.toString('base64');
  }

  sign(one: Statement): Manifest {
    return { ...one, key: this.id, signature: sign(null, bytesOf(one), this.#key).toString('base64') };
  }
}

const publicKey = z.object({
  id: z.string(),
  algorithm: z.literal('Ed25519'),
  /** 32 bytes in base64. */
  publicKey: z.base64(),
});
/** The public key that the archive has under an id, 32 bytes in base64; null where it has none. */
export async function publicKeyOf(id: string, store: ObjectStore): Promise<string | null> {
  const content = await store.read(publicKeyKey(id));
  try {
    return content && publicKey.parse(JSON.parse(Buffer.from(content).toString('utf8'))).publicKey;
  } catch {
    return null;
  }
}
export const writePublicKey = ({ id, publicKey: key }: Pick<Signer, 'id' | 'publicKey'>): Uint8Array =>
  Buffer.from(`${JSON.stringify({ id, algorithm: 'Ed25519', publicKey: key }, null, 2)}\n`);

/** True where this key made the signature, whatever the key is called. @param key 32 bytes in base64 */
export function isSignedBy(key: string, { key: id, signature, ...one }: Manifest): boolean {
  const raw = Buffer.from(key, 'base64');
  if (raw.length !== RAW_BYTES || idOf(raw) !== id) return false;
  const spki = createPublicKey({ key: Buffer.concat([SPKI, raw]), format: 'der', type: 'spki' });
  return verify(null, bytesOf(one), spki, Buffer.from(signature, 'base64'));
}
