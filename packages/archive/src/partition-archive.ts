import { digestOf, GENESIS, link } from './chain.ts';
import { type Manifest, readIfManifest, readManifest, type Signer, type Statement, writeManifest } from './manifest.ts';
import { currentOf, eventsKey, type FileName, headKey, manifestKey, manifestsFrom, readName } from './names.ts';
import { type ParquetFiles, type StoredEvent, storedEvent } from './parquet.ts';
import { dayOf, EVENT_COLUMNS, type Row } from './row.ts';
import type { ObjectStore } from './store/object-store.ts';

/** Another process archives the same partition, and was first. Nothing of ours was written. */
export class ArchivedElsewhereError extends Error {
  override readonly name = 'ArchivedElsewhereError';
}

/** What the archive holds is not what its manifests say. */
export class ArchiveDamagedError extends Error {
  override readonly name = 'ArchiveDamagedError';
}

/** Files that could not be merged, and stay as they are. */
export class UnmergeableError extends Error {
  override readonly name = 'UnmergeableError';
}

export interface ArchiveTools {
  readonly store: ObjectStore;
  readonly parquet: ParquetFiles;
  readonly signer: Signer;
}

/** Files of one day are merged when so many were not merged yet, or when their day is over. */
const MERGED_AT = 24;
/** How many of the newest files are known in memory. Older ones are of days that are over, and merged. */
const REMEMBERED_MAX = 4 * MERGED_AT;
/** Bytes of the files that are merged into one. */
const MERGED_BYTES_MAX = 32 * 1024 * 1024;

/**
 * The files of one log partition. A file is archived when it has its name: whoever creates it has archived its events,
 * and what a crash leaves out (its manifest, the end of a merge) is made up for by whoever opens the partition next. So
 * nothing but the store decides what is archived, and two processes at once harm nothing.
 */
export class PartitionArchive {
  readonly partition: number;
  readonly #tools: ArchiveTools;
  /** Of the newest files, in the order of their places. */
  readonly #manifests: Manifest[];

  private constructor(partition: number, tools: ArchiveTools, manifests: Manifest[]) {
    this.partition = partition;
    this.#tools = tools;
    this.#manifests = manifests;
  }

  /** @throws ArchivedElsewhereError, ArchiveDamagedError, StoreUnavailableError */
  static async open(partition: number, tools: ArchiveTools): Promise<PartitionArchive> {
    const { store, parquet, signer } = tools;
    const described = await store.list(`manifests/partition=${partition}/`);
    const files = await filesSince(partition, described, store);
    const whole = await finishMerges(files, described, tools);
    // What merged files replace goes, and so does what a process wrote under a name that was free again.
    const { replaced } = currentOf([...whole.described, ...whole.files]);
    for (const isFile of [true, false])
      await store.delete(replaced.map(({ key }) => key).filter((key) => key.startsWith('events/') === isFile));
    const { current } = currentOf(whole.described);

    const newest = current.slice(-REMEMBERED_MAX);
    const manifests = await Promise.all(newest.map(({ key }) => readAt(store, key)));
    const archive = new PartitionArchive(partition, tools, manifests);
    // A file whose manifest is missing: the process ended between the two.
    const found = currentOf(whole.files).current;
    for (;;) {
      const next = found.find(({ first, last }) => last === null && first === archive.next);
      if (next === undefined) break;
      const content = await store.read(next.key);
      if (content === null) throw new ArchivedElsewhereError(`${next.key} was there a moment ago`);
      const day = /day=([^/]+)/.exec(next.key)?.[1] ?? '';
      await archive.#describe(signer.sign(await archive.#state(day, next.key, content, parquet.read(content))));
    }
    await archive.#publish();
    return archive;
  }

  /** The place of the next event: how many are archived. */
  get next(): number {
    const last = this.#manifests.at(-1);
    return last === undefined ? 0 : last.last + 1;
  }
  /** Of the last event that is archived. */
  get last(): Manifest | null {
    return this.#manifests.at(-1) ?? null;
  }

