import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@pf/testing';
import { ParquetFiles, S3Store, type S3StoreOptions, Signer, StoreUnavailableError } from '../../src/index.ts';
import { currentOf } from '../../src/names.ts';
import { PartitionArchive } from '../../src/partition-archive.ts';
import { toRow } from '../../src/row.ts';
import { eventsIn } from '../events-in.ts';
import { recordAt } from '../recorded.ts';
import { describeObjectStore } from './suite.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';

/** A server with a bucket. */
export interface S3Server {
  readonly url: string;
  readonly bucket: string;
  readonly credentials: NonNullable<S3StoreOptions['credentials']>;
  close(): Promise<void>;
}

const SLOW_DOWN: Fault = { status: 503, code: 'SlowDown' };
const CONFLICT: Fault = { status: 409, code: 'ConditionalRequestConflict' };
const bytes = (text: string): Uint8Array => Buffer.from(text);
const textOf = (content: Uint8Array | null): string | null => content && Buffer.from(content).toString();

/** What the archive needs of an S3 server and of the way to it. */
export function describeS3Store(name: string, start: () => Promise<S3Server>): void {
  let server: S3Server;
  let proxy: FaultyProxy;
  beforeAll(async () => {
    server = await start();
    proxy = await startFaultyProxy(server.url);
  });
  afterAll(async () => {
    await proxy.close();
    await server.close();
  });

  /** A place of its own in the bucket. */
  const newUrl = (prefix: string = randomUUID()): URL =>
    new URL(`s3://${server.bucket}/${prefix}?region=us-east-1&endpoint=${encodeURIComponent(proxy.url)}`);
  const newStore = (options: S3StoreOptions = {}, url = newUrl()): S3Store =>
    new S3Store(url, { credentials: server.credentials, ...options });

  describeObjectStore(name, async () => newStore());

  describe(`the way to ${name}`, () => {
    let store: S3Store;
    beforeEach(async () => {
      proxy.reset();
      store = newStore();
      await store.create('first', bytes('so that the probe is over'));
      proxy.reset();
    });

    it('requires no probe of a reader', async () => {
      await newStore().list('');
      await newStore().read('a');
      expect(proxy.seen.filter((request) => request.startsWith('PUT'))).toEqual([]);
    });

    it.each<[string, readonly Fault[]]>([
      ['its response was lost', ['lost']],
      ['two responses were lost', ['lost', 'lost']],
      ['it conflicted with another write', [CONFLICT]],
      ['it conflicted, and then its response was lost', [CONFLICT, 'lost']],
      ['the server was busy', [SLOW_DOWN]],
      ['the server failed after its response was lost', ['lost', { status: 500, code: 'InternalError' }]],
    ])('an object is created, and known as created, though %s', async (_what, faults) => {
      proxy.fail('PUT', '/events/a', ...faults);
      expect(await store.create('events/a', bytes('ours'))).toBe(true);
      expect(textOf(await store.read('events/a'))).toBe('ours');
    });

    it.each<[string, readonly Fault[]]>([
      ['a response was lost', ['lost']],
      ['it conflicted with the write of the other', [CONFLICT]],
      ['the server was busy', [SLOW_DOWN]],
    ])('an object of another process stays, and is known as theirs, though %s', async (_what, faults) => {
      await store.create('events/a', bytes('theirs'));
      proxy.fail('PUT', '/events/a', ...faults);
      expect(await store.create('events/a', bytes('ours'))).toBe(false);
      expect(textOf(await store.read('events/a'))).toBe('theirs');
    });

    it('a server that stays busy is unavailable, and says so', async () => {
      proxy.fail('PUT', '/events/a', ...Array.from({ length: 8 }, () => SLOW_DOWN));
      const failed = store.create('events/a', bytes('ours'));
      await expect(failed).rejects.toThrow(StoreUnavailableError);
      await expect(failed).rejects.toThrow(/create events\/a: SlowDown.*HTTP 503/);
      expect(proxy.seen).toHaveLength(4);
    });

    it('conflicts that do not end count as unavailability', async () => {
      proxy.fail('PUT', '/events/a', ...Array.from({ length: 8 }, () => CONFLICT));
      await expect(store.create('events/a', bytes('ours'))).rejects.toThrow('ConditionalRequestConflict');
      expect(proxy.seen).toHaveLength(4);
    });

    it.each(['GET', 'PUT', 'DELETE'])('a %s without a response ends', async (method) => {
      const hasty = newStore({ deadlineMs: 300 });
      proxy.fail(method, '/heads/a', ...Array.from({ length: 8 }, (): Fault => 'silent'));
      const operation = {
        GET: () => hasty.read('heads/a'),
        PUT: () => hasty.replace('heads/a', bytes('a')),
        DELETE: () => hasty.delete(['heads/a']),
      }[method];
      await expect(operation?.()).rejects.toThrow('no response within 0.3 s');
    });

    it('operations beyond its connections end too while none gets a response, and free the connections', async () => {
      const url = newUrl();
      const hasty = newStore({ deadlineMs: 1_000 }, url);
      await newStore({}, url).create('heads/a', bytes('a'));
      proxy.fail('GET', '/heads/', ...Array.from({ length: 16 }, (): Fault => 'silent'));
      const asked = await Promise.allSettled(Array.from({ length: 40 }, (_, n) => hasty.read(`heads/${n}`)));
      expect(asked.filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(16);
      await until('a free connection', async () => textOf(await hasty.read('heads/a')) === 'a');
    });

    it('a response that ends in the middle is read again, and never taken for the whole', async () => {
      await store.create('events/a', bytes('0123456789'));
      proxy.fail('GET', '/events/a', 'cut', 'cut');
      expect(textOf(await store.read('events/a'))).toBe('0123456789');
      proxy.fail('GET', '/events/a', ...Array.from({ length: 8 }, (): Fault => 'cut'));
      await expect(store.read('events/a')).rejects.toThrow(StoreUnavailableError);
    });

    it('lists all pages, in order, also after a page whose response was lost', async () => {
      const inPages = newStore({ page: 2 });
      const keys = Array.from({ length: 7 }, (_, n) => `events/${n}`);
      await Promise.all([...keys, 'other/1'].map((key) => inPages.create(key, bytes(key))));
      expect(await inPages.list('events/')).toEqual(keys);
      proxy.fail('GET', 'list-type', 'lost');
      expect(await inPages.list('events/')).toEqual(keys);
      expect(await inPages.list('events/', 'events/1')).toEqual(keys.slice(2));
    });

    it('never takes a part of a listing for the whole', async () => {
      const inPages = newStore({ page: 2 });
      for (const key of ['events/1', 'events/2', 'events/3']) await inPages.create(key, bytes(key));
      const rewrite = (text: string): string =>
        text.replace(/<NextContinuationToken>[^<]*<\/NextContinuationToken>/, '');
      proxy.fail('GET', 'list-type', { rewrite });
      await expect(inPages.list('events/')).rejects.toThrow('lists only a part');
    });

    it('deletes more objects than it has connections', async () => {
      const keys = Array.from({ length: 40 }, (_, n) => `events/${n}`);
      await Promise.all(keys.map((key) => store.create(key, bytes(key))));
      proxy.fail('DELETE', '/events/7', 'lost');
      await store.delete(keys);
      expect(await store.list('events/')).toEqual([]);
    });

    it('a bucket that does not exist is not an empty archive', async () => {
      const nowhere = newStore({}, new URL(newUrl().href.replace(server.bucket, 'no-such-bucket')));
      await expect(nowhere.read('a')).rejects.toThrow('NoSuchBucket');
      await expect(nowhere.list('')).rejects.toThrow('NoSuchBucket');
    });

    it('keeps its credentials out of its errors', async () => {
      const { accessKeyId } = server.credentials;
      proxy.fail('GET', '/heads/a', { status: 403, code: 'AccessDenied' });
      const error = await store.read('heads/a').catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(StoreUnavailableError);
      expect((error as Error).cause).toBeUndefined();
      expect(JSON.stringify([String(error), error])).not.toContain(accessKeyId);
    });

    it('the archive of a partition loses and repeats nothing, whichever response is lost', async () => {
      const parquet = await ParquetFiles.open();
      const signer = new Signer(Buffer.alloc(32, 7));
      const rows = Array.from({ length: 8 }, (_, n) => toRow(recordAt(0, n)));
      const faulty: Fault[] = ['lost', 'lost', 'lost', 'lost'];
      // Of a file, of its manifest, of the head, of a merged file, of a deletion.
      for (const [method, text] of [
        ['PUT', '/events/'],
        ['PUT', '/manifests/'],
        ['PUT', '/heads/'],
        ['PUT', '-000000'],
        ['DELETE', '/events/'],
        ['DELETE', '/manifests/'],
      ] as const) {
        const of = newStore();
        const open = () => PartitionArchive.open(0, { store: of, parquet, signer });
        let [first, tries] = [true, 0];
        for (let archive = await open(); archive.next < rows.length; tries++) {
          expect(tries).toBeLessThan(20);
          // All attempts of one operation fail, once.
          if (archive.next >= 4 && first) {
            proxy.fail(method, text, ...faulty);
            first = false;
          }
          try {
            await archive.append(rows.slice(archive.next, archive.next + 2));
            await archive.compact('2030-01-01');
          } catch (error) {
            expect(error).toMatchObject({ name: 'StoreUnavailableError' });
            archive = await open();
          }
        }
        await (await open()).compact('2030-01-01');
        const files = currentOf(await of.list('events/')).current;
        const contents = await Promise.all(
          files.map(async ({ key }) => eventsIn(parquet, (await of.read(key)) as Buffer)),
        );
        expect(contents.flat().map(({ event }) => event)).toEqual(rows.map(({ event }) => event));
        proxy.reset();
      }
      await parquet.close();
    });
  });
}
