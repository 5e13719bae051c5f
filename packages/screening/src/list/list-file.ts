import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const listedAddress = z.strictObject({
  address: z.string().min(1),
  label: z.string(),
  uid: z.string(),
  name: z.string(),
});

const sanctionsList = z
  .strictObject({
    version: z.literal(1),
    /** The file or URL that it was made of. */
    source: z.string(),
    publishedOn: z.string().nullable(),
    /** When the export was read successfully: after 48 hours the list is stale. */
    fetchedAt: z.iso.datetime(),
    count: z.int().min(0),
    addresses: z.array(listedAddress),
  })
  .refine(({ count, addresses }) => count === addresses.length, {
    error: 'count is not the number of addresses',
    path: ['count'],
  });

/** The list as the services read it. */
export type SanctionsList = z.infer<typeof sanctionsList>;

/** The file is not a list in this version's format. */
export class ListFileError extends Error {
  override readonly name = 'ListFileError';
}

/** @throws ListFileError if the file is not a list; the system's error if it cannot be read */
export async function readListFile(file: string): Promise<SanctionsList> {
  const text = await readFile(file, 'utf8');
  try {
    return sanctionsList.parse(JSON.parse(text));
  } catch (cause) {
    throw new ListFileError(`${file} is not a sanctions list. Run \`pf sanctions update\` to replace it.`, { cause });
  }
}

/** The current list; null if there is none yet. @throws ListFileError */
export async function readListFileIfThere(file: string): Promise<SanctionsList | null> {
  try {
    return await readListFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Replaces the list atomically: a reader finds either the former or the new one. */
export async function writeListFile(file: string, list: SanctionsList): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const beside = `${file}.${randomUUID()}.new`;
  try {
    const handle = await open(beside, 'w', 0o644);
    try {
      await handle.writeFile(`${JSON.stringify(list)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}
