import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { GENESIS, link } from '../src/chain.ts';
import { isSignedBy, readManifest, Signer } from '../src/manifest.ts';
import { currentOf } from '../src/names.ts';
import { ParquetFiles, type StoredEvent } from '../src/parquet.ts';
import { ArchivedElsewhereError, ArchiveDamagedError, PartitionArchive } from '../src/partition-archive.ts';
import { verifyPartition } from '../src/ledger/verify.ts';
import { EVENT_COLUMNS, type Row, toRow } from '../src/row.ts';
import { eventsIn } from './events-in.ts';
import { MemoryStore } from './memory-store.ts';
import { onDay, recordAt } from './recorded.ts';

const PARTITION = 3;
const [TODAY, TOMORROW] = ['2026-11-23', '2026-11-24'];
const signer = new Signer(Buffer.alloc(32, 7));
let parquet: ParquetFiles;
let store: MemoryStore;
let archive: PartitionArchive;

const rowsFrom = (first: number, count: number, day = TODAY): Row[] =>
  Array.from({ length: count }, (_, n) => toRow(onDay(day, recordAt(PARTITION, first + n))));
const open = (): Promise<PartitionArchive> => PartitionArchive.open(PARTITION, { store, parquet, signer });
/** Everything that the files hold which a reader is to read. */
async function archived(): Promise<readonly StoredEvent[]> {
  const { current } = currentOf(await store.list('events/'));
  const files = await Promise.all(
    current.map(async ({ key }) => eventsIn(parquet, (await store.read(key)) as Uint8Array)),
  );
  return files.flat();
}
const offsetsOf = (events: readonly Pick<StoredEvent, 'offset'>[]): readonly bigint[] =>
  events.map(({ offset }) => offset);

beforeAll(async () => {
  parquet = await ParquetFiles.open();
});
afterAll(() => parquet.close());
beforeEach(async () => {
  store = new MemoryStore();
  archive = await open();
});

