import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { parseEvent } from '@pf/contracts';
import {
  ArchiveDamagedError,
  type ArchiveReport,
  FolderStore,
  Ledger,
  type NotedHead,
  type ObjectStore,
  ParquetFiles,
  Signer,
  verifyArchive,
} from '../../src/index.ts';
import { readManifest, writeManifest } from '../../src/manifest.ts';
import { publicKeyKey } from '../../src/names.ts';
import { PartitionArchive } from '../../src/partition-archive.ts';
import { EVENT_COLUMNS, toRow } from '../../src/row.ts';
import { archiveKey } from '../archive-key.ts';
import { MemoryLog } from '../memory-log.ts';
import { recordAt, RECORDED_PAYMENTS } from '../recorded.ts';

const PARTITIONS = 3;
const signer = new Signer(Buffer.alloc(32, 7));
/** An hour after the last of them was appended. */
const LATER = Date.parse('2026-11-23T13:00:00Z');
const FILES = 4;

let parquet: ParquetFiles;
let folder: string;
let log: MemoryLog;
/** The archive before it was changed, heads that are noted of it, and its objects before its last one or two files. */
let whole: ReadonlyMap<string, Uint8Array>;
let heads: readonly NotedHead[];
let older: ReadonlyMap<string, Uint8Array>;
let oldest: ReadonlyMap<string, Uint8Array>;
let store: ObjectStore;

const objectsOf = async (of: ObjectStore): Promise<ReadonlyMap<string, Uint8Array>> => {
  const keys = (
    await Promise.all(['events/', 'manifests/', 'heads/', 'keys/'].map((prefix) => of.list(prefix)))
  ).flat();
  return new Map(await Promise.all(keys.map(async (key) => [key, await read(key, of)] as const)));
};
const read = async (key: string, of = store): Promise<Uint8Array> => (await of.read(key)) ?? new Uint8Array();
const keysOf = async (prefix: string, partition: number): Promise<string[]> =>
  (await store.list(prefix)).filter((key) => key.includes(`partition=${partition}`));
const removeAll = async (...prefixes: string[]): Promise<void> => {
  for (const prefix of prefixes) await store.delete(await store.list(prefix));
};
const rowsOf = (partition: number) => (log.records[partition] ?? []).map(toRow);

beforeAll(async () => {
  parquet = await ParquetFiles.open();
  log = new MemoryLog(PARTITIONS);
  const intents = [...new Set(RECORDED_PAYMENTS.map((line) => parseEvent(line).intentId))];
  for (const line of RECORDED_PAYMENTS) {
    const partition = intents.indexOf(parseEvent(line).intentId) % PARTITIONS;
    log.append(partition, recordAt(partition, log.records[partition]?.length ?? 0, line));
  }
  folder = await mkdtemp(path.join(tmpdir(), 'pf-tampered-test-'));
  store = new FolderStore(path.join(folder, 'whole'));
  await archiveKey(store, signer);
  const archives = await Promise.all(
    log.records.map((_, partition) => PartitionArchive.open(partition, { store, parquet, signer })),
  );
  for (let file = 0; file < FILES; file++) {
    if (file === FILES - 2) oldest = await objectsOf(store);
    if (file === FILES - 1) older = await objectsOf(store);
    for (const archive of archives) {
      const rows = rowsOf(archive.partition);
      await archive.append(rows.slice(archive.next, Math.ceil(((file + 1) * rows.length) / FILES)));
    }
  }
  whole = await objectsOf(store);
  heads = (await verify({ log: true })).partitions;
});
afterAll(async () => {
  await parquet.close();
  await rm(folder, { recursive: true });
});
let copies = 0;
beforeEach(async () => {
  store = new FolderStore(path.join(folder, String(copies++)));
  for (const [key, content] of whole) await store.create(key, content);
});

const verify = (asked: { log: boolean; noted?: readonly NotedHead[] }): Promise<ArchiveReport> =>
  verifyArchive({
    store,
    parquet,
    publicKey: null,
    reader: asked.log ? log : null,
    partitions: asked.log ? PARTITIONS : null,
    noted: asked.noted ?? [],
    now: () => LATER,
  });
const problemsOf = ({ partitions, problems }: ArchiveReport): readonly string[] => [
  ...problems,
  ...partitions.flatMap((one) => one.problems),
];
/** How many events a query finds; what it says where it refuses. */
async function queried(): Promise<number | string> {
  try {
    const ledger = await Ledger.open(store);
    const { rows } = await ledger.query('SELECT count(*)::INTEGER AS n FROM events').finally(() => ledger.close());
    return Number(rows[0]?.['n']);
  } catch (error) {
    if (error instanceof ArchiveDamagedError) return error.message;
    throw error;
  }
}

