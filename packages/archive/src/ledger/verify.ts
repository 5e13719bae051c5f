import type { LogReader } from '@pf/event-log';
import { GENESIS, digestOf, link } from '../chain.ts';
import { isOfKey, isSignedBy, publicKeyOf, readIfManifest } from '../manifest.ts';
import { currentOf, headKey, manifestKey, partitionOfHead, readName } from '../names.ts';
import type { ParquetFiles } from '../parquet.ts';
import { type ObjectStore, StoreUnavailableError } from '../store/object-store.ts';

/** The chain of a partition's first events: published elsewhere, it proves later that none of them has changed. */
export interface NotedHead {
  readonly partition: number;
  readonly events: number;
  /** The hash of the chain after them. */
  readonly head: string;
}

/** What a check of the whole archive has found. */
export interface ArchiveReport {
  readonly partitions: readonly PartitionReport[];
  /** Of no partition. Empty: all is well. */
  readonly problems: readonly string[];
}

/** What a check of one partition has found. */
export interface PartitionReport {
  readonly partition: number;
  readonly files: number;
  readonly events: number;
  /** The hash of the chain after the last event. */
  readonly head: string;
  /** How many events of the log come after the archive's; null where the log was not asked. */
  readonly behind: number | null;
  /** Empty: all is well. */
  readonly problems: readonly string[];
}

export interface VerifyOptions {
  readonly store: ObjectStore;
  readonly parquet: ParquetFiles;
  /** The public key that must have signed every manifest, 32 bytes in base64; null: the one that the archive names. */
  readonly publicKey: string | null;
  /** The log that the archive is compared with; null: only the archive is checked. */
  readonly reader: Pick<LogReader, 'read' | 'endOffset' | 'startOffset'> | null;
  /** The versions in which intents of a partition have left Postgres: the archive must have each up to there. */
  readonly left?: (partition: number) => Promise<ReadonlyMap<string, number>>;
  /** Heads that were noted outside the store: the archive must go on from each. */
  readonly noted?: readonly NotedHead[];
  readonly now?: () => number;
}

/** A head that must be on the chain, and what is said where it is not. */
interface ExpectedHead extends Omit<NotedHead, 'partition'> {
  readonly problem: string;
}

/** More of the same kind say nothing new. */
const PROBLEMS_MAX = 20;
/** How often a partition is read from its beginning because files were merged that were to be read. */
const READINGS_MAX = 5;
/** An event is archived within a minute: one that has waited for so long was not, or was cut off. */
const LATE_MS = 5 * 60_000;

/** The partitions of which the archive has a manifest, or a head: then it has lost the manifests. */
export async function partitionsIn(store: ObjectStore): Promise<readonly number[]> {
  const described = await store.list('manifests/');
  return partitionsOf([...described, ...(await store.list('heads/'))]);
}
const partitionsOf = (keys: readonly string[]): readonly number[] =>
  [...new Set(keys.flatMap((key) => readName(key)?.partition ?? partitionOfHead(key) ?? []))].sort((a, b) => a - b);

/**
 * Proves the archive from what must be there: every partition of the log, and every one that was noted or that has a
 * head, a manifest or a file. No file may lie there that no manifest names: other programs would read it.
 * @param options.partitions how many the log has; null: it is not known, so a partition without any trace is not missed
 * @throws StoreUnavailableError, LogUnavailableError
 */
export async function verifyArchive(
  options: VerifyOptions & { readonly partitions: number | null },
): Promise<ArchiveReport> {
  const { store, noted = [] } = options;
  // Before the files: what was merged since then is gone, so no file of it is listed.
  const described = await store.list('manifests/');
  const files = await store.list('events/');
  const partitions = new Set([
    ...Array.from({ length: options.partitions ?? 0 }, (_, partition) => partition),
    ...noted.map(({ partition }) => partition),
    ...partitionsOf([...described, ...files, ...(await store.list('heads/'))]),
  ]);
  const reports: PartitionReport[] = [];
  for (const partition of [...partitions].sort((a, b) => a - b))
    reports.push(await verifyPartition(partition, options));

  const problems = described.length === 0 ? [NO_EVENTS] : [];
  const unlisted = new Map<number, string[]>();
  for (const key of doubtful(files, described)) {
    const name = readName(key);
    const report = reports.find(({ partition }) => partition === name?.partition);
    const found = (report && unlisted.get(report.partition)) ?? [];
    if (found.length === PROBLEMS_MAX) continue;
    // The archiver is about to describe it. With the log it is known whether there is such an event.
    const isNewest = name?.last === null && name.first === report?.events && report.behind !== 0;
    if (isNewest || !(await isUnlisted(key, store))) continue;
    const problem = `${key} is named by no manifest: move it away, because other programs read it`;
    if (report === undefined) problems.push(problem);
    else unlisted.set(report.partition, [...found, problem]);
  }
  return {
    problems: problems.slice(0, PROBLEMS_MAX),
    partitions: reports.map((report) => ({
      ...report,
      problems: [...report.problems, ...(unlisted.get(report.partition) ?? [])].slice(0, PROBLEMS_MAX),
    })),
  };
}