describe('the archive of a partition', () => {
  it('holds the bytes of every event in order, and resumes where it stopped', async () => {
    const rows = rowsFrom(0, 60);
    await archive.append(rows.slice(0, 25));
    await (await open()).append(rows.slice(25));
    const events = await archived();
    expect(events.map(({ event }) => event)).toEqual(rows.map(({ event }) => event));
    expect(offsetsOf(events)).toEqual(offsetsOf(rows));
  });

  it('chains its files and signs their manifests', async () => {
    const rows = rowsFrom(0, 10);
    await archive.append(rows.slice(0, 4));
    await archive.append(rows.slice(4));
    const contents = await Promise.all((await store.list('manifests/')).map((key) => store.read(key)));
    const [first, second] = contents.map((content) => readManifest(content as Uint8Array));
    expect([first?.first, first?.last, second?.first, second?.last]).toEqual([0, 3, 4, 9]);
    expect([first?.chain.before, second?.chain.before]).toEqual([GENESIS, first?.chain.after]);
    expect(second?.chain.after).toBe(
      link(
        GENESIS,
        rows.map(({ event }) => event),
      ),
    );
    for (const one of [first, second]) expect(one && isSignedBy(signer.publicKey, one)).toBe(true);
    expect(await store.read(`heads/partition=${PARTITION}.json`)).toEqual(contents[1]);
  });

  it('has a file for each day, and none for a day before the last', async () => {
    await archive.append([...rowsFrom(0, 2), ...rowsFrom(2, 2, TOMORROW), ...rowsFrom(4, 2)]);
    expect(await store.list('events/')).toEqual([
      `events/day=${TODAY}/partition=3/000000000000.parquet`,
      `events/day=${TOMORROW}/partition=3/000000000002.parquet`,
    ]);
    expect(offsetsOf(await archived())).toEqual([0n, 2n, 4n, 6n, 8n, 10n]);
  });

  it('keeps a record that cannot be read, as it is', async () => {
    const rows = ['no JSON', '{"type":"intent.created"}', '', null].map((value, n) =>
      toRow(recordAt(PARTITION, n, value)),
    );
    await archive.append(rows);
    expect((await archived()).map(({ event }) => event)).toEqual(['no JSON', '{"type":"intent.created"}', '', null]);
  });

  it('refuses to archive what another process has archived, and continues after it', async () => {
    const other = await open();
    await archive.append(rowsFrom(0, 3));
    await expect(other.append(rowsFrom(0, 5))).rejects.toThrow(ArchivedElsewhereError);
    const again = await open();
    expect([again.next, again.last?.offsets.last]).toEqual([3, '4']);
  });

  it('lists few of its files where it has many days', async () => {
    const days = Array.from({ length: 110 }, (_, n) => new Date(Date.parse(TODAY) + n * 86_400_000).toISOString());
    await archive.append(days.flatMap((day, n) => rowsFrom(n, 1, day.slice(0, 10))));
    store.listed = 0;
    const again = await open();
    expect([again.next, store.listed]).toEqual([110, 110 + 96]);
    store.listed = 0;
    await again.append(rowsFrom(110, 1, '2027-11-23'));
    expect(store.listed).toBe(1);
  });

  it('publishes the head that a crash left out', async () => {
    await archive.append(rowsFrom(0, 2));
    store.changesLeft = 2;
    await expect(archive.append(rowsFrom(2, 2))).rejects.toThrow('no more changes');
    store.changesLeft = Infinity;
    const headOf = async () => readManifest((await store.read(`heads/partition=${PARTITION}.json`)) as Uint8Array);
    expect((await headOf()).last).toBe(1);
    await open();
    expect((await headOf()).last).toBe(3);
  });

  it.each([
    ['before a change', false, [1, 2, 3, 5, 8]],
    ['after a change, of which it is not told', true, [1, 2, 5]],
  ])('loses and repeats nothing wherever the process ends: %s', async (_when, losesAnswers, changesBefore) => {
    const rows = [...rowsFrom(0, 16), ...rowsFrom(16, 16, TOMORROW)];
    // One process after the other, each of which ends after some changes; between them, whole ones that merge.
    for (const changes of changesBefore) {
      store = new MemoryStore();
      store.losesAnswers = losesAnswers;
      let ends = 0;
      while ((await archived()).length < rows.length) {
        store.changesLeft = changes;
        try {
          const next = await open();
          const from = next.next;
          await next.append(rows.slice(from, from + 2));
          await next.compact('2026-11-25');
        } catch (error) {
          expect(error).toMatchObject({ name: 'StoreUnavailableError' });
          ends += 1;
        }
        store.changesLeft = Infinity;
        if (ends % 5 === 4) await (await open()).compact('2026-11-25');
      }
      await open();
      expect(offsetsOf(await archived())).toEqual(offsetsOf(rows));
    }
  });
});

