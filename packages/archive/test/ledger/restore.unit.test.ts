import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { LogAppender } from '@pf/event-log';
import { ParquetFiles, restorePartition, type RestoreReport, Signer } from '../../src/index.ts';
import type { RestoreOptions } from '../../src/ledger/restore.ts';
import { PartitionArchive } from '../../src/partition-archive.ts';
import { toRow } from '../../src/row.ts';
import { MemoryLog } from '../memory-log.ts';
import { MemoryStore } from '../memory-store.ts';
import { recordAt, RECORDED_PAYMENTS } from '../recorded.ts';

const PARTITION = 0;
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
  const rows = RECORDED_PAYMENTS.map((line, n) => toRow(recordAt(PARTITION, n, line)));
  const archive = await PartitionArchive.open(PARTITION, { store, parquet, signer });
  for (let n = 0; n < rows.length; n += 20) await archive.append(rows.slice(n, n + 20));
});

/** @param failsAfter so many transactions; `taken` happens before the partition is taken from its owner */
function restore(
  failsAfter = Infinity,
  publicKey = signer.publicKey,
  sealing?: RestoreOptions['sealing'],
  taken = (): void => undefined,
): Promise<RestoreReport> {
  let left = failsAfter;
  const openAppender = async (partition: number): Promise<LogAppender> => (
    taken(),
    {
      async append(records) {
        if (left-- <= 0) throw new Error('the broker is unavailable');
        const length = log.records[partition]?.length ?? 0;
        log.append(partition, ...records.map(({ value }, n) => recordAt(partition, length + n, value)));
      },
      close: async () => undefined,
    }
  );
  return restorePartition(PARTITION, { store, parquet, publicKey, log, openAppender, ...(sealing && { sealing }) });
}
const values = () => log.records[PARTITION]?.map(({ value }) => value);

describe('a restore of the log from the archive', () => {
  it('appends every event, byte for byte and in order', async () => {
    expect(await restore()).toEqual({ partition: 0, before: 0, imported: RECORDED_PAYMENTS.length });
    expect(values()).toEqual(RECORDED_PAYMENTS);
  });

  it('resumes where it was interrupted, and appends nothing twice', async () => {
    await expect(restore(1)).rejects.toThrow('the broker is unavailable');
    const before = values()?.length ?? 0;
    expect(before).toBeGreaterThan(0);
    expect(await restore()).toEqual({ partition: 0, before, imported: RECORDED_PAYMENTS.length - before });
    expect(values()).toEqual(RECORDED_PAYMENTS);
    expect(await restore()).toEqual({ partition: 0, before: RECORDED_PAYMENTS.length, imported: 0 });
  });

  it('appends the sealed form of each event, and resumes where that was interrupted', async () => {
    let count = 0;
    const sealing = {
      form: (value: string) => value.replace(/^sealed \d+ /, ''),
      seal: (_partition: number, plain: readonly string[]) =>
        // No event is sealed twice to the same bytes.
        Promise.resolve(plain.map((value) => `sealed ${(count += 1)} ${value}`)),
    };
    await expect(restore(1, signer.publicKey, sealing)).rejects.toThrow('the broker is unavailable');
    const before = values() ?? [];
    expect(before.length).toBeGreaterThan(0);
    await restore(Infinity, signer.publicKey, sealing);
    expect(values()?.slice(0, before.length)).toEqual(before);
    expect(values()?.map((value) => sealing.form(value ?? ''))).toEqual(RECORDED_PAYMENTS);
    expect(values()?.every((value) => value?.startsWith('sealed '))).toBe(true);
    expect(await restore(Infinity, signer.publicKey, sealing)).toMatchObject({ imported: 0 });
    await expect(restore()).rejects.toThrow('has other events than the archive');
  });

  it('leaves a log alone that continues after the archived events', async () => {
    await restore();
    log.grow(PARTITION, 2);
    expect(await restore()).toEqual({ partition: 0, before: RECORDED_PAYMENTS.length + 2, imported: 0 });
  });

  it('appends nothing to a log that its owner has written to until the partition was taken from it', async () => {
    const owner = (): void => log.grow(PARTITION, 1);
    await expect(restore(Infinity, signer.publicKey, undefined, owner)).rejects.toThrow(
      'Partition 0 of the log has other events than the archive among its first 1',
    );
    expect(values()).toHaveLength(1);
  });

  it('refuses a log that has other events, and appends nothing', async () => {
    log.grow(PARTITION, 1);
    await expect(restore()).rejects.toThrow(
      'Partition 0 of the log has other events than the archive among its first 1',
    );
    expect(values()).toHaveLength(1);
  });

  it('refuses an archive that is damaged, or that another key has signed, and appends nothing', async () => {
    await expect(restore(Infinity, new Signer(Buffer.alloc(32, 8)).publicKey)).rejects.toThrow('is not signed by');
    const [file = ''] = await store.list('events/');
    await store.delete([file]);
    await expect(restore()).rejects.toThrow(`${file} is missing`);
    expect(values()).toEqual([]);
  });
});
