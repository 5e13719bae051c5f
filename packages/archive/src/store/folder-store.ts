import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { type ObjectStore, StoreUnavailableError } from './object-store.ts';

/** Files that are not whole yet; no pattern for the archive's files finds them. */
const UNFINISHED = '.unfinished';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** The archive in a folder of this machine: what a developer has, and what a backup of a volume takes along. */
export class FolderStore implements ObjectStore {
  readonly #folder: string;

  /** @param folder absolute; made with the first object */
  constructor(folder: string) {
    this.#folder = folder;
  }

  fileOf(key: string): string {
    return this.#fileOf(key);
  }

  create(key: string, content: Uint8Array): Promise<boolean> {
    return this.#write(key, content, async (unfinished, file) => {
      try {
        await link(unfinished, file);
        return true;
      } catch (error) {
        if (codeOf(error) === 'EEXIST') return false;
        throw error;
      }
    });
  }

  async replace(key: string, content: Uint8Array): Promise<void> {
    await this.#write(key, content, async (unfinished, file) => {
      await rename(unfinished, file);
      return true;
    });
  }

  async read(key: string): Promise<Uint8Array | null> {
    try {
      return await readFile(this.#fileOf(key));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw unavailable(error);
    }
  }

  async list(prefix: string, after = ''): Promise<readonly string[]> {
    try {
      const found = await readdir(this.#fileOf(prefix), { recursive: true, withFileTypes: true });
      return found
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => path.relative(this.#folder, path.join(parentPath, name)).replaceAll('\\', '/'))
        .filter((key) => key > after)
        .sort();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw unavailable(error);
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    try {
      for (const key of keys) await rm(this.#fileOf(key), { force: true });
    } catch (error) {
      throw unavailable(error);
    }
  }

  #fileOf(key: string): string {
    return path.join(this.#folder, key);
  }

  /** Writes it beside, on disk, and then gives it its name: a reader and a crash find all of it or nothing. */
  async #write(
    key: string,
    content: Uint8Array,
    publish: (unfinished: string, file: string) => Promise<boolean>,
  ): Promise<boolean> {
    const file = this.#fileOf(key);
    const unfinished = path.join(this.#folder, UNFINISHED, randomUUID());
    try {
      await mkdir(path.dirname(unfinished), { recursive: true });
      await mkdir(path.dirname(file), { recursive: true });
      try {
        await writeSynced(unfinished, content);
        const isPublished = await publish(unfinished, file);
        await sync(path.dirname(file));
        return isPublished;
      } finally {
        await rm(unfinished, { force: true });
      }
    } catch (error) {
      throw unavailable(error);
    }
  }
}

async function writeSynced(file: string, content: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A new name is on disk with its folder. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const unavailable = (cause: unknown): StoreUnavailableError =>
  new StoreUnavailableError(`The archive's folder cannot be used: ${(cause as Error).message}`, { cause });