describe('merging', () => {
  it('merges the small files of a finished day into one, and leaves the newest', async () => {
    const rows = rowsFrom(0, 10);
    for (let n = 0; n < 10; n += 2) await archive.append(rows.slice(n, n + 2));
    expect(await archive.compact(TODAY)).toBe(0);
    expect(await archive.compact(TOMORROW)).toBe(4);
    expect(await store.list('events/')).toEqual([
      `events/day=${TODAY}/partition=3/000000000000-000000000007.parquet`,
      `events/day=${TODAY}/partition=3/000000000008.parquet`,
    ]);
    expect((await store.list('manifests/')).map((key) => key.slice(-30))).toHaveLength(2);
    expect((await archived()).map(({ event }) => event)).toEqual(rows.map(({ event }) => event));
    expect(await archive.compact(TOMORROW)).toBe(0);
    expect((await open()).next).toBe(10);
  });

  it('merges within a day when there are many files', async () => {
    for (let n = 0; n < 25; n++) await archive.append(rowsFrom(n, 1));
    expect(await archive.compact(TODAY)).toBe(24);
    expect(await archive.compact(TODAY)).toBe(0);
  });

  it('writes an event again when its file doubles, and not with each new group of files', async () => {
    const merged: number[] = [];
    for (let n = 0; n < 24 * 8 + 1; n++) {
      await archive.append(rowsFrom(n, 1));
      merged.push(await archive.compact(TODAY));
    }
    expect(merged.filter((files) => files > 0)).toEqual([24, 25, 24, 26, 24, 25, 24, 27]);
    expect(await archive.compact(TOMORROW)).toBe(0);
    expect((await archived()).map(({ offset }) => offset)).toEqual(rowsFrom(0, 24 * 8 + 1).map(({ offset }) => offset));
  });

  it('stops at a file that was changed, and changes nothing', async () => {
    for (let n = 0; n < 4; n++) await archive.append(rowsFrom(n, 1));
    const key = (await store.list('events/'))[1] ?? '';
    store.objects.set(key, await parquet.write(rowsFrom(7, 1), EVENT_COLUMNS));
    await expect(archive.compact(TOMORROW)).rejects.toThrow(ArchiveDamagedError);
    expect(await store.list('events/')).toHaveLength(4);
  });

  it('stops at a file with the same events in other columns', async () => {
    for (let n = 0; n < 4; n++) await archive.append(rowsFrom(n, 1));
    const key = (await store.list('events/'))[1] ?? '';
    store.objects.set(
      key,
      await parquet.write(
        rowsFrom(1, 1).map((row) => ({ ...row, accountId: 'acct_other' })),
        EVENT_COLUMNS,
      ),
    );
    await expect(archive.compact(TOMORROW)).rejects.toThrow(ArchiveDamagedError);
    expect(await store.list('events/')).toHaveLength(4);
  });

  it('loses nothing where another process begins between the merged file and its manifest', async () => {
    const rows = rowsFrom(0, 8);
    for (let n = 0; n < 8; n += 2) await archive.append(rows.slice(n, n + 2));
    const create = store.create.bind(store);
    let opened = 0;
    store.create = async (key, content) => {
      if (/manifests.*-/.test(key) && opened++ === 0) await open();
      return await create(key, content);
    };
    await archive.compact(TOMORROW).catch((error: unknown) => expect(error).toBeInstanceOf(ArchivedElsewhereError));
    expect(opened).toBeGreaterThan(0);
    const again = await open();
    expect(again.next).toBe(8);
    expect(offsetsOf(await archived())).toEqual(offsetsOf(rows));
    expect(
      await verifyPartition(PARTITION, { store, parquet, publicKey: signer.publicKey, reader: null }),
    ).toMatchObject({ files: 2, problems: [] });
  });

  it('assigns no place twice: a process that was suspended while others archived and merged gives way', async () => {
    const rows = rowsFrom(0, 12);
    await archive.append(rows.slice(0, 2));
    const slept = await open();
    for (let n = 2; n < 10; n += 2) await archive.append(rows.slice(n, n + 2));
    await archive.compact(TOMORROW);
    // The name that it would give its file is free again, and its file would reach beyond the merged one.
    await expect(slept.append(rows.slice(2, 12))).rejects.toThrow(ArchivedElsewhereError);
    await (await open()).append(rows.slice(10));
    expect(offsetsOf(await archived())).toEqual(offsetsOf(rows));
    const { problems } = await verifyPartition(PARTITION, { store, parquet, publicKey: null, reader: null });
    expect(problems.filter((problem) => !problem.includes('is not signed by a key'))).toEqual([]);
    expect((await store.list('events/')).length).toBe(3);
  });

  it('gives way to another process that merges the same', async () => {
    for (let n = 0; n < 4; n++) await archive.append(rowsFrom(n, 1));
    const other = await open();
    await archive.compact(TOMORROW);
    await expect(other.compact(TOMORROW)).rejects.toThrow(ArchivedElsewhereError);
  });
});