/** What `verify` says with the log. */
interface Tampered {
  readonly what: string;
  readonly change: () => Promise<unknown>;
  readonly found: RegExp;
  /** Only with the log, or a head that was noted. */
  readonly needsLog?: true;
  /** What a query does: finds what was archived, or refuses; or finds less, where it cannot know of more. */
  readonly query: 'whole' | 'refuses' | 'less';
}

const PARTITION = 1;
const TAMPERED: readonly Tampered[] = [
  {
    what: 'all events, manifests and heads are gone',
    change: () => removeAll('events/', 'manifests/', 'heads/'),
    found: /The archive has no events.*ARCHIVE_URL/,
    query: 'less',
  },
  {
    what: 'a partition is gone with its head',
    async change() {
      for (const prefix of ['events/', 'manifests/', 'heads/']) await store.delete(await keysOf(prefix, PARTITION));
    },
    found: /^\d+ events of the log are not archived, the first of 2026-11-23T12:00:00.000Z: the archive service does/,
    needsLog: true,
    query: 'less',
  },
  {
    what: 'a partition is gone, and its head is there',
    async change() {
      for (const prefix of ['events/', 'manifests/']) await store.delete(await keysOf(prefix, PARTITION));
    },
    found: /^heads\/partition=1.json is not the last manifest$/,
    query: 'refuses',
  },
  {
    what: 'a partition has neither manifests nor a head, and rows were dropped',
    async change() {
      for (const prefix of ['manifests/', 'heads/']) await store.delete(await keysOf(prefix, PARTITION));
      const [key = ''] = await keysOf('events/', PARTITION);
      await store.replace(key, await parquet.write(rowsOf(PARTITION).slice(0, 2), EVENT_COLUMNS));
    },
    found: /partition=1\/\d{12}\.parquet is named by no manifest: move it away/,
    query: 'less',
  },
  {
    what: 'a forged event lies in a file of its own',
    change: async () =>
      store.create(
        'events/day=2026-11-21/partition=1/000000900000.parquet',
        await parquet.write(rowsOf(0).slice(0, 1), EVENT_COLUMNS),
      ),
    found: /^events\/day=2026-11-21\/partition=1\/000000900000.parquet is named by no manifest/,
    query: 'whole',
  },
  {
    what: 'a forged file is the next of its partition, and the log has no such event',
    change: async () =>
      store.create(
        `events/day=2026-11-21/partition=1/${String(rowsOf(1).length).padStart(12, '0')}.parquet`,
        await parquet.write(rowsOf(0).slice(0, 1), EVENT_COLUMNS),
      ),
    found: /partition=1\/\d{12}.parquet is named by no manifest/,
    needsLog: true,
    query: 'whole',
  },
  {
    what: 'a forged merged file hides its partition',
    change: async () =>
      store.create(
        'events/day=2026-11-21/partition=1/000000000000-000000999999.parquet',
        await parquet.write(rowsOf(1).slice(0, 1), EVENT_COLUMNS),
      ),
    found: /000000000000-000000999999.parquet is named by no manifest/,
    query: 'whole',
  },
  {
    what: 'a true file is there again, at a later place',
    async change() {
      const [key = ''] = await keysOf('events/', PARTITION);
      await store.create(key.replace(/\d{12}\.parquet/, '000000800000.parquet'), await read(key));
    },
    found: /000000800000.parquet is named by no manifest/,
    query: 'whole',
  },
  {
    what: 'a true file is there again, under another day',
    async change() {
      const [key = ''] = await keysOf('events/', PARTITION);
      await store.create(key.replace(/day=[^/]+/, 'day=2027-01-01'), await read(key));
    },
    found: /^events\/day=2027-01-01\/partition=1\/000000000000.parquet is named by no manifest/,
    query: 'whole',
  },
  {
    what: 'a file of another name lies among the events',
    change: async () => store.create('events/more.parquet', await read((await keysOf('events/', 0))[0] ?? '')),
    found: /^events\/more.parquet is named by no manifest/,
    query: 'whole',
  },
  {
    what: 'a file was changed in place',
    change: async () =>
      store.replace(
        (await keysOf('events/', PARTITION))[1] ?? '',
        await parquet.write(rowsOf(0).slice(0, 3), EVENT_COLUMNS),
      ),
    found: /does not have the bytes of its manifest/,
    query: 'refuses',
  },
  {
    what: 'a file was changed, and its manifest with it',
    async change() {
      const [key = ''] = await keysOf('manifests/', PARTITION);
      const [other = ''] = await keysOf('manifests/', 0);
      const manifest = readManifest(await read(key));
      const { sha256, bytes, file } = readManifest(await read(other));
      await store.replace(manifest.file, await read(file));
      await store.replace(key, writeManifest({ ...manifest, sha256, bytes }));
    },
    found: /is not signed by a key of the archive/,
    query: 'refuses',
  },
  {
    what: 'a file was truncated',
    async change() {
      const [key = ''] = await keysOf('events/', PARTITION);
      await store.replace(key, (await read(key)).subarray(0, 100));
    },
    found: /does not have the bytes of its manifest/,
    query: 'refuses',
  },
  {
    what: 'a file and its manifest in the middle are gone',
    async change() {
      for (const prefix of ['events/', 'manifests/']) await store.delete((await keysOf(prefix, PARTITION)).slice(1, 2));
    },
    found: /events \d+ to \d+ are missing before it/,
    query: 'refuses',
  },
  {
    what: 'the last file and its manifest are gone, and the head is there',
    async change() {
      for (const prefix of ['events/', 'manifests/']) await store.delete((await keysOf(prefix, PARTITION)).slice(-1));
    },
    found: /^heads\/partition=1.json is not the last manifest$/,
    query: 'refuses',
  },
  {
    what: 'the last file and its manifest are gone, and the head of then was put back',
    async change() {
      for (const prefix of ['events/', 'manifests/']) await store.delete((await keysOf(prefix, PARTITION)).slice(-1));
      await store.replace('heads/partition=1.json', older.get('heads/partition=1.json') ?? new Uint8Array());
    },
    found: /^\d+ events of the log are not archived/,
    needsLog: true,
    query: 'less',
  },
  {
    what: 'an older head was put back',
    change: async () =>
      store.replace('heads/partition=1.json', oldest.get('heads/partition=1.json') ?? new Uint8Array()),
    found: /^heads\/partition=1.json is older than the last manifest but one/,
    query: 'whole',
  },
  {
    what: 'a head is missing',
    change: async () => store.delete(['heads/partition=1.json']),
    found: /^heads\/partition=1.json is not the last manifest$/,
    query: 'whole',
  },
  {
    what: 'a partition has the manifests and the head of another',
    async change() {
      for (const prefix of ['events/', 'manifests/', 'heads/']) await store.delete(await keysOf(prefix, PARTITION));
      for (const prefix of ['manifests/', 'heads/'])
        for (const key of await keysOf(prefix, 0))
          await store.create(key.replace('partition=0', 'partition=1'), await read(key));
    },
    found: /^manifests\/partition=1\/000000000000.json is the manifest of another file: events.*partition=0/,
    query: 'refuses',
  },
  {
    what: 'the public key is none',
    change: async () => store.replace(publicKeyKey(signer.id), Buffer.from('{"id":')),
    found: /is not signed by a key of the archive/,
    query: 'refuses',
  },
];

