import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '@pf/runtime';
import { type Cluster, startCluster, until } from '@pf/testing';
import { createRetention } from '../src/retention.ts';

const HOUR_MS = 3_600_000;

describe('the retention of reserved amounts', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());

  it('keeps one for a day after its time, as what pays it in time may be told later', async () => {
    const now = Date.now();
    const { sql } = cluster.database;
    for (const [amount, name, hours] of [
      [1, 'open', -1],
      [2, 'ended', 1],
      [3, 'ended yesterday', 23],
      [4, 'forgotten', 25],
    ])
      await sql.query(
        `INSERT INTO service.reserved_amounts
           (intent_id, account_id, livemode, chain, token_address, recipient, amount_base_units, reserved_at, until)
         VALUES ($1, $2, false, 'chain', 'token', 'wallet', $3, $4, $5)`,
        [name, cluster.accountId, amount, new Date(now - 100 * HOUR_MS), new Date(now - Number(hours) * HOUR_MS)],
      );
    const left = async (): Promise<readonly string[]> => {
      const { rows } = await sql.query<{ name: string }>(
        'SELECT intent_id AS name FROM service.reserved_amounts ORDER BY amount_base_units',
      );
      return rows.map(({ name }) => name);
    };
    const retention = createRetention(cluster.database, createLogger('test', 'silent'), () => now);
    retention.start();
    await until('the first run', async () => !(await left()).includes('forgotten'));
    await retention.stop();
    expect(await left()).toEqual(['open', 'ended', 'ended yesterday']);
  });
});
