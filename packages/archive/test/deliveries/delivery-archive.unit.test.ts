import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DeliveryArchive } from '../../src/deliveries/delivery-archive.ts';
import { ArchiveDamagedError, Ledger, ParquetFiles, StoreUnavailableError } from '../../src/index.ts';
import { MemoryStore } from '../memory-store.ts';
import { ended, EndedInMemory } from './ended.ts';

let parquet: ParquetFiles;
let folder: string;
let store: MemoryStore;
let deliveries: EndedInMemory;
let today: string;
let archive: DeliveryArchive;

const now = (): number => Date.parse(`${today}T13:00:00Z`);
const opened = (): DeliveryArchive => new DeliveryArchive({ store, parquet, deliveries, now });
/** What the view has: `id outcome`. */
async function found(): Promise<readonly string[]> {
  const ledger = await Ledger.open(store, { folder, maxBytes: 1e9 });
  try {
    const { rows } = await ledger.query('SELECT delivery_id, outcome FROM deliveries ORDER BY ended_at, delivery_id');
    return rows.map(({ delivery_id: id, outcome }) => `${String(id)} ${String(outcome)}`);
  } finally {
    ledger.close();
  }
}
/** Some end, and are archived. */
async function ends(...some: readonly ReturnType<typeof ended>[]): Promise<void> {
  deliveries.rows.push(...some);
  await archive.round();
}
const files = async (): Promise<readonly string[]> => await store.list('deliveries/');

beforeAll(async () => {
  parquet = await ParquetFiles.open();
  folder = await mkdtemp(path.join(tmpdir(), 'pf-deliveries-test-'));
});
afterAll(async () => {
  await parquet.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  store = new MemoryStore();
  deliveries = new EndedInMemory();
  today = '2026-11-25';
  archive = opened();
});

describe('the archive of deliveries', () => {
  it('has each delivery, and reads none twice', async () => {
    await ends(ended(1), ended(2));
    await archive.round();
    deliveries.rows.push(ended(3));
    await opened().round();
    expect(await found()).toEqual(['whd_1 delivered', 'whd_2 delivered', 'whd_3 delivered']);
    expect(deliveries.read).toBe(3);
    expect(await files()).toHaveLength(2);
  });

  it('has nothing while nothing can be read, and an empty view', async () => {
    deliveries.rows.push(ended(1));
    deliveries.until = null;
    await archive.round();
    expect(store.objects.size).toBe(0);
    expect(await found()).toEqual([]);
  });

  it('has every column', async () => {
    await ends(ended(1, { intentId: null, responseStatus: null, firstAttemptAt: null, lastAttemptAt: null }));
    const ledger = await Ledger.open(store, { folder, maxBytes: 1e9 });
    const { rows } = await ledger.query('SELECT * FROM deliveries');
    ledger.close();
    expect(rows).toEqual([
      {
        delivery_id: 'whd_1',
        event_id: 'evt_1',
        event_type: 'intent.confirmed',
        intent_id: null,
        account_id: 'acct_1',
        livemode: false,
        endpoint_id: 'we_1',
        outcome: 'delivered',
        attempts: 1,
        response_status: null,
        created_at: '2026-11-25 12:00:00.5',
        first_attempt_at: null,
        last_attempt_at: null,
        ended_at: '2026-11-25 12:00:01',
      },
    ]);
  });

  it('shows the last end of a delivery that was retried', async () => {
    await ends(ended(1, { outcome: 'failed', attempts: 10, responseStatus: 500 }), ended(2));
    deliveries.rows.splice(0, 1);
    await ends(ended(9, { id: 'whd_1', attempts: 11 }));
    expect(await found()).toEqual(['whd_2 delivered', 'whd_1 delivered']);
  });

  it.each([0, 1, 2, 3, 4, 5, 6])('has each delivery when a process ends after %d changes', async (changes) => {
    deliveries.rows.push(...Array.from({ length: 30 }, (_, n) => ended(n)));
    const all = deliveries.rows.map(({ id }) => `${id} delivered`);
    // Two files of yesterday, to be merged.
    const written = deliveries.rows.splice(10);
    await archive.round();
    deliveries.rows.push(...written.splice(0, 10));
    await archive.round();
    deliveries.rows.push(...written);
    today = '2026-11-26';
    store.changesLeft = changes;
    await archive.round().catch((error: unknown) => expect(error).toBeInstanceOf(StoreUnavailableError));
    store.changesLeft = Infinity;
    expect((await found()).length).toBeGreaterThanOrEqual(20);
    await opened().round();
    expect(await found()).toEqual(all);
    today = '2026-11-27';
    await opened().round();
    expect(await found()).toEqual(all);
    expect(await files()).toHaveLength(2);
  });

  it('has each delivery where two processes archive at once', async () => {
    deliveries.rows.push(...Array.from({ length: 20 }, (_, n) => ended(n)));
    const other = opened();
    await Promise.all([archive.round(), other.round()]);
    deliveries.rows.push(ended(21));
    await Promise.all([archive.round(), other.round()]);
    today = '2026-11-26';
    await Promise.all([archive.round(), other.round()]);
    expect(await found()).toHaveLength(21);
    expect(new Set(await found()).size).toBe(21);
  });

  it('merges the files of a day that is over, each delivery once', async () => {
    for (let n = 0; n < 5; n++) {
      await ends(ended(n));
    }
    await ends(ended(9, { id: 'whd_0', attempts: 2 }));
    expect(await files()).toHaveLength(6);
    today = '2026-11-26';
    await archive.round();
    expect(await files()).toEqual([expect.stringMatching(/^deliveries\/day=2026-11-25\/5-/)]);
    expect(await found()).toHaveLength(5);
  });

  it('starts again when its head cannot be read', async () => {
    await ends(ended(1));
    store.objects.set('heads/deliveries.json', Buffer.from('{"format":'));
    await archive.round();
    expect(await found()).toEqual(['whd_1 delivered']);
    expect(deliveries.read).toBe(2);
  });

  it('merges no changed file, and continues', async () => {
    await ends(ended(1));
    await ends(ended(2));
    const [key = ''] = await files();
    store.objects.set(key, Buffer.from('other'));
    today = '2026-11-26';
    deliveries.rows.push(ended(3));
    await expect(archive.round()).rejects.toThrow(ArchiveDamagedError);
    await expect(found()).rejects.toThrow(ArchiveDamagedError);
    await ends(ended(4));
    expect(await files()).toHaveLength(4);
  });

  it('merges the files of other days though one is damaged', async () => {
    for (let n = 0; n < 2; n++) {
      await ends(ended(n));
    }
    const [key = ''] = await files();
    store.objects.set(key, Buffer.from('other'));
    today = '2026-11-26';
    deliveries.rows.push(ended(2));
    await expect(archive.round()).rejects.toThrow(ArchiveDamagedError);
    await ends(ended(3));
    today = '2026-11-27';
    await expect(archive.round()).rejects.toThrow(ArchiveDamagedError);
    expect((await files()).filter((file) => file.includes('2026-11-26'))).toHaveLength(1);
  });

  it('reports how far it is behind', async () => {
    deliveries.until = new Date(now() - 5_000);
    expect(archive.lagMs).toBe(0);
    await archive.round();
    expect(archive.lagMs).toBe(5_000);
    deliveries.isAvailable = false;
    await expect(archive.round()).rejects.toThrow('no database');
    today = '2026-11-26';
    expect(archive.lagMs).toBe(86_405_000);
  });
});
