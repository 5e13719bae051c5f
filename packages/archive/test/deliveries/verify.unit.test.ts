import { beforeEach, describe, expect, it } from '@jest/globals';
import { deliveryFile } from '../../src/deliveries/files.ts';
import { verifyDeliveries } from '../../src/index.ts';
import { MemoryStore } from '../memory-store.ts';

let store: MemoryStore;
/** A file of so many deliveries. @returns its key */
async function file(rows: number, text: string): Promise<string> {
  const content = Buffer.from(text);
  const { key } = deliveryFile('2026-11-25', rows, content);
  await store.create(key, content);
  return key;
}

beforeEach(() => {
  store = new MemoryStore();
});

describe('a check of the files of deliveries', () => {
  it('finds nothing in an archive without them', async () => {
    expect(await verifyDeliveries(store)).toEqual({ files: 0, rows: 0, problems: [] });
  });

  it('counts files and rows', async () => {
    await file(3, 'one');
    await file(4, 'another');
    expect(await verifyDeliveries(store)).toEqual({ files: 2, rows: 7, problems: [] });
  });

  it('names a file whose bytes were changed', async () => {
    await file(3, 'one');
    const key = await file(4, 'another');
    await store.replace(key, Buffer.from('changed'));
    expect((await verifyDeliveries(store)).problems).toEqual([`${key} does not have the bytes of its name`]);
  });

  it('skips a file that is merged in the meantime', async () => {
    const key = await file(3, 'one');
    const list = store.list.bind(store);
    store.list = async (prefix) => {
      const keys = await list(prefix);
      store.objects.delete(key);
      return keys;
    };
    expect(await verifyDeliveries(store)).toEqual({ files: 0, rows: 0, problems: [] });
  });

  it('ignores other files, such as one that is not complete yet', async () => {
    await store.create('deliveries/day=2026-11-25/x.unfinished', Buffer.from('x'));
    expect(await verifyDeliveries(store)).toMatchObject({ files: 0, problems: [] });
  });

  it('names a Parquet file that other programs would take for one', async () => {
    await store.create('deliveries/day=2026-11-25/more.parquet', Buffer.from('x'));
    expect((await verifyDeliveries(store)).problems).toEqual([
      'deliveries/day=2026-11-25/more.parquet is no file of deliveries: move it away, because other programs read it',
    ]);
  });
});