  /**
   * Archives the events that follow in the log: a file for each day.
   * @throws ArchivedElsewhereError, StoreUnavailableError. Some of the first may be archived: open() finds out
   */
  async append(rows: readonly Row[]): Promise<void> {
    for (const { day, rows: part } of daysOf(rows, this.last?.day ?? '')) {
      const content = await this.#tools.parquet.write(part, EVENT_COLUMNS);
      const key = eventsKey(day, { partition: this.partition, first: this.next, last: null });
      const statement = await this.#state(day, key, content, [part.map(storedEvent)]);
      if (!(await this.#tools.store.create(key, content)))
        throw new ArchivedElsewhereError(
          `${key} is there already: another process archives partition ${this.partition}`,
        );
      await this.#describe(this.#tools.signer.sign(statement));
    }
  }

  /**
   * Merges small files of a day into one.
   * @param today `2026-11-23`
   * @returns how many files became one; 0 where nothing is to be merged
   * @throws ArchiveDamagedError, ArchivedElsewhereError, StoreUnavailableError, UnmergeableError
   */
  async compact(today: string): Promise<number> {
    // The newest file is left, as the next one follows it.
    const group = mergeable(this.#manifests.slice(0, -1), today);
    const [first, last] = [group[0], group.at(-1)];
    if (first === undefined || last === undefined) return 0;
    const { store, parquet, signer } = this.#tools;
    const contents: Uint8Array[] = [];
    for (const one of group) {
      if ((await store.read(manifestKey(nameIn(one)))) === null)
        throw new ArchivedElsewhereError(`another process merges the files of partition ${this.partition}`);
      contents.push(await readWhole(store, one));
    }
    const content = await parquet.merge(contents).catch((cause: unknown) => {
      throw new UnmergeableError(`The files from ${first.file} to ${last.file} could not be merged.`, { cause });
    });
    const name: FileName = { partition: this.partition, first: first.first, last: last.last };
    const key = eventsKey(first.day, name);
    const merged = await describe(name, first.day, key, content, parquet.read(content), first.chain.before);
    if (merged.chain.after !== last.chain.after || merged.last !== last.last)
      throw new ArchiveDamagedError(`the files from ${first.file} to ${last.file} do not have the events they should`);
    if (!(await store.create(key, content))) throw new ArchivedElsewhereError(`${key} is there already`);
    const manifest = signer.sign(merged);
    await store.create(manifestKey(name), writeManifest(manifest));
    this.#manifests.splice(this.#manifests.indexOf(first), group.length, manifest);
    await store.delete(group.map(({ file }) => file));
    await store.delete(group.map((one) => manifestKey(nameIn(one))));
    return group.length;
  }

  #state(day: string, key: string, content: Uint8Array, parts: Parts): Promise<Statement> {
    const name = { partition: this.partition, first: this.next, last: null };
    return describe(name, day, key, content, parts, this.last?.chain.after ?? GENESIS);
  }

  /** The head that a crash left out: the process ended after the manifest. */
  async #publish(): Promise<void> {
    const { last } = this;
    if (last === null) return;
    const { store } = this.#tools;
    const published = await store.read(headKey(this.partition));
    const head = published && readIfManifest(published);
    // Another process may be ahead.
    if (head === null || head.last < last.last) await store.replace(headKey(this.partition), writeManifest(last));
  }

  /**
   * Names of files that were merged are free again. A process that slept while others archived and merged may have
   * created one of them: what it holds in memory is then no longer the end of the archive.
   * @throws ArchivedElsewhereError
   */
  async #requireEnd(): Promise<void> {
    const known = this.last && nameIn(this.last);
    // The newest file is never merged, so whatever others have written since shows behind the one that we know.
    const after = known === null ? '' : manifestsFrom(known);
    const listed = await this.#tools.store.list(`manifests/partition=${this.partition}/`, after);
    const end = currentOf(listed).current.at(-1);
    const isKnown = end?.first === known?.first && end?.last === known?.last;
    // Whoever opened the partition meanwhile may have described the same file.
    if (!isKnown && end?.first !== this.next)
      throw new ArchivedElsewhereError(`another process has archived partition ${this.partition} beyond ${this.next}`);
  }

