import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { type Keyring, openColdKey, sealColdKey, UnreadableSecretError } from '@pf/database';
import { within } from '@pf/runtime';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { type ObjectStore, StoreUnavailableError } from '../store/object-store.ts';

const [compress, decompress] = [promisify(gzip), promisify(gunzip)];

/** Where an intent's rows lie in a bundle, and the key that they are encrypted with there, as the database has it. */
export interface PlaceInBundle {
  readonly bundle: string;
  readonly firstByte: number;
  readonly bytes: number;
  /** 32 bytes, encrypted with SECRETS_KEY where the writer had it. Who deletes it has deleted the rows. */
  readonly key: Uint8Array;
}

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
/** The key is of one text, so it needs no nonce of its own. */
const NONCE = Buffer.alloc(12);
const TAG_BYTES = 16;
/** Of one intent, decompressed. */
const TEXT_BYTES_MAX = 64 * 1024 * 1024;
/** A request waits for it. */
const READ_WITHIN_MS = 4_000;
/** After the store did not respond, no request waits for it for so long. */
const LEAVE_ALONE_MS = 5_000;
/** Bundles that are read from the store at once. */
const READ_AT_ONCE = 8;
/** Of bundles in memory, encrypted as in the store: who reads one intent often reads its neighbors. */
const CACHE_BYTES_MAX = 16 * 1024 * 1024;
const CACHE_MS = 10 * 60 * 1_000;

/** A bundle is missing, or does not have what was written. */
export class BundleDamagedError extends Error {
  override readonly name = 'BundleDamagedError';
}

const rows = z.object({ intent: z.string(), events: z.string() });
/** The rows of an intent, as JSON. */
type Rows = z.infer<typeof rows>;

/**
 * Bundles of intents that have left the database, in the archive's store under `cold/`. The rows of each are compressed
 * and encrypted with a key of their own, which the database keeps: bundles never change, and need not for an erasure.
 */
export class ColdBundles {
  readonly #store: ObjectStore;
  readonly #keyring: Keyring | null;
  readonly #now: () => number;
  readonly #cache: LRUCache<string, Uint8Array>;
  #leftAloneUntil = 0;
  #reading = 0;

  /**
   * @param keyring encrypts the keys of intents; null: the process has no SECRETS_KEY, and writes them as they are
   * @param now milliseconds of any clock that does not go back
   */
  constructor(store: ObjectStore, keyring: Keyring | null, now: () => number = () => performance.now()) {
    this.#store = store;
    this.#keyring = keyring;
    this.#now = now;
    // fetch() reads once for all requests that wait for the same one.
    this.#cache = new LRUCache({
      maxSize: CACHE_BYTES_MAX,
      sizeCalculation: ({ length }) => length + 1,
      ttl: CACHE_MS,
      fetchMethod: (bundle) => this.#fetch(bundle),
    });
  }

  /**
   * Writes a new bundle.
   * @param intents the rows by id
   * @param at milliseconds since 1970: names say how old bundles are
   * @returns their places, by id
   * @throws StoreUnavailableError
   */
  async write(intents: ReadonlyMap<string, Rows>, at: number): Promise<ReadonlyMap<string, PlaceInBundle>> {
    const bundle = `cold/${new Date(at).toISOString().slice(0, 10)}/${randomBytes(8).toString('hex')}`;
    const places = new Map<string, PlaceInBundle>();
    const parts: Uint8Array[] = [];
    let firstByte = 0;
    for (const [id, { intent, events }] of intents) {
      const key = randomBytes(KEY_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, NONCE).setAAD(Buffer.from(id));
      const text = await compress(JSON.stringify({ intent, events }));
      const part = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
      places.set(id, { bundle, firstByte, bytes: part.length, key: sealColdKey(this.#keyring, id, key) });
      parts.push(part);
      firstByte += part.length;
    }
    if (!(await this.#store.create(bundle, Buffer.concat(parts))))
      throw new StoreUnavailableError(`${bundle} exists already.`);
    return places;
  }

  /**
   * The rows of an intent. Responds within seconds: after a failure it fails at once for a while.
   * @throws StoreUnavailableError, BundleDamagedError
   */
  async read(id: string, { bundle, firstByte, bytes, key: stored }: PlaceInBundle): Promise<Rows> {
    const content = await this.#cache.fetch(bundle);
    if (content === undefined) throw new StoreUnavailableError(`${bundle} could not be read.`);
    try {
      const key = openColdKey(this.#keyring, id, stored);
      const end = firstByte + bytes - TAG_BYTES;
      const decipher = createDecipheriv(ALGORITHM, key, NONCE)
        .setAAD(Buffer.from(id))
        .setAuthTag(content.subarray(end, end + TAG_BYTES));
      const text = Buffer.concat([decipher.update(content.subarray(firstByte, end)), decipher.final()]);
      return rows.parse(JSON.parse((await decompress(text, { maxOutputLength: TEXT_BYTES_MAX })).toString()));
    } catch (error) {
      if (error instanceof UnreadableSecretError)
        throw new BundleDamagedError(`${bundle} cannot be read: ${error.message}.`, { cause: error });
      throw new BundleDamagedError(`${bundle} does not have ${id}.`, { cause: error });
    }
  }

  async #fetch(bundle: string): Promise<Uint8Array> {
    if (this.#now() < this.#leftAloneUntil)
      throw new StoreUnavailableError('The archive did not respond a moment ago.');
    if (this.#reading >= READ_AT_ONCE) throw new StoreUnavailableError(`${READ_AT_ONCE} bundles are being read.`);
    this.#reading++;
    // Counted until the store has responded, not only while a request waits.
    const reading = this.#store.read(bundle).finally(() => this.#reading--);
    try {
      const content = await within(READ_WITHIN_MS, reading);
      if (content === undefined)
        throw new StoreUnavailableError(`The archive did not respond within ${READ_WITHIN_MS} ms.`);
      if (content === null) throw new BundleDamagedError(`${bundle} is missing.`);
      return content;
    } catch (error) {
      if (error instanceof StoreUnavailableError) this.#leftAloneUntil = this.#now() + LEAVE_ALONE_MS;
      throw error;
    }
  }
}
