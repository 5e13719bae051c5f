import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { digestOf } from '../chain.ts';
import type { DeliveryFile } from '../deliveries/files.ts';
import { type Manifest, readIfManifest } from '../manifest.ts';
import { manifestKey, type NamedKey } from '../names.ts';
import { ArchiveDamagedError } from '../partition-archive.ts';
import type { ObjectStore } from '../store/object-store.ts';

/** Where copies of an archive's files are kept, and how many bytes of them. */
export interface CopyOptions {
  /** Absolute; one for each archive. */
  readonly folder: string;
  readonly maxBytes: number;
}

/** A file was merged since the archive was listed. */
export class MovedError extends Error {
  override readonly name = 'MovedError';
}
/** The archive's files have more bytes than may be copied. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

/** Files that are fetched at once: each lies in memory. */
const AT_ONCE = 4;
/** What was merged goes after so long: until then another process may read it. */
const KEPT_MS = 3_600_000;

/** What lies in an archive, for queries. */
export interface LedgerFiles {
  readonly events: readonly NamedKey[];
  readonly deliveries: readonly DeliveryFile[];
}
/** Their paths, in the same order. */
export interface LedgerPaths {
  readonly events: readonly string[];
  readonly deliveries: readonly string[];
}

/**
 * Files for a program that reads files, of an archive that lies elsewhere. A copy is used only while its SHA-256 is the
 * one of the file's manifest or name; what was merged into another is removed.
 * @throws MovedError, TooLargeError, ArchiveDamagedError, StoreUnavailableError
 */
export async function localCopies(
  store: ObjectStore,
  { events, deliveries }: LedgerFiles,
  { folder, maxBytes }: CopyOptions,
): Promise<LedgerPaths> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const manifests = await eachOf(events, async (file) => manifestOf(store, folder, file));
  let bytes = 0;
  const countBytes = (more: number): void => {
    bytes += more;
    if (bytes > maxBytes)
      throw new TooLargeError(
        `The archive's files have ${inMegabytes(bytes)}, and copies may have ${inMegabytes(maxBytes)}: allow more.`,
      );
  };
  countBytes(manifests.reduce((sum, manifest) => sum + (manifest?.bytes ?? 0), 0));
  const wanted = [
    ...events.map(({ key }, which) => ({ key, sha256: manifests[which]?.sha256 ?? null, isCounted: true })),
    ...deliveries.map(({ key, sha256 }) => ({ key, sha256, isCounted: false })),
  ];
  const copies = await eachOf(wanted, async ({ key, sha256, isCounted }) => {
    const copy = path.join(folder, key);
    const held = sha256 === null ? null : await readIfThere(copy);
    const isGood = held !== null && digestOf(held) === sha256;
    const content = isGood ? held : await store.read(key);
    if (content === null) throw new MovedError(`${key} was there a moment ago`);
    if (!isCounted) countBytes(content.length);
    if (isGood) return copy;
    // A file whose manifest is not written yet has nothing to be compared with.
    if (sha256 !== null && digestOf(content) !== sha256)
      throw new ArchiveDamagedError(`${key} does not have the bytes that it should: \`pf ledger verify\` tells more.`);
    await writeWhole(copy, content);
    return copy;
  });
  await removeOld(folder, new Set(copies));
  return { events: copies.slice(0, events.length), deliveries: copies.slice(events.length) };
}

/** Null: it is not written yet. Its copy is good for as long as the file: neither ever changes. */
async function manifestOf(store: ObjectStore, folder: string, file: NamedKey): Promise<Manifest | null> {
  const key = manifestKey(file);
  const copy = path.join(folder, key);
  const held = await readIfThere(copy);
  const known = held && readIfManifest(held);
  if (known?.file === file.key) return known;
  const content = await store.read(key);
  if (content === null) return null;
  const manifest = readIfManifest(content);
  if (manifest?.file !== file.key) throw new ArchiveDamagedError(`${key} is not the manifest of ${file.key}.`);
  await writeWhole(copy, content);
  return manifest;
}

/** Files are small enough for memory, as in the store. */
const readIfThere = (file: string): Promise<Buffer | null> =>
  readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });

/** Another process finds all of it or nothing. */
async function writeWhole(file: string, content: Uint8Array): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, content, { mode: 0o600, flag: 'wx' });
  await rename(unfinished, file);
}

async function removeOld(folder: string, current: ReadonlySet<string>): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile() || current.has(file) || file.startsWith(path.join(folder, 'manifests'))) continue;
    const found = await stat(file).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > KEPT_MS) await rm(file, { force: true });
  }
}

async function eachOf<Item, Result>(
  items: readonly Item[],
  work: (item: Item, which: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const [which, item] of left) results[which] = await work(item, which);
    }),
  );
  return results;
}

const inMegabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;