  async #describe(manifest: Manifest): Promise<void> {
    const { store } = this.#tools;
    await this.#requireEnd();
    const content = writeManifest(manifest);
    const key = manifestKey({ partition: this.partition, first: manifest.first, last: null });
    // Whoever opened the partition meanwhile has described the same file.
    if (!(await store.create(key, content))) {
      const { sha256 } = await readAt(store, key);
      if (sha256 !== manifest.sha256)
        throw new ArchiveDamagedError(`${key} describes another file than ${manifest.file}`);
    }
    await store.replace(headKey(this.partition), content);
    this.#manifests.push(manifest);
    if (this.#manifests.length > REMEMBERED_MAX) this.#manifests.shift();
  }
}

/** The files that are to become one; none where nothing is to be merged. @param files in the order of their places */
function mergeable(files: readonly Manifest[], today: string): readonly Manifest[] {
  const over = files.filter(({ day }) => day < today);
  return groupsOf(over).find(({ length }) => length > 1) ?? newestGroup(files);
}

/** Consecutive files of a day, as many as one may replace. */
function groupsOf(files: readonly Manifest[]): readonly (readonly Manifest[])[] {
  const groups: Manifest[][] = [];
  let bytes = 0;
  for (const file of files) {
    const group = groups.at(-1);
    if (group?.[0]?.day === file.day && bytes + file.bytes <= MERGED_BYTES_MAX) group.push(file);
    else {
      groups.push([file]);
      bytes = 0;
    }
    bytes += file.bytes;
  }
  return groups;
}

/**
 * The newest files of a day that goes on, once so many were not merged, and those before them that have no more events
 * than what they are merged with. So an event is written again when its file doubles, and not with each new group.
 */
function newestGroup(files: readonly Manifest[]): readonly Manifest[] {
  const group: Manifest[] = [];
  let [events, bytes] = [0, 0];
  for (const file of files.toReversed()) {
    const own = file.last - file.first + 1;
    const fits = group.length < MERGED_AT ? nameIn(file).last === null : own <= events;
    if (!fits || file.day !== (group[0] ?? file).day || bytes + file.bytes > MERGED_BYTES_MAX) break;
    group.unshift(file);
    events += own;
    bytes += file.bytes;
  }
  return group.length < MERGED_AT ? [] : group;
}

/** The files of a partition, without those of days on which nothing can be left to do. */
async function filesSince(
  partition: number,
  described: readonly string[],
  store: ObjectStore,
): Promise<readonly string[]> {
  const { current, replaced } = currentOf(described);
  // Merges, also those that a process did not finish, are among the newest files.
  const [oldest] = [...current.slice(-REMEMBERED_MAX), ...replaced].sort((a, b) => a.first - b.first);
  const content = oldest ? await store.read(oldest.key) : null;
  const day = content === null ? undefined : readIfManifest(content)?.day;
  return (await store.list('events/', day && `events/day=${day}`)).filter(
    (key) => readName(key)?.partition === partition,
  );
}

/**
 * Writes the manifests of merged files that have none: a process ended, or is, between the two. They are not undone,
 * because a process that is goes on to delete what it has merged.
 */
