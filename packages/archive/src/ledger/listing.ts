import { GENESIS } from '../chain.ts';
import { isOfKey, isSignedBy, type Manifest, publicKeyOf, readIfManifest } from '../manifest.ts';
import { currentOf, partitionOfHead } from '../names.ts';
import { ArchiveDamagedError } from '../partition-archive.ts';
import type { ObjectStore } from '../store/object-store.ts';

/** A file was merged since the archive was listed. */
export class MovedError extends Error {
  override readonly name = 'MovedError';
}

/** Objects that are fetched at once: each lies in memory. */
const AT_ONCE = 4;

/**
 * The manifests of all files that are not replaced, in the order of their partitions and places: signed, one after the
 * other, and up to the published heads. A file that none of them names is none of the archive's.
 * @param read reads a manifest, from the store or from a copy of it
 * @throws MovedError where some are missing, as while files are merged; ArchiveDamagedError, StoreUnavailableError
 */
export async function listManifests(
  store: ObjectStore,
  read: (key: string) => Promise<Uint8Array | null>,
): Promise<readonly Manifest[]> {
  // Before the manifests: those that are written meanwhile come after it.
  const heads = await eachOf(await store.list('heads/'), async (key) => {
    const content = partitionOfHead(key) === null ? null : await store.read(key);
    return content && readIfManifest(content);
  });
  const { current } = currentOf(await store.list('manifests/'));
  const manifests = await eachOf(current, async ({ key }) => {
    const content = await read(key);
    if (content === null) throw new MovedError(`${key} was there a moment ago`);
    const manifest = readIfManifest(content);
    if (manifest === null || !isOfKey(manifest, key)) throw damaged(`${key} is not the manifest of its file`);
    return manifest;
  });
  const signers = new Map<string, string | null>();
  const ends = new Map<number, Manifest>();
  for (const [which, manifest] of manifests.entries()) {
    const { key, partition, first, chain } = manifest;
    if (!signers.has(key)) signers.set(key, await publicKeyOf(key, store));
    if (!isSignedBy(signers.get(key) ?? '', manifest))
      throw damaged(`${current[which]?.key} is not signed by a key of the archive`);
    const end = ends.get(partition);
    if (first !== (end?.last ?? -1) + 1 || chain.before !== (end?.chain.after ?? GENESIS))
      throw new MovedError(`${current[which]?.key} does not follow the files before it`);
    ends.set(partition, manifest);
  }
  for (const head of heads)
    if (head && head.last > (ends.get(head.partition)?.last ?? -1))
      throw new MovedError(`the newest events of partition ${head.partition} are missing`);
  return manifests;
}

export const damaged = (problem: string): ArchiveDamagedError =>
  new ArchiveDamagedError(`The archive is damaged: ${problem}. \`pf ledger verify\` tells more.`);

export async function eachOf<Item, Result>(
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
