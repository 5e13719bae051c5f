import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openRoleLogins } from '@pf/testing';
import {
  acquireLanes,
  addWebhookEndpoint,
  createAccount,
  type Database,
  grantRights,
  openDatabase,
  releaseLanes,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const DELIVERIES = 5_000;
/** From the sixth time on, Postgres plans a prepared statement without its values. */
const TIMES = 8;

describe('Releasing a lane', () => {
  let own: OwnDatabase;
  let service: Database;
  let filling: Database;
  beforeAll(async () => {
    own = await createOwnDatabase();
    await grantRights(own.url);
    const logins = await openRoleLogins(own.url);
    // One connection each, whose statistics can be asked for.
    service = openDatabase({ url: logins?.pf_webhook ?? '', applicationName: 'webhook', maxConnections: 1 });
    filling = openDatabase({ url: own.url, applicationName: 'filling', maxConnections: 1 });
  });
  afterAll(async () => {
    await Promise.all([service.close(), filling.close()]);
    await own.close();
  });

  async function scans(): Promise<number> {
    for (const { sql } of [filling, service]) await sql.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await filling.sql.query<{ scans: number }>(
      `SELECT seq_scan::int AS scans FROM pg_stat_user_tables WHERE relname = 'deliveries'`,
    );
    return rows[0]?.scans ?? NaN;
  }

  it('reads no delivery that has ended, though the statistics are from when all were due', async () => {
    const { id: accountId } = await createAccount(own.database, { name: 'shop' });
    const url = 'https://shop.example/webhooks';
    const endpoint = await addWebhookEndpoint(own.database, { accountId, livemode: false, url });
    const endpointId = endpoint?.id ?? '';
    await filling.sql.query(
      `INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, intent_id, version,
                                       url, status, next_attempt_at)
       SELECT 'whd_' || n, $1, $2, false, 'evt_' || n, 'intent.created', 'pi_' || n, 1, $3, 'pending', now()
         FROM generate_series(1, ${DELIVERIES}) n`,
      [endpointId, accountId, url],
    );
    await filling.sql.query('ANALYZE service.deliveries');
    await filling.sql.query(`UPDATE service.deliveries SET status = 'delivered', next_attempt_at = NULL`);
    const before = await scans();
    const now = new Date();
    for (let time = 0; time < TIMES; time++) {
      const lease = { holder: 'me', now, until: new Date(now.getTime() + 45_000) };
      expect(await acquireLanes(service, [endpointId], lease)).toHaveLength(1);
      const released = await releaseLanes(service, [{ endpointId, heldUntil: null }], lease);
      expect(released.get(endpointId)).toMatchObject({ due: false });
    }
    expect((await scans()) - before).toBe(0);
  });
});
