import type { LogAppender, LogReader, NewRecord } from '@pf/event-log';
import { GENESIS, link } from '../chain.ts';
import { type Manifest, readIfManifest } from '../manifest.ts';
import { currentOf } from '../names.ts';
import type { ParquetFiles, StoredEvent } from '../parquet.ts';
import { ArchiveDamagedError } from '../partition-archive.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { chainOfLog, verifyPartition } from './verify.ts';

/** The log has events that the archive does not have in their place: nothing was appended. */
export class OtherEventsError extends Error {
  override readonly name = 'OtherEventsError';
}

export interface RestoreOptions {
  readonly store: ObjectStore;
  readonly parquet: ParquetFiles;
  /** The public key that must have signed every manifest, 32 bytes in base64; null: the one that the archive names. */
  readonly publicKey: string | null;
  /** The log that gets the events: an empty one, or one that a restore was interrupted in. */
  readonly log: Pick<LogReader, 'read' | 'endOffset' | 'startOffset'>;
  readonly openAppender: (partition: number) => Promise<LogAppender>;
  /** Seals events on their way into the log; without it they are appended byte for byte. */
  readonly sealing?: Sealing;
}

/** How events are sealed that are imported. */
interface Sealing {
  /** What a record and its sealed form have in common. */
  form(value: string): string;
  /** The sealed form of records that are about to be appended to a partition, in their order. */
  seal(partition: number, values: readonly string[]): Promise<readonly string[]>;
}

export interface RestoreReport {
  readonly partition: number;
  /** Events that the log had already. */
  readonly before: number;
  readonly imported: number;
}

/** A transaction of the log has no more. */
const RECORDS_MAX = 200;
const BYTES_MAX = 256 * 1024;

/**
 * Appends to a partition of the log what the archive has and the log has not: the same events, byte for byte, in the
 * same order, at other offsets; or sealed. The archive is proven first. Interrupted, it goes on where it ended.
 * @throws ArchiveDamagedError, OtherEventsError, StoreUnavailableError, LogUnavailableError
 */
export async function restorePartition(partition: number, options: RestoreOptions): Promise<RestoreReport> {
  const { store, parquet, publicKey, log, openAppender, sealing } = options;
  const form = (value: string | null): string => (sealing ? sealing.form(value ?? '') : (value ?? ''));
  const proof = await verifyPartition(partition, { store, parquet, publicKey, reader: null });
  if (proof.problems.length > 0)
    throw new ArchiveDamagedError(`Partition ${partition} of the archive: ${proof.problems.join('; ')}.`);
  /** What the log has, and whether that is all that the archive has. */
  const read = async (): Promise<{ readonly count: number; readonly hash: string; readonly hasAll: boolean }> => {
    const known = await chainOfLog(partition, log, proof.events, form);
    const hasAll = known.count >= proof.events;
    if (hasAll && known.hash !== (sealing ? await headOf(partition, store, parquet, form) : proof.head))
      throw others(known.count);
    return { ...known, hasAll };
  };
  const others = (count: number): OtherEventsError =>
    new OtherEventsError(
      `Partition ${partition} of the log has other events than the archive among its first ` +
        `${Math.min(count, proof.events)}. Import into a log that is empty.`,
    );
  const before = await read();
  if (before.hasAll) return { partition, before: before.count, imported: 0 };

  const appender = await openAppender(partition);
  try {
    // Its owner may have written until the partition was taken from it.
    const known = await read();
    if (known.hasAll) return { partition, before: known.count, imported: 0 };
    let [place, hash] = [0, GENESIS];
    for await (const events of archivedEvents(partition, store, parquet)) {
      const old = events.slice(0, Math.max(0, known.count - place));
      hash = link(
        hash,
        old.map(({ event }) => form(event)),
      );
      place += events.length;
      if (old.length === events.length && place < known.count) continue;
      if (hash !== known.hash) throw others(known.count);
      for (const records of inTransactions(events.slice(old.length))) {
        const values = records.map(({ value }) => value);
        const sealed = sealing ? await sealing.seal(partition, values) : values;
        await appender.append(records.map((record, index) => ({ ...record, value: sealed[index] ?? record.value })));
      }
    }
    return { partition, before: known.count, imported: place - known.count };
  } finally {
    await appender.close();
  }
}

/** The chain over the forms of all events of a partition. */
async function headOf(
  partition: number,
  store: ObjectStore,
  parquet: ParquetFiles,
  form: (value: string | null) => string,
): Promise<string> {
  let hash = GENESIS;
  for await (const events of archivedEvents(partition, store, parquet))
    hash = link(
      hash,
      events.map(({ event }) => form(event)),
    );
  return hash;
}

/** The events of a partition in the order of the log, some at a time. */
async function* archivedEvents(
  partition: number,
  store: ObjectStore,
  parquet: ParquetFiles,
): AsyncGenerator<readonly StoredEvent[]> {
  const { current } = currentOf(await store.list(`manifests/partition=${partition}/`));
  for (const { key } of current) {
    const described = await store.read(key);
    const manifest: Manifest | null = described && readIfManifest(described);
    const content = manifest && (await store.read(manifest.file));
    if (content === null) throw new ArchiveDamagedError(`${key} or its file is gone: stop the archive service first.`);
    yield* parquet.read(content);
  }
}

function* inTransactions(events: readonly StoredEvent[]): Generator<readonly Omit<NewRecord, 'partition'>[]> {
  let [records, bytes]: [Omit<NewRecord, 'partition'>[], number] = [[], 0];
  for (const { intentId, event } of events) {
    const value = event ?? '';
    if (records.length > 0 && (records.length === RECORDS_MAX || bytes + value.length > BYTES_MAX)) {
      yield records;
      [records, bytes] = [[], 0];
    }
    records.push({ key: intentId ?? '', value });
    bytes += value.length;
  }
  if (records.length > 0) yield records;
}
