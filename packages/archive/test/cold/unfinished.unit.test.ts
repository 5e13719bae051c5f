import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { unfinishedIn } from '../../src/cold/index.ts';
import { ParquetFiles, Signer } from '../../src/index.ts';
import { headKey, publicKeyKey } from '../../src/names.ts';
import { writePublicKey } from '../../src/manifest.ts';
import { PartitionArchive } from '../../src/partition-archive.ts';
import { toRow } from '../../src/row.ts';
import { MemoryLog } from '../memory-log.ts';
import { MemoryStore } from '../memory-store.ts';
import { recordAt, RECORDED_PAYMENTS } from '../recorded.ts';

const signer = new Signer(Buffer.alloc(32, 7));
let parquet: ParquetFiles;
let store: MemoryStore;
let log: MemoryLog;

/** Ten events of which six are archived. */
beforeEach(async () => {
  store = new MemoryStore();
  log = new MemoryLog(1);
  log.append(0, ...RECORDED_PAYMENTS.slice(0, 10).map((line, n) => recordAt(0, n, line)));
  await store.create(publicKeyKey(signer.id), writePublicKey(signer));
  await archive(6);
});
beforeAll(async () => {
  parquet = await ParquetFiles.open();
});
afterAll(() => parquet.close());

const archive = async (count: number): Promise<void> => {
  const partition = await PartitionArchive.open(0, { store, parquet, signer });
  await partition.append((log.records[0] ?? []).slice(partition.next, count).map(toRow));
};
const keysFrom = (index: number): ReadonlySet<string | null> =>
  new Set((log.records[0] ?? []).slice(index).map(({ key }) => key));
const END = 20n;

describe('unfinishedIn', () => {
  it('names the intents of events that are not archived', async () => {
    expect(await unfinishedIn(0, { store, reader: log }, END)).toEqual(keysFrom(6));
    await archive(10);
    expect(await unfinishedIn(0, { store, reader: log }, END)).toEqual(new Set());
  });

  it('names those of events that the other reader has not read, too', async () => {
    await archive(10);
    expect(await unfinishedIn(0, { store, reader: log }, 4n)).toEqual(keysFrom(2));
  });

  it('returns nothing when the archive has no head, or one without a valid signature', async () => {
    const head = store.objects.get(headKey(0)) ?? new Uint8Array();
    store.objects.set(headKey(0), Buffer.from(Buffer.from(head).toString().replace('"last": 5', '"last": 4')));
    expect(await unfinishedIn(0, { store, reader: log }, END)).toBeNull();
    store.objects.delete(headKey(0));
    expect(await unfinishedIn(0, { store, reader: log }, END)).toBeNull();
  });

  it('returns nothing when the log has other events than the archive', async () => {
    const other = new MemoryLog(1);
    other.append(0, ...RECORDED_PAYMENTS.slice(10, 20).map((line, n) => recordAt(0, n, line)));
    expect(await unfinishedIn(0, { store, reader: other }, END)).toBeNull();
    expect(await unfinishedIn(0, { store, reader: new MemoryLog(1) }, 0n)).toBeNull();
  });

  it('returns nothing when the archive is far behind', async () => {
    log.append(0, recordAt(0, 6_000));
    expect(await unfinishedIn(0, { store, reader: log }, END)).toBeNull();
  });
});