async function finishMerges(
  files: readonly string[],
  described: readonly string[],
  { store, parquet, signer }: ArchiveTools,
): Promise<{ readonly files: readonly string[]; readonly described: readonly string[] }> {
  const result = { files: [...files], described: [...described] };
  for (const file of currentOf(files).current) {
    const key = manifestKey(file);
    if (file.last === null || result.described.includes(key)) continue;
    const { current } = currentOf(result.described);
    // It was merged itself since.
    if (!currentOf([...result.described, key]).current.some((one) => one.key === key)) continue;
    const parts = await Promise.all(
      current
        .filter(({ first }) => first >= file.first && first <= (file.last ?? 0))
        .map((one) => readAt(store, one.key)),
    );
    const content = await store.read(file.key);
    const [first, last] = [parts[0], parts.at(-1)];
    if (content === null || first === undefined || last === undefined)
      throw new ArchivedElsewhereError(`another process merges the files of partition ${file.partition}`);
    const merged = await describe(file, first.day, file.key, content, parquet.read(content), first.chain.before);
    if (first.first !== file.first || last.last !== file.last || merged.chain.after !== last.chain.after)
      throw new ArchiveDamagedError(`${file.key} does not have the events of the files that it would replace`);
    await store.create(key, writeManifest(signer.sign(merged)));
    result.described.push(key);
  }
  return result;
}

/** The name that a manifest's file has. */
const nameIn = ({ partition, first, last, file }: Statement): FileName => ({
  partition,
  first,
  last: file.endsWith(`-${String(last).padStart(12, '0')}.parquet`) ? last : null,
});

/** The events of a file, some at a time: all of them may be more than memory has. */
type Parts = Iterable<readonly StoredEvent[]> | AsyncIterable<readonly StoredEvent[]>;

async function describe(
  { partition, first }: FileName,
  day: string,
  file: string,
  content: Uint8Array,
  parts: Parts,
  before: string,
): Promise<Statement> {
  let [start, end]: [StoredEvent | undefined, StoredEvent | undefined] = [undefined, undefined];
  let [count, after]: [number, string] = [0, before];
  let [lowest, highest] = [Infinity, -Infinity];
  const intents = new Set<string | null>();
  for await (const events of parts) {
    start ??= events[0];
    end = events.at(-1) ?? end;
    count += events.length;
    after = link(
      after,
      events.map(({ event }) => event),
    );
    for (const { intentId, version } of events) {
      intents.add(intentId);
      if (version === null) continue;
      lowest = Math.min(lowest, version);
      highest = Math.max(highest, version);
    }
  }
  if (start === undefined || end === undefined) throw new ArchiveDamagedError(`${file} has no events`);
  return {
    format: 1,
    partition,
    first,
    last: first + count - 1,
    day,
    file,
    bytes: content.length,
    sha256: digestOf(content),
    offsets: { first: String(start.offset), last: String(end.offset) },
    intents: intents.size,
    versions: lowest === Infinity ? null : { lowest, highest },
    lastEvent: { intentId: end.intentId, version: end.version, sha256: digestOf(Buffer.from(end.event ?? '')) },
    chain: { before, after },
  };
}

/** Consecutive rows of the same day. A clock that was set back does not begin an earlier day again. */
function daysOf(rows: readonly Row[], since: string): readonly { readonly day: string; readonly rows: Row[] }[] {
  const days: { day: string; rows: Row[] }[] = [];
  for (const row of rows) {
    const before = days.at(-1)?.day ?? since;
    const own = dayOf(row.at);
    const day = own < before ? before : own;
    const open = days.at(-1);
    if (open?.day === day) open.rows.push(row);
    else days.push({ day, rows: [row] });
  }
  return days;
}

async function readAt(store: ObjectStore, key: string): Promise<Manifest> {
  const content = await store.read(key);
  if (content === null) throw new ArchivedElsewhereError(`${key} was there a moment ago`);
  return readManifest(content);
}

/** @throws ArchiveDamagedError where it is not the file that the manifest describes */
async function readWhole(store: ObjectStore, { file, sha256 }: Statement): Promise<Uint8Array> {
  const content = await store.read(file);
  if (content === null) throw new ArchiveDamagedError(`${file} is missing`);
  const isWhole = digestOf(content) === sha256;
  if (!isWhole) throw new ArchiveDamagedError(`${file} does not have the bytes of its manifest`);
  return content;
}
