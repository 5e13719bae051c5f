import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createStore, type NetworkWatches, UNSPLIT } from '@pf/database';
import type { ChainId } from '@pf/domain';
import { createLogger } from '@pf/runtime';
import { samples } from '@pf/domain/testing';
import { type Cluster, startCluster, until } from '@pf/testing';
import { Lease, LeaseLostError } from '../src/lease.ts';

const log = createLogger('test', 'silent');
const chain: ChainId = samples.BASE_SEPOLIA;
/** A life so long that nothing runs out while a test looks. */
const LONG_MS = 600_000;

describe('Lease', () => {
  let cluster: Cluster;
  let watches: NetworkWatches;
  beforeAll(async () => {
    cluster = await startCluster();
    watches = createStore(cluster.database).watches;
  });
  beforeEach(async () => {
    await cluster.database.sql.query('DELETE FROM service.network_watches');
  });
  afterAll(() => cluster.close());

  /** As if its holder had been silent for its whole life. */
  const runOut = (): Promise<unknown> =>
    cluster.database.sql.query(`UPDATE service.network_watches SET expires_at = now() - interval '1 millisecond'`);

  it('hands the cursor to the next holder, and refuses the former one', async () => {
    const former = await Lease.acquire(watches, chain, UNSPLIT, 'one', LONG_MS, log);
    await former?.moveCursor({ block: '100' });
    await runOut();
    const next = await Lease.acquire(watches, chain, UNSPLIT, 'two', LONG_MS, log);
    expect(next?.cursor).toEqual({ block: '100' });
    await next?.moveCursor({ block: '101' });

    await expect(former?.moveCursor({ block: '99' })).rejects.toThrow(LeaseLostError);
    expect(former?.lost.aborted).toBe(true);
    await former?.release();
    expect(await watches.acquire(chain, UNSPLIT, 'three', LONG_MS)).toBeNull();
    await next?.release();
    expect(await watches.acquire(chain, UNSPLIT, 'three', LONG_MS)).toMatchObject({
      epoch: 3n,
      cursor: { block: '101' },
    });
  });

  it('is renewed while it is held', async () => {
    // Renewed every two seconds.
    const lease = await Lease.acquire(watches, chain, UNSPLIT, 'one', 6_000, log);
    const expiry = async (): Promise<number> => {
      const { rows } = await cluster.database.sql.query<{ expires_at: Date }>(
        'SELECT expires_at FROM service.network_watches',
      );
      return rows[0]?.expires_at.getTime() ?? 0;
    };
    const first = await expiry();
    await until('a renewal', async () => (await expiry()) > first);
    expect(await watches.acquire(chain, UNSPLIT, 'two', LONG_MS)).toBeNull();
    await lease?.release();
  });

  it('aborts when another holder has taken it over', async () => {
    const lease = await Lease.acquire(watches, chain, UNSPLIT, 'one', 3_000, log);
    // It may be renewed in between.
    await until('another to take it over', async () => {
      await runOut();
      return watches.acquire(chain, UNSPLIT, 'two', LONG_MS);
    });
    await until('the loss to be noticed', () => lease?.lost.aborted);
    await lease?.release();
    expect(await watches.acquire(chain, UNSPLIT, 'three', LONG_MS)).toBeNull();
  });

  it('is lost when the database is unavailable for longer than its lifetime', async () => {
    const away = {
      renew: () => Promise.reject(new Error('connect ECONNREFUSED')),
      acquire: watches.acquire.bind(watches),
    } as unknown as NetworkWatches;
    const lease = await Lease.acquire(away, chain, UNSPLIT, 'one', 90, log);
    await until('the loss', () => lease?.lost.aborted);
    expect(lease?.lost.reason).toBeInstanceOf(LeaseLostError);
    await lease?.release();
  });
});
