import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainId } from '@pf/domain';
import { samples } from '@pf/domain/testing';
import { NetworkWatches } from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const chain: ChainId = samples.BASE_SEPOLIA;
/** Long enough that no lease expires by itself during a test. */
const LONG_MS = 600_000;

describe('The lease of a network', () => {
  let own: OwnDatabase;
  let watches: NetworkWatches;
  beforeAll(async () => {
    own = await createOwnDatabase();
    watches = new NetworkWatches(own.database);
  });
  beforeEach(async () => {
    await own.database.sql.query('DELETE FROM service.network_watches');
  });
  afterAll(() => own.close());

  /** Expires the lease, as if its holder had not renewed it. */
  const expireLease = (): Promise<unknown> =>
    own.database.sql.query(`UPDATE service.network_watches SET expires_at = now() - interval '1 millisecond'`);

  it('goes to one of two concurrent holders, and after its release to another in a later epoch', async () => {
    const [first, second] = await Promise.all([
      watches.acquire(chain, 'one', LONG_MS),
      watches.acquire(chain, 'two', LONG_MS),
    ]);
    const winner = first ?? second;
    expect([first, second].filter((lease) => lease !== null)).toEqual([winner]);
    if (!winner) throw new Error('neither holder got the lease');
    await watches.release(winner);
    expect(await watches.acquire(chain, 'three', LONG_MS)).toMatchObject({ epoch: winner.epoch + 1n, cursor: null });
  });

  it('keeps the cursor for the next holder, and refuses renewals, cursors and releases of the former one', async () => {
    const former = await watches.acquire(chain, 'one', LONG_MS);
    if (!former) throw new Error('the lease is free');
    expect(await watches.moveCursor(former, { block: '100' })).toBe(true);
    await expireLease();
    expect(await watches.acquire(chain, 'two', LONG_MS)).toMatchObject({ epoch: 2n, cursor: { block: '100' } });

    expect(await watches.moveCursor(former, { block: '99' })).toBe(false);
    expect(await watches.renew(former, LONG_MS)).toBe(false);
    await watches.release(former);
    expect(await watches.acquire(chain, 'three', LONG_MS)).toBeNull();
    await expireLease();
    expect(await watches.acquire(chain, 'three', LONG_MS)).toMatchObject({ epoch: 3n, cursor: { block: '100' } });
  });

  it('is granted again at once to the holder whose response was lost', async () => {
    await watches.acquire(chain, 'one', LONG_MS);
    expect(await watches.acquire(chain, 'one', LONG_MS)).toMatchObject({ epoch: 2n });
  });
});