const NO_EVENTS =
  'The archive has no events. It has lost them, or ARCHIVE_URL names another place, or there was no event yet.';

/** The files of which their names alone do not tell that a manifest names them. */
function doubtful(files: readonly string[], described: readonly string[]): readonly string[] {
  const current = new Set(currentOf(described).current.map(({ key }) => key));
  const byManifest = Map.groupBy(files, (key) => {
    const name = readName(key);
    return name && manifestKey(name);
  });
  // A copy of a file under another day has the same manifest.
  return [...byManifest].flatMap(([manifest, keys]) =>
    manifest !== null && current.has(manifest) && keys.length === 1 ? [] : keys,
  );
}

/** Asked after the files were read: a merge that was not finished then is now. */
async function isUnlisted(key: string, store: ObjectStore): Promise<boolean> {
  const name = readName(key);
  const described = name && (await store.read(manifestKey(name)));
  if (described && readIfManifest(described)?.file === key) return false;
  // It may have been merged and deleted meanwhile.
  return (await store.read(key)) !== null;
}

/**
 * Proves a partition of the archive from its beginning: every manifest is signed, every file has the bytes of its
 * manifest, the chain of hashes has no gap, every intent has each of its versions once and in order, and the log has
 * the same events.
 * @throws StoreUnavailableError, LogUnavailableError
 */
export async function verifyPartition(partition: number, options: VerifyOptions): Promise<PartitionReport> {
  for (let reading = 1; ; reading++) {
    const report = await verifyOnce(partition, options);
    if (report !== 'changed meanwhile') return report;
    if (reading === READINGS_MAX)
      throw new StoreUnavailableError(`The files of partition ${partition} change faster than they can be read.`);
  }
}

async function verifyOnce(partition: number, options: VerifyOptions): Promise<PartitionReport | 'changed meanwhile'> {
  const { store, parquet, now = Date.now } = options;
  const problems: string[] = [];
  const startedAt = now();
  const report = (problem: string): void => {
    if (problems.length < PROBLEMS_MAX) problems.push(problem);
  };
  // Before the manifests: those that are written meanwhile come after it.
  const publishedBefore = await store.read(headKey(partition));
  const { current } = currentOf(await store.list(`manifests/partition=${partition}/`));
  // After them: the archiver publishes each manifest before it writes the next.
  const publishedSince = await store.read(headKey(partition));
  const since = publishedSince && readIfManifest(publishedSince);
  if (since && since.last + 1 < (current.at(-1)?.first ?? 0))
    report(`${headKey(partition)} is older than the last manifest but one: an older one was put back`);
  const versions = new Map<string, number>();
  const expected = new Set(expectedHeads(partition, options, current.length > 0, publishedBefore));
  const meet = (events: number, hash: string): void => {
    for (const one of expected) if (one.events === events && one.head === hash) expected.delete(one);
  };
  let [next, head] = [0, GENESIS];
  meet(next, head);
  for (const { key } of current) {
    const described = await store.read(key);
    if (described === null) return 'changed meanwhile';
    const manifest = readIfManifest(described);
    if (manifest === null) {
      report(`${key} is not a manifest`);
      continue;
    }
    if (!isOfKey(manifest, key)) report(`${key} is the manifest of another file: ${manifest.file}`);
    if (!isSignedBy(options.publicKey ?? (await publicKeyOf(manifest.key, store)) ?? '', manifest))
      report(`${key} is not signed by ${options.publicKey === null ? 'a key of the archive' : 'the given key'}`);
    if (manifest.first !== next) report(`${key}: events ${next} to ${manifest.first - 1} are missing before it`);
    if (manifest.chain.before !== head) report(`${key} does not continue the chain of the files before it`);
    meet(manifest.last + 1, manifest.chain.after);
    const content = await store.read(manifest.file);
    if (content === null) {
      if ((await store.read(key)) === null) return 'changed meanwhile';
      report(`${manifest.file} is missing`);
    } else if (digestOf(content) !== manifest.sha256)
      report(`${manifest.file} does not have the bytes of its manifest`);
    else {
      let [place, hash] = [manifest.first, manifest.chain.before];
      for await (const events of parquet.read(content)) {
        const chainAfter = (some: typeof events): string =>
          link(
            hash,
            some.map(({ event }) => event),
          );
        // A head in the middle: the file that it was the end of was merged since.
        for (const { events: count } of expected)
          if (place < count && count < place + events.length) meet(count, chainAfter(events.slice(0, count - place)));
        for (const { intentId, version } of events) {
          if (intentId === null || version === null) continue;
          const before = versions.get(intentId) ?? 0;
          if (version === before + 1) versions.set(intentId, version);
          else report(`${manifest.file}: version ${version} of ${intentId} follows version ${before}`);
        }
        hash = chainAfter(events);
        place += events.length;
      }
      if (hash !== manifest.chain.after) report(`${manifest.file} does not have the events of its manifest`);
    }
    [next, head] = [manifest.last + 1, manifest.chain.after];
  }
  // The partition had no file yet: its first was described meanwhile, and its head comes after that.
  if (publishedBefore === null && (await store.read(headKey(partition))) !== null) return 'changed meanwhile';
  for (const { problem } of expected) report(problem);
  for (const [id, version] of (await options.left?.(partition)) ?? []) {
    const archived = versions.get(id) ?? 0;
    if (archived !== version)
      report(`${id} has left Postgres in version ${version}, and the archive has version ${archived}`);
  }
  const behind = await compare(partition, options, { next, head, startedAt }, report);
  return { partition, files: current.length, events: next, head, behind, problems };
}

