import { createHash, randomUUID } from 'node:crypto';
import { addAbortSignal, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type * as S3 from '@aws-sdk/client-s3';
import { BackOff } from '@pf/runtime';
import { type ObjectStore, StoreUnavailableError, StoreUnfitError } from './object-store.ts';

/** How often a request is sent before it counts as failed. */
const ATTEMPTS = 4;
/** For an operation with all its attempts: shorter than the time after which an archiver counts as stuck. */
const DEADLINE_MS = 45_000;
const CONNECT_MS = 5_000;
/** Nothing is sent or received for so long. */
const IDLE_MS = 10_000;
const CONNECTIONS = 16;
/** Keys of a page of a listing: the most that S3 gives. */
const PAGE = 1_000;
/** Has no meaning but that it is there: a store that replaces it is refused. */
const PROBE = 'probe';

export interface S3StoreOptions {
  readonly deadlineMs?: number;
  readonly page?: number;
  /** Those of the SDK's chain (environment, profile, web identity, container, instance) where absent. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** What the SDK's errors have. */
interface S3Failure {
  readonly name: string;
  readonly message: string;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
}
type Sdk = typeof S3 & { readonly client: S3.S3Client };

/**
 * The archive in a bucket of S3 or what is compatible with it. Objects are created with `If-None-Match: *`, so the
 * bucket decides who was first; a store that does not know this is refused before anything is written.
 */
export class S3Store implements ObjectStore {
  readonly #bucket: string;
  /** Empty, or ends with `/`. */
  readonly #prefix: string;
  readonly #url: URL;
  readonly #options: S3StoreOptions;
  #sdk: Promise<Sdk> | undefined;
  #fit: Promise<void> | undefined;
  #running = 0;
  /** What waits for a connection, in its order. */
  readonly #queue = new Set<() => void>();

  /** @param url `s3://bucket/prefix?endpoint=…&region=…` (archive-url.ts) */
  constructor(url: URL, options: S3StoreOptions = {}) {
    this.#url = url;
    this.#options = options;
    this.#bucket = url.hostname;
    const prefix = url.pathname.replace(/^\/|\/$/g, '');
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
  }

  fileOf(): null {
    return null;
  }

  async create(key: string, content: Uint8Array): Promise<boolean> {
    this.#fit ??= this.#probe();
    try {
      await this.#fit;
    } catch (error) {
      this.#fit = undefined;
      throw error;
    }
    return await this.#create(key, content);
  }

  async replace(key: string, content: Uint8Array): Promise<void> {
    await this.#do(`write ${key}`, async ({ client, PutObjectCommand }, abortSignal) => {
      await client.send(new PutObjectCommand(this.#put(key, content)), { abortSignal });
    });
  }

  async read(key: string): Promise<Uint8Array | null> {
    return await this.#do(`read ${key}`, async ({ client, GetObjectCommand }, abortSignal) => {
      const backOff = newBackOff();
      for (let attempt = 1; ; attempt++) {
        let body: Readable;
        try {
          const answer = await client.send(new GetObjectCommand(this.#at(key)), { abortSignal });
          body = answer.Body as Readable;
        } catch (error) {
          // A bucket that is missing is another error, and not an archive that is empty.
          if ((error as S3Failure).name === 'NoSuchKey') return null;
          throw error;
        }
        try {
          return await buffer(addAbortSignal(abortSignal, body));
        } catch (error) {
          // The SDK sends a request again, but not what ends in the middle of a response.
          if (attempt === ATTEMPTS || abortSignal.aborted) throw error;
          await backOff.wait(abortSignal);
        }
      }
    });
  }

  async list(prefix: string, after?: string): Promise<readonly string[]> {
    const keys: string[] = [];
    for (let token: string | undefined; ;) {
      const page = await this.#do(`list ${prefix}`, ({ client, ListObjectsV2Command }, abortSignal) =>
        client.send(
          new ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: this.#prefix + prefix,
            MaxKeys: this.#options.page ?? PAGE,
            ContinuationToken: token,
            StartAfter: after && token === undefined ? this.#prefix + after : undefined,
          }),
          { abortSignal },
        ),
      );
      for (const { Key: key = '' } of page.Contents ?? []) keys.push(key.slice(this.#prefix.length));
      if (page.IsTruncated !== true) return keys.sort();
      const next = page.NextContinuationToken;
      if (next === undefined || next === token)
        throw new StoreUnavailableError(`The archive's bucket lists only a part of ${prefix}, and not how to go on.`);
      token = next;
    }
  }

  /** One by one: not every store knows how to delete several at once. */
  async delete(keys: readonly string[]): Promise<void> {
    await Promise.all(
      keys.map((key) =>
        this.#do(`delete ${key}`, async ({ client, DeleteObjectCommand }, abortSignal) => {
          await client.send(new DeleteObjectCommand(this.#at(key)), { abortSignal });
        }),
      ),
    );
  }

  async #create(key: string, content: Uint8Array): Promise<boolean> {
    const outcome = await this.#do(`create ${key}`, async ({ client, PutObjectCommand }, abortSignal) => {
      const backOff = newBackOff();
      for (let attempt = 1; ; attempt++) {
        try {
          await client.send(new PutObjectCommand({ ...this.#put(key, content), IfNoneMatch: '*' }), { abortSignal });
          return 'created';
        } catch (error) {
          const { name, $metadata } = error as S3Failure;
          const status = $metadata?.httpStatusCode;
          const isConflict = status === 409 && name === 'ConditionalRequestConflict';
          if (status === 501) throw new StoreUnfitError(UNFIT);
          // Another write or a delete of the same key was under way: nothing is decided.
          if (isConflict && attempt < ATTEMPTS) await backOff.wait(abortSignal);
          else if (status === 412) return attempt + ($metadata?.attempts ?? 1) > 2 ? 'taken, perhaps by us' : 'taken';
          else throw error;
        }
      }
    });
    if (outcome !== 'taken, perhaps by us') return outcome === 'created';
    // The response to an earlier attempt was lost. Whoever wrote the same bytes wrote the same file.
    const found = await this.read(key);
    return found !== null && Buffer.compare(found, content) === 0;
  }

  /** A store that ignores If-None-Match would let two processes archive the same place. @throws StoreUnfitError */
  async #probe(): Promise<void> {
    await this.#create(PROBE, Buffer.from(randomUUID()));
    if (await this.#create(PROBE, Buffer.from(randomUUID()))) throw new StoreUnfitError(UNFIT);
  }

  #at(key: string) {
    return { Bucket: this.#bucket, Key: this.#prefix + key };
  }
  #put(key: string, content: Uint8Array) {
    // The one checksum that every store knows, and that buckets with object lock ask for.
    return { ...this.#at(key), Body: content, ContentMD5: createHash('md5').update(content).digest('base64') };
  }

  /** @throws StoreUnavailableError, StoreUnfitError */
  async #do<Result>(what: string, work: (sdk: Sdk, signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { deadlineMs = DEADLINE_MS } = this.#options;
    const signal = AbortSignal.timeout(deadlineMs);
    let hasConnection = false;
    try {
      await this.#connection(signal);
      hasConnection = true;
      this.#sdk ??= this.#load();
      return await work(await this.#sdk, signal);
    } catch (error) {
      if (error instanceof StoreUnfitError) throw error;
      const { name, message, $metadata } = error as S3Failure;
      const said = signal.aborted ? `no response within ${deadlineMs / 1_000} s` : `${name}: ${message}`;
      const status = $metadata?.httpStatusCode === undefined ? '' : ` (HTTP ${$metadata.httpStatusCode})`;
      // Without its cause, which has the request with its headers.
      throw new StoreUnavailableError(`The archive's bucket cannot be used: ${what}: ${said}${status}`);
    } finally {
      if (hasConnection) this.#handOn();
    }
  }

  /** Waits until fewer operations run than there are connections. @throws Error when the signal aborts before */
  async #connection(signal: AbortSignal): Promise<void> {
    if (this.#running < CONNECTIONS) {
      this.#running += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const give = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#queue.delete(give);
        reject(new Error('all connections are in use'));
      };
      this.#queue.add(give);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
  #handOn(): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    this.#queue.delete(next);
    next();
  }

  /** Loaded when it is first used: an archive in a folder does without. */
  async #load(): Promise<Sdk> {
    const sdk = await import('@aws-sdk/client-s3');
    const { searchParams } = this.#url;
    const endpoint = searchParams.get('endpoint');
    const region = searchParams.get('region');
    const { credentials } = this.#options;
    const client = new sdk.S3Client({
      ...(region !== null && { region }),
      // Other stores have buckets in paths; names in front of their host need a certificate for each.
      ...(endpoint !== null && { endpoint, forcePathStyle: true }),
      ...(credentials !== undefined && { credentials }),
      maxAttempts: ATTEMPTS,
      // Newer checksums are not known to every store.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECT_MS,
        socketTimeout: IDLE_MS,
        httpAgent: { maxSockets: CONNECTIONS },
        httpsAgent: { maxSockets: CONNECTIONS },
      },
    });
    return { ...sdk, client };
  }
}

const UNFIT =
  'The store of ARCHIVE_URL cannot have an archive: it does not know If-None-Match on PutObject, so it would replace ' +
  'files that are archived. docs/operations/archive.md names stores that do.';

const newBackOff = (): BackOff => new BackOff(100, 2_000);
