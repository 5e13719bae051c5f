import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import type { Address, IntentId, TransactionHash } from '@pf/domain';
import { events, samples } from '@pf/domain/testing';
import { changeCursors, createStore, isOfShard, type Shard, SHARDS_MAX, type Store, UNSPLIT } from '../../src/index.ts';
import { leaseRows, ofShard } from '../../src/watching/shards.ts';
import { PartitionLog } from '../ledger/partition-log.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const PARTITION = 1;
const CHAIN = samples.BASE_SEPOLIA;
/** Long enough that no lease expires by itself during a test. */
const LONG_MS = 600_000;

const newAddress = (): Address => `0x${randomBytes(20).toString('hex')}` as Address;
const shardsOf = (count: number): readonly Shard[] =>
  Array.from({ length: count }, (_, at) => ({ index: at + 1, count }));
/** An address of each shard. */
const addressesIn = (count: number): readonly Address[] =>
  shardsOf(count).map((shard) => {
    for (;;) {
      const address = newAddress();
      if (isOfShard(address, shard)) return address;
    }
  });

describe('The shards of a network', () => {
  let own: OwnDatabase;
  let store: Store;
  beforeAll(async () => {
    own = await createOwnDatabase();
    store = createStore(own.database);
    await store.ledger.checkpoint(PARTITION);
  });
  beforeEach(async () => {
    await own.database.sql.query(
      'TRUNCATE ledger.intents, service.network_watches, service.watch_bookmarks, service.signed_transactions CASCADE',
    );
  });
  afterAll(() => own.close());

  /** Splits the network into as many; each begins with the first cursor. */
  const split = (count: number) =>
    changeCursors(own.database, CHAIN, ([cursor = {}]) => Array.from({ length: count }, () => cursor));
  async function begin(): Promise<void> {
    const lease = await store.watches.acquire(CHAIN, UNSPLIT, 'first', LONG_MS);
    if (!lease) throw new Error('the lease is free');
    await store.watches.moveCursor(lease, { block: '100' });
    await store.watches.release(lease);
  }
  const acquire = (index: number, count: number, holder = `${index}/${count}`) =>
    store.watches.acquire(CHAIN, { index, count }, holder, LONG_MS);

  it('have each recipient in one of them, the same in Postgres and here', async () => {
    const addresses = Array.from({ length: 500 }, newAddress);
    for (const count of [1, 2, 3, SHARDS_MAX]) {
      const here = addresses.map((address) => shardsOf(count).filter((shard) => isOfShard(address, shard)));
      expect(new Set(here.map(({ length }) => length))).toEqual(new Set([1]));
      expect(new Set(here.map(([shard]) => shard?.index)).size).toBe(count);
      const { rows } = await own.database.sql.query<{ index: number }>(
        `SELECT index FROM unnest($1::text[]) WITH ORDINALITY AS one (recipient, place), generate_series(1, $2) AS index
          WHERE ${ofShard('recipient', 'index', '$2')} ORDER BY place`,
        [addresses, count],
      );
      expect(rows.map(({ index }) => index)).toEqual(here.map(([shard]) => shard?.index));
    }
  });

  it('load only the intents of their recipients, and forget only their bytes', async () => {
    const log = new PartitionLog(PARTITION);
    const ids = new Map<number, IntentId>();
    const { signedTransactions, watchedIntents, ledger } = store;
    const keep = (intentId: IntentId, hash: string) =>
      signedTransactions.keep({ intentId, chain: CHAIN, hash: hash as TransactionHash, bytes: new Uint8Array([1]) });
    for (const [at, requestor] of addressesIn(2).entries()) {
      const id = newIntentId(PARTITION);
      ids.set(at + 1, id);
      const { position } = await ledger.checkpoint(PARTITION);
      await ledger.project(log.append(position, position + 1n, events.of(id, events.created({ requestor }))));
      await keep(id, `0x${at + 1}`);
    }
    // Of an intent that is not projected yet.
    await keep(newIntentId(PARTITION), '0x3');
    const hashes = ['0x1', '0x2', '0x3'] as TransactionHash[];
    for (const shard of shardsOf(2)) {
      const loaded: IntentId[] = [];
      await watchedIntents.load([CHAIN], 0, ({ id }) => loaded.push(id), shard);
      expect(loaded).toEqual([ids.get(shard.index)]);
    }
    const later = Date.now() + LONG_MS;
    expect(await signedTransactions.forget(CHAIN, { index: 2, count: 2 }, later, [], [])).toBe(1);
    expect([...(await signedTransactions.find(CHAIN, hashes)).keys()].sort()).toEqual(['0x1', '0x3']);
    expect(await signedTransactions.forget(CHAIN, UNSPLIT, later, [], [])).toBe(2);
  });

  it('have a lease each, and end that of the whole network when it is split', async () => {
    expect(await split(2)).toBeNull();
    await begin();
    const whole = await acquire(1, 1);
    if (!whole) throw new Error('the lease is free');
    expect(await split(2)).toEqual([{ block: '100' }, { block: '100' }]);
    expect(await store.watches.shards(CHAIN)).toBe(2);
    expect(await store.watches.moveCursor(whole, { block: '101' })).toBe(false);
    expect(await store.watches.renew(whole, LONG_MS)).toBe(false);
    expect([await acquire(1, 1), await acquire(1, 3), await acquire(3, 3)]).toEqual([null, null, null]);

    const [first, second] = [await acquire(1, 2), await acquire(2, 2)];
    expect([first?.cursor, second?.cursor]).toEqual([{ block: '100' }, { block: '100' }]);
    expect(await acquire(2, 2, 'another')).toBeNull();
    if (!first || !second) throw new Error('the leases are free');
    expect(await store.watches.moveCursor(second, { block: '200' })).toBe(true);
    await store.watches.release(second);
    expect(await acquire(2, 2, 'another')).toMatchObject({ cursor: { block: '200' } });
    expect(await acquire(1, 2, 'another')).toBeNull();
  });

  it('are never held again under an epoch of before, when the network was not split meanwhile', async () => {
    await begin();
    await split(2);
    const former = await acquire(2, 2);
    if (!former) throw new Error('the lease is free');
    await split(1);
    expect(await acquire(2, 2)).toBeNull();
    await split(2);
    expect(await store.watches.moveCursor(former, { block: '300' })).toBe(false);
    expect(await acquire(2, 2)).toMatchObject({ cursor: { block: '100' } });
  });

  it('cannot be acquired for a number of them that changes at that moment', async () => {
    await begin();
    await split(2);
    const client = await own.database.sql.connect();
    try {
      await client.query('BEGIN');
      await client.query('UPDATE service.network_watches SET shards = 3, epoch = epoch + 1 WHERE chain = ANY($1)', [
        leaseRows(CHAIN),
      ]);
      const acquired = acquire(2, 2);
      await client.query('COMMIT');
      expect(await acquired).toBeNull();
    } finally {
      client.release();
    }
  });

  it('have the bookmarks of their recipients', async () => {
    await begin();
    await split(2);
    const [one = '', other = ''] = addressesIn(2) as readonly string[];
    const [first, second] = [await acquire(1, 2), await acquire(2, 2)];
    if (!first || !second) throw new Error('the leases are free');
    await store.watches.moveCursor(first, { block: '101' }, new Map([[one, 'a']]));
    await store.watches.moveCursor(second, { block: '102' }, new Map([[other, 'b']]));
    expect(await store.watches.bookmarks(CHAIN, first.shard)).toEqual(new Map([[one, 'a']]));
    expect(await store.watches.bookmarks(CHAIN, second.shard)).toEqual(new Map([[other, 'b']]));
    await split(1);
    expect(await store.watches.bookmarks(CHAIN, UNSPLIT)).toEqual(
      new Map([
        [one, 'a'],
        [other, 'b'],
      ]),
    );
  });

  it('are at most so many', async () => {
    await begin();
    await expect(split(SHARDS_MAX + 1)).rejects.toThrow('1 to 16 shards');
    await expect(split(0)).rejects.toThrow('1 to 16 shards');
    expect(await store.watches.shards(CHAIN)).toBe(1);
  });
});
