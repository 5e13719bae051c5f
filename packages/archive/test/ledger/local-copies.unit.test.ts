import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ArchiveDamagedError, Ledger, ParquetFiles, Signer, TooLargeError } from '../../src/index.ts';
import { PartitionArchive } from '../../src/partition-archive.ts';
import { EVENT_COLUMNS, toRow } from '../../src/row.ts';
import { archiveKey } from '../archive-key.ts';
import { MemoryStore } from '../memory-store.ts';
import { onDay, recordAt } from '../recorded.ts';

const MAX = 10 * 1024 * 1024;
const HOURS_AGO = new Date(Date.now() - 7_200_000);
let parquet: ParquetFiles;
let store: MemoryStore;
let archive: PartitionArchive;
let folder: string;
let copies: { folder: string; maxBytes: number };

const rowsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => toRow(onDay('2026-11-23', recordAt(0, first + n))));
async function events(): Promise<unknown> {
  const ledger = await Ledger.open(store, copies);
  try {
    return (await ledger.query('SELECT count(*)::INTEGER AS n FROM events')).rows[0]?.['n'];
  } finally {
    ledger.close();
  }
}
async function copied(): Promise<readonly string[]> {
  const found = await readdir(copies.folder, { recursive: true });
  return found.filter((name) => name.endsWith('.parquet')).sort();
}
/** How often a file was fetched from the store since. */
function fetched(): Map<string, number> {
  const reads = new Map<string, number>();
  const read = store.read.bind(store);
  store.read = async (key) => {
    reads.set(key, (reads.get(key) ?? 0) + 1);
    return await read(key);
  };
  return reads;
}

beforeAll(async () => {
  parquet = await ParquetFiles.open();
});
afterAll(() => parquet.close());
beforeEach(async () => {
  store = new MemoryStore();
  folder = await mkdtemp(path.join(tmpdir(), 'pf-copies-test-'));
  copies = { folder: path.join(folder, 'copies'), maxBytes: MAX };
  const signer = new Signer(Buffer.alloc(32, 7));
  await archiveKey(store, signer);
  archive = await PartitionArchive.open(0, { store, parquet, signer });
  for (let n = 0; n < 6; n += 2) await archive.append(rowsFrom(n, 2));
});
afterEach(() => rm(folder, { recursive: true }));

describe('copies of an archive that lies elsewhere', () => {
  it('are made once, for this user alone', async () => {
    expect(await events()).toBe(6);
    const reads = fetched();
    await archive.append(rowsFrom(6, 1));
    expect(await events()).toBe(7);
    expect([...reads].filter(([key]) => key.startsWith('events/'))).toEqual([
      ['events/day=2026-11-23/partition=0/000000000006.parquet', 1],
    ]);
    expect((await stat(copies.folder)).mode & 0o777).toBe(0o700);
    for (const name of await copied()) expect((await stat(path.join(copies.folder, name))).mode & 0o777).toBe(0o600);
  });

  it('are made again when they were changed or truncated', async () => {
    await events();
    const [first = '', second = ''] = await copied();
    await writeFile(path.join(copies.folder, first), 'other');
    await writeFile(path.join(copies.folder, second), '');
    await writeFile(path.join(copies.folder, 'manifests/partition=0/000000000000.json'), '{');
    expect(await events()).toBe(6);
    // A manifest with another signature, and with another file.
    const manifest = path.join(copies.folder, 'manifests/partition=0/000000000002.json');
    const text = await readFile(manifest, 'utf8');
    for (const other of [/"signature": "..../, /"sha256": "..../]) {
      await writeFile(
        manifest,
        text.replace(other, (found) => `${found.slice(0, -4)}0000`),
      );
      expect(await events()).toBe(6);
      expect(await readFile(manifest, 'utf8')).toBe(text);
    }
  });

  it('are refused where the archive itself has other bytes than its manifest says', async () => {
    const [key = ''] = await store.list('events/');
    store.objects.set(key, await parquet.write(rowsFrom(9, 2), EVENT_COLUMNS));
    await expect(events()).rejects.toThrow(ArchiveDamagedError);
    expect(await copied()).not.toContain(key);
  });

  it('leave out a file without a manifest, which a process that ended has left', async () => {
    const [key = '', other = ''] = await store.list('events/');
    store.objects.set(key.replace('000000000000', '000000000006'), store.objects.get(other) ?? new Uint8Array());
    expect(await events()).toBe(6);
  });

  it('are refused where a file is gone, though it is looked for again', async () => {
    store.objects.delete((await store.list('events/'))[1] ?? '');
    await expect(events()).rejects.toThrow(/archive is damaged: events.*000000000002.parquet is missing/);
  });

  it('are no more than allowed, and then none', async () => {
    copies = { ...copies, maxBytes: 1_000 };
    await expect(events()).rejects.toThrow(TooLargeError);
    await expect(events()).rejects.toThrow(/files have \d+ MB, and copies may have 1 MB/);
    expect(await copied()).toEqual([]);
  });

  it('are deleted when their files were merged, as soon as no other process can be reading them', async () => {
    await events();
    await archive.compact('2030-01-01');
    expect(await events()).toBe(6);
    expect(await copied()).toHaveLength(4);
    for (const name of await copied()) await utimes(path.join(copies.folder, name), HOURS_AGO, HOURS_AGO);
    expect(await events()).toBe(6);
    expect(await copied()).toEqual(await store.list('events/'));
  });

  it('cover the existing files, also when some are merged in the meantime', async () => {
    const read = store.read.bind(store);
    let isMerged = false;
    store.read = async (key) => {
      if (key.startsWith('events/') && !isMerged) {
        isMerged = true;
        await archive.compact('2030-01-01');
      }
      return await read(key);
    };
    expect(await events()).toBe(6);
    expect(isMerged).toBe(true);
  });
});
