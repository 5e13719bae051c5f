import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { digestOf } from '../chain.ts';
import { isOfKey, readIfManifest } from '../manifest.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { damaged, eachOf, MovedError } from './listing.ts';

/** Where copies of an archive's files are kept, and how many bytes of them. */
export interface CopyOptions {
  /** Absolute; one for each archive. */
  readonly folder: string;
  readonly maxBytes: number;
}

/** The archive's files have more bytes than may be copied. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

/** What was merged goes after so long: until then another process may read it. */
const KEPT_MS = 3_600_000;

/** A file of the archive with what it must have. */
export interface NamedFile {
  readonly key: string;
  readonly sha256: string;
  /** Null: its name does not tell. */
  readonly bytes: number | null;
}

/**
 * Paths of files that lie on this machine.
 * @throws MovedError, ArchiveDamagedError, StoreUnavailableError
 */
export const provenPaths = (files: readonly NamedFile[], store: ObjectStore): Promise<readonly string[]> =>
  eachOf(files, async (file) => {
    await readProven(file, store);
    return store.fileOf(file.key) ?? '';
  });

/**
 * Paths of copies of files that lie elsewhere, for a program that reads files. A copy is used only while it is what was
 * named; what was merged into another is removed.
 * @throws MovedError, TooLargeError, ArchiveDamagedError, StoreUnavailableError
 */
export async function localCopies(
  files: readonly NamedFile[],
  store: ObjectStore,
  { folder, maxBytes }: CopyOptions,
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  let total = 0;
  const countBytes = (more: number): void => {
    total += more;
    if (total > maxBytes)
      throw new TooLargeError(
        `The archive's files have ${inMegabytes(total)}, and copies may have ${inMegabytes(maxBytes)}: allow more.`,
      );
  };
  countBytes(files.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0));
  const copies = await eachOf(files, async (file) => {
    const copy = path.join(folder, file.key);
    const held = await readIfThere(copy);
    const isGood = held !== null && digestOf(held) === file.sha256;
    const content = isGood ? held : await readProven(file, store);
    if (file.bytes === null) countBytes(content.length);
    if (!isGood) await writeWhole(copy, content);
    return copy;
  });
  await removeOld(folder, new Set(copies));
  return copies;
}

async function readProven({ key, sha256 }: NamedFile, store: ObjectStore): Promise<Uint8Array> {
  const content = await store.read(key);
  if (content === null) throw new MovedError(`${key} is missing`);
  const isNamed = digestOf(content) === sha256;
  if (!isNamed) throw damaged(`${key} does not have the bytes that it should`);
  return content;
}

/**
 * Reads manifests, from copies where there are: neither they nor the files ever change.
 * @param usesCopies false: copies are written again
 */
export const manifestReader =
  (store: ObjectStore, copies: CopyOptions | undefined, usesCopies: boolean) =>
  async (key: string): Promise<Uint8Array | null> => {
    if (copies === undefined) return store.read(key);
    const copy = path.join(copies.folder, key);
    const held = usesCopies ? await readIfThere(copy) : null;
    const known = held && readIfManifest(held);
    if (known && isOfKey(known, key)) return held;
    const content = await store.read(key);
    if (content !== null) await writeWhole(copy, content);
    return content;
  };

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

const inMegabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;
