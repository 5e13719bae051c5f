import type { LogReader } from '@pf/event-log';
import { digestOf } from '../chain.ts';
import { isSignedBy, publicKeyOf, readIfManifest } from '../manifest.ts';
import { headKey } from '../names.ts';
import type { ObjectStore } from '../store/object-store.ts';

/** More than the archive and the webhooks are ever behind. */
const BEHIND_MAX = 10_000;

/**
 * The intents of a log partition with an event that is not archived yet, or that another reader of the log has not
 * read. All others are archived: the partition's head is signed, and its last event is the one that the log has there.
 * @param others where the other reader goes on
 * @returns null where nothing can be said: there is no head, or not of this log, or one of the two is far behind
 * @throws StoreUnavailableError, LogUnavailableError, LogTruncatedError
 */
export async function unfinishedIn(
  partition: number,
  { store, reader }: { readonly store: ObjectStore; readonly reader: Pick<LogReader, 'read' | 'endOffset'> },
  others: bigint,
): Promise<ReadonlySet<string> | null> {
  const published = await store.read(headKey(partition));
  const head = published && readIfManifest(published);
  if (!head || !isSignedBy((await publicKeyOf(head.key, store)) ?? '', head)) return null;
  const last = BigInt(head.offsets.last);
  const end = await reader.endOffset('intent.events', partition);
  const from = others < last ? others : last;
  if (last >= end || end - from > BEHIND_MAX) return null;
  const intents = new Set<string>();
  let isOfThisLog = false;
  for await (const { records } of reader.read('intent.events', partition, from, end))
    for (const { offset, key, value } of records) {
      if (offset === last) isOfThisLog = digestOf(Buffer.from(value ?? '')) === head.lastEvent.sha256;
      if (offset > last || offset >= others) intents.add(key ?? '');
    }
  return isOfThisLog ? intents : null;
}