/** @param content the last manifest, as the store says; null where it does not */
function expectedHeads(
  partition: number,
  { noted = [] }: VerifyOptions,
  hasFiles: boolean,
  content: Uint8Array | null,
): readonly ExpectedHead[] {
  const published = content && readIfManifest(content);
  const problem = `${headKey(partition)} is not the last manifest`;
  const isExpected = hasFiles || content !== null;
  const own = isExpected ? [{ events: (published?.last ?? -2) + 1, head: published?.chain.after ?? '', problem }] : [];
  return [
    ...own,
    ...noted
      .filter((one) => one.partition === partition)
      .map(({ events, head }) => ({
        events,
        head,
        problem: `the first ${events} events are not those of the noted head ${head.slice(0, 16)}…`,
      })),
  ];
}

/** The log's first events have the archive's chain. @returns how many come after them */
async function compare(
  partition: number,
  { reader }: VerifyOptions,
  { next, head, startedAt }: { readonly next: number; readonly head: string; readonly startedAt: number },
  report: (problem: string) => void,
): Promise<number | null> {
  if (reader === null) return null;
  const { count, hash, goesOnAt } = await chainOfLog(partition, reader, next);
  if (count < next) report(`the log of partition ${partition} has ${count} events, and the archive ${next}`);
  else if (hash !== head) report(`the log of partition ${partition} has other events than the archive`);
  else if (goesOnAt !== null && startedAt - goesOnAt > LATE_MS)
    report(
      `${count - next} events of the log are not archived, the first of ${new Date(goesOnAt).toISOString()}: ` +
        'the archive service does not run, or they were cut off',
    );
  return Math.max(0, count - next);
}

/**
 * How many events the log's partition has, the chain of the first `most` of them, and when the next was appended.
 * @param form what is chained of a record, if not its bytes
 */
export async function chainOfLog(
  partition: number,
  reader: Pick<LogReader, 'read' | 'endOffset' | 'startOffset'>,
  most: number,
  form: (value: string | null) => string | null = (value) => value,
): Promise<{ readonly count: number; readonly hash: string; readonly goesOnAt: number | null }> {
  let [count, hash] = [0, GENESIS];
  let goesOnAt: number | null = null;
  const start = await reader.startOffset('intent.events', partition);
  const end = await reader.endOffset('intent.events', partition);
  for await (const { records } of reader.read('intent.events', partition, start, end)) {
    const wanted = records.slice(0, Math.max(0, most - count));
    hash = link(
      hash,
      wanted.map(({ value }) => form(value)),
    );
    goesOnAt ??= records[wanted.length]?.timestamp ?? null;
    count += records.length;
  }
  return { count, hash, goesOnAt };
}
