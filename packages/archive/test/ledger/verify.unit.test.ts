import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type NotedHead, type PartitionReport, ParquetFiles, Signer, verifyPartition } from '../../src/index.ts';
import { readManifest, writeManifest } from '../../src/manifest.ts';
import { headKey } from '../../src/names.ts';
import { PartitionArchive } from '../../src/partition-archive.ts';
import { toRow } from '../../src/row.ts';
import { MemoryLog } from '../memory-log.ts';
import { MemoryStore } from '../memory-store.ts';
import { recordAt, RECORDED_PAYMENTS } from '../recorded.ts';

const PARTITION = 0;
/** When the records of the log were. */
const APPENDED = Date.parse('2026-11-23T12:00:00Z');
const signer = new Signer(Buffer.alloc(32, 7));
let parquet: ParquetFiles;
let store: MemoryStore;
let log: MemoryLog;

beforeAll(async () => {
  parquet = await ParquetFiles.open();
});
afterAll(() => parquet.close());
beforeEach(async () => {
  store = new MemoryStore();
  log = new MemoryLog(1);
  log.records[PARTITION]?.push(...RECORDED_PAYMENTS.map((line, n) => recordAt(PARTITION, n, line)));
  await archiveLog();
});

async function archiveLog(by = signer): Promise<void> {
  const archive = await PartitionArchive.open(PARTITION, { store, parquet, signer: by });
  const rows = (log.records[PARTITION] ?? []).map(toRow);
  for (let n = archive.next; n < rows.length; n += 20) await archive.append(rows.slice(n, n + 20));
}
const verify = ({
  withLog = true,
  publicKey = signer.publicKey,
  noted = [],
  now = APPENDED,
}: {
  withLog?: boolean;
  publicKey?: string | null;
  noted?: readonly NotedHead[];
  now?: number;
} = {}): Promise<PartitionReport> =>
  verifyPartition(PARTITION, { store, parquet, publicKey, reader: withLog ? log : null, noted, now: () => now });
const keyOf = async (prefix: string, place: number): Promise<string> => (await store.list(prefix))[place] ?? '';