describe('an archive that was tampered with', () => {
  it('is proven as long as it was not', async () => {
    expect(problemsOf(await verify({ log: true, noted: heads }))).toEqual([]);
    expect(problemsOf(await verify({ log: false }))).toEqual([]);
    expect(await queried()).toBe(RECORDED_PAYMENTS.length);
  });

  it.each(TAMPERED)('is found out where $what', async ({ change, found, needsLog, query }) => {
    await change();
    expect(problemsOf(await verify({ log: true }))).toContainEqual(expect.stringMatching(found));
    const alone = problemsOf(await verify({ log: false }));
    if (needsLog) expect(alone).toEqual([]);
    else expect(alone).toContainEqual(expect.stringMatching(found));
    if (query === 'refuses') expect(await queried()).toMatch(/^The archive is damaged: .*`pf ledger verify` tells/);
    else if (query === 'whole') expect(await queried()).toBe(RECORDED_PAYMENTS.length);
    else expect(await queried()).toBeLessThan(RECORDED_PAYMENTS.length);
  });

  it.each(TAMPERED.filter(({ needsLog, query }) => needsLog && query === 'less'))(
    'is found out without the log by a head that was noted, where $what',
    async ({ change }) => {
      await change();
      expect(problemsOf(await verify({ log: false, noted: heads }))).toContainEqual(
        expect.stringMatching(/^the first \d+ events are not those of the noted head/),
      );
    },
  );

  it('is no other than one that is not there', async () => {
    store = new FolderStore(path.join(folder, 'none'));
    for (const withLog of [true, false])
      expect((await verify({ log: withLog })).problems).toEqual([expect.stringContaining('The archive has no events')]);
  });
});