describe('the proof of the archive', () => {
  it('holds for what was archived, and for what was merged', async () => {
    const expected = { partition: 0, events: RECORDED_PAYMENTS.length, behind: 0, problems: [] };
    expect(await verify()).toMatchObject(expected);
    const { head } = await verify();
    await (await PartitionArchive.open(PARTITION, { store, parquet, signer })).compact('2030-01-01');
    expect(await verify()).toMatchObject({ ...expected, head });
  });

  it('reports how far the archive is behind the log', async () => {
    log.grow(PARTITION, 3);
    expect(await verify()).toMatchObject({ behind: 3, problems: [] });
    expect(await verify({ withLog: false })).toMatchObject({ behind: null, problems: [] });
  });

  it('fails where the log has had an event for more than five minutes that is not archived', async () => {
    log.grow(PARTITION, 3);
    expect((await verify({ now: APPENDED + 5 * 60_000 })).problems).toEqual([]);
    expect(await verify({ now: APPENDED + 6 * 60_000 })).toMatchObject({
      behind: 3,
      problems: [expect.stringContaining('3 events of the log are not archived, the first of 2026-11-23T12:00:00')],
    });
  });

  it('holds while the archiver archives and merges', async () => {
    const archive = await PartitionArchive.open(PARTITION, { store, parquet, signer });
    const more = ['none', 'of', 'an intent'].map((value, n) => toRow(recordAt(PARTITION, archive.next + n, value)));
    const read = store.read.bind(store);
    let reads = 0;
    store.read = async (key) => {
      reads += 1;
      if (reads === 2) await archive.append(more);
      if (reads === 6) await archive.compact('2030-01-01');
      return await read(key);
    };
    expect((await verify({ withLog: false })).problems).toEqual([]);
    expect(reads).toBeGreaterThan(6);
  });

  it.each([
    ['and its head', 0],
    ['and later its head', 3],
  ])('holds while the archiver writes the first file of a partition %s', async (_, readsLater) => {
    store = new MemoryStore();
    const archive = await PartitionArchive.open(PARTITION, { store, parquet, signer });
    const [read, list] = [store.read.bind(store), store.list.bind(store)];
    let [isWritten, head, reads]: [boolean, Uint8Array | undefined, number] = [false, undefined, 0];
    store.list = async (prefix, after) => {
      if (!isWritten) {
        isWritten = true;
        await archive.append((log.records[PARTITION] ?? []).map(toRow));
        head = store.objects.get(headKey(PARTITION));
        store.objects.delete(headKey(PARTITION));
      }
      return await list(prefix, after);
    };
    store.read = async (key) => {
      if (head && reads++ === readsLater) store.objects.set(headKey(PARTITION), head);
      return await read(key);
    };
    expect(await verify({ withLog: false })).toMatchObject({ events: RECORDED_PAYMENTS.length, problems: [] });
  });

  it('does not accept a head of other events', async () => {
    const [key = ''] = await store.list('heads/');
    const head = readManifest(store.objects.get(key) ?? new Uint8Array());
    store.objects.set(key, writeManifest({ ...head, chain: { ...head.chain, after: '0'.repeat(64) } }));
    expect((await verify()).problems).toEqual([expect.stringContaining('is not the last manifest')]);
    store.objects.set(key, Buffer.from('{}'));
    expect((await verify()).problems).toEqual([expect.stringContaining('is not the last manifest')]);
  });

  it('misses events that were cut off where the head of then was put back, only by a head that was noted', async () => {
    const [key = ''] = await store.list('heads/');
    const older = { head: await verify({ withLog: false }), objects: new Map(store.objects) };
    log.append(PARTITION, recordAt(PARTITION, RECORDED_PAYMENTS.length, 'of no intent'));
    await archiveLog();
    const newer = await verify({ withLog: false });
    const noted = [older.head, newer];
    expect((await verify({ noted })).problems).toEqual([]);
    for (const changed of [...store.objects.keys()]) if (!older.objects.has(changed)) store.objects.delete(changed);
    store.objects.set(key, older.objects.get(key) ?? new Uint8Array());
    expect((await verify({ withLog: false })).problems).toEqual([]);
    expect((await verify({ withLog: false, noted })).problems).toEqual([
      `the first ${newer.events} events are not those of the noted head ${newer.head.slice(0, 16)}…`,
    ]);
    store.objects.clear();
    expect((await verify({ withLog: false, noted })).problems).toHaveLength(2);
  });

  it('finds a noted head in the middle of a file that was merged since, and misses one of other events', async () => {
    const noted: NotedHead[] = [];
    store = new MemoryStore();
    const rows = (log.records[PARTITION] ?? []).map(toRow);
    for (let n = 0; n < rows.length; n += 20) {
      const archive = await PartitionArchive.open(PARTITION, { store, parquet, signer });
      await archive.append(rows.slice(n, n + 20));
      noted.push(await verify({ withLog: false }));
    }
    await (await PartitionArchive.open(PARTITION, { store, parquet, signer })).compact('2030-01-01');
    expect((await verify({ noted })).problems).toEqual([]);
    const [first] = noted as [NotedHead];
    const other = { ...first, head: '0'.repeat(64) };
    const elsewhere = { ...other, partition: 1 };
    expect((await verify({ noted: [...noted, other, elsewhere] })).problems).toEqual([
      expect.stringContaining('the first 20 events are not those of the noted head 0000'),
    ]);
  });

  it('needs the given key, or one that the archive names', async () => {
    expect((await verify({ publicKey: new Signer(Buffer.alloc(32, 8)).publicKey })).problems[0]).toContain(
      'is not signed by the given key',
    );
    expect((await verify({ publicKey: null })).problems[0]).toContain('is not signed by a key of the archive');
  });

  it.each<[string, () => Promise<void>, string]>([
    [
      'a file is missing',
      async () => {
        store.objects.delete(await keyOf('events/', 1));
      },
      'is missing',
    ],
    [
      'a file was changed',
      async () => {
        store.objects.set(await keyOf('events/', 1), Buffer.from('other'));
      },
      'does not have the bytes of its manifest',
    ],
    [
      'a file and its manifest are missing',
      async () => {
        store.objects.delete(await keyOf('events/', 1));
        store.objects.delete(await keyOf('manifests/', 1));
      },
      'events 20 to 39 are missing before it',
    ],
    [
      'the newest file and its manifest are missing',
      async () => {
        store.objects.delete((await store.list('events/')).at(-1) ?? '');
        store.objects.delete((await store.list('manifests/')).at(-1) ?? '');
      },
      'is not the last manifest',
    ],
    [
      'a manifest was changed',
      async () => {
        const key = await keyOf('manifests/', 1);
        const manifest = readManifest(store.objects.get(key) ?? new Uint8Array());
        store.objects.set(key, writeManifest({ ...manifest, chain: { ...manifest.chain, after: '0'.repeat(64) } }));
      },
      'is not signed',
    ],
    [
      'a manifest is none',
      async () => {
        store.objects.set(await keyOf('manifests/', 1), Buffer.from('{}'));
      },
      'is not a manifest',
    ],
    [
      'the log has other events',
      async () => {
        const records = log.records[PARTITION] ?? [];
        records.splice(5, 1, recordAt(PARTITION, 5, '{}'));
      },
      'has other events than the archive',
    ],
    [
      'the log is shorter',
      async () => {
        log.records[PARTITION]?.pop();
      },
      `has ${RECORDED_PAYMENTS.length - 1} events, and the archive ${RECORDED_PAYMENTS.length}`,
    ],
  ])('fails where %s', async (_what, damage, problem) => {
    await damage();
    expect((await verify()).problems.join('\n')).toContain(problem);
  });

  it('fails where the log itself repeats a version or leaves one out, though all is signed', async () => {
    const records = log.records[PARTITION] ?? [];
    store = new MemoryStore();
    log.records[PARTITION] = [...records.slice(0, 3), ...records.slice(2, 4), ...records.slice(5, 8)].map(
      ({ value }, n) => recordAt(PARTITION, n, value),
    );
    await archiveLog();
    const { problems } = await verify();
    expect(problems).toEqual([
      expect.stringMatching(/version 3 of pi_\w+ follows version 3$/),
      expect.stringMatching(/version \d+ of pi_\w+ follows version \d+$/),
      ...problems.slice(2),
    ]);
  });
});
