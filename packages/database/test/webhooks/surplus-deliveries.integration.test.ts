import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { AccountId } from '@pf/domain';
import { openRoleLogins } from '@pf/testing';
import {
  addWebhookEndpoint,
  type Database,
  forgetSurplus,
  inTransaction,
  openAccount,
  openDatabase,
  setPlan,
  type SurplusDeliveries,
  surplusDeliveries,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const SECRETS_KEY = randomBytes(32);
const KEPT = 100;
const OF_EACH = 80;
const DAY_MS = 86_400_000;
const BY = { kind: 'operator', id: null, name: 'test', address: null, userAgent: null, requestId: null } as const;

describe('Accepted deliveries', () => {
  let own: OwnDatabase;
  let service: Database;
  let accountId: AccountId;
  const noon = Date.now();
  const daysAgo = (days: number): Date => new Date(noon - days * DAY_MS);
  beforeAll(async () => {
    own = await createOwnDatabase();
    const logins = await openRoleLogins(own.url);
    service = openDatabase({ url: logins?.pf_webhook ?? '', applicationName: 'webhook', maxConnections: 1 });
  });
  afterAll(async () => {
    await service.close();
    await own.close();
  });

  /** Deliveries of one day, a second apart, with an attempt each. */
  const fill = async (days: number, status: string, livemode = false, count = OF_EACH): Promise<void> => {
    const url = `https://shop.example/${livemode}`;
    const endpointId = (await addWebhookEndpoint(own.database, { accountId, livemode, url }))?.id;
    const key = randomBytes(6).toString('hex');
    await own.database.sql.query(
      `INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, url, status,
                                       created_at, next_attempt_at)
       SELECT 'whd_' || $1 || n, $2, $3, $4, 'evt_' || $1 || n, 'intent.created', $5, $6::text,
              $7::timestamptz + n * interval '1 second', CASE $6::text WHEN 'pending' THEN now() END
         FROM generate_series(1, $8::int) n`,
      [key, endpointId, accountId, livemode, url, status, daysAgo(days), count],
    );
    await inTransaction(own.database, async (client) => {
      // A trigger sets the time of Postgres.
      await client.query('SET LOCAL session_replication_role = replica');
      await client.query("UPDATE service.deliveries SET ended_at = created_at WHERE id LIKE 'whd_' || $1 || '%'", [
        key,
      ]);
    });
    await own.database.sql.query(
      `INSERT INTO service.delivery_attempts (delivery_id, number, at, duration_ms)
       SELECT id, 1, created_at, 1 FROM service.deliveries WHERE id LIKE 'whd_' || $1 || '%'`,
      [key],
    );
  };
  const surplus = async (): Promise<readonly SurplusDeliveries[]> => {
    const found: SurplusDeliveries[] = [];
    for await (const one of surplusDeliveries(service, 'free', KEPT)) if (one.accountId === accountId) found.push(one);
    return found;
  };
  const forgetAll = async (): Promise<number> => {
    let deleted = 0;
    for (const one of await surplus())
      for (let count = 30; count === 30; deleted += count) count = await forgetSurplus(service, one, daysAgo(1), 30);
    return deleted;
  };
  /** By days since, status and mode. */
  const left = async (): Promise<Readonly<Record<string, number>>> => {
    const { rows } = await own.database.sql.query<{ name: string; count: number }>(
      `SELECT round(extract(epoch FROM $2::timestamptz - created_at) / 86400) || ' ' || status
              || CASE WHEN livemode THEN ' live' ELSE '' END AS name, count(*)::int AS count
         FROM service.deliveries WHERE account_id = $1 GROUP BY 1`,
      [accountId, new Date(noon)],
    );
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
  };

  beforeEach(async () => {
    ({ id: accountId } = await openAccount(own.database, SECRETS_KEY, { name: 'many' }));
  });

  it('are kept as far as the newest of an account and mode, and what was not accepted all the same', async () => {
    for (const days of [20, 10, 5]) {
      await fill(days, 'delivered');
      await fill(days, 'failed');
    }
    await fill(20, 'pending');
    await fill(20, 'delivered', true);
    expect(await forgetAll()).toBe(3 * OF_EACH - KEPT);
    expect(await left()).toEqual({
      '10 delivered': KEPT - OF_EACH,
      '5 delivered': OF_EACH,
      '20 failed': OF_EACH,
      '10 failed': OF_EACH,
      '5 failed': OF_EACH,
      '20 pending': OF_EACH,
      '20 delivered live': OF_EACH,
    });
    expect(await own.database.prisma.deliveryAttempt.count()).toBe(KEPT + 5 * OF_EACH);
    expect(await forgetAll()).toBe(0);
  });

  it('are kept for a day, however many there are, for the archive to read', async () => {
    await fill(0.5, 'delivered', false, 3 * KEPT);
    await fill(3, 'delivered');
    expect(await forgetAll()).toBe(OF_EACH);
    expect(await left()).toEqual({ '0 delivered': 3 * KEPT });
  });

  it('are kept of an account that has another plan', async () => {
    await fill(3, 'delivered', false, 2 * KEPT);
    await setPlan(own.database, accountId, 'scale', BY);
    expect(await surplus()).toEqual([]);
  });

  it('are looked for with few statements, however many accounts have few of them', async () => {
    await fill(3, 'delivered', false, 3);
    await own.database.sql.query(
      `INSERT INTO service.accounts (id, name, plan)
       SELECT 'acct_few' || n, 'few', 'free' FROM generate_series(1, 2500) n`,
    );
    let statements = 0;
    const sql = new Proxy(service.sql, {
      get: (pool, name) => {
        if (name === 'query') statements += 1;
        return Reflect.get(pool, name) as unknown;
      },
    });
    for await (const one of surplusDeliveries({ ...service, sql }, 'free', 100_000)) expect(one).toBeUndefined();
    // Three pages of accounts, a look at each, and further ones at the few that have many.
    expect(statements).toBeLessThan(10);
    await own.database.sql.query("DELETE FROM service.accounts WHERE id LIKE 'acct_few%'");
  });

  it('are found with any number of accounts', async () => {
    await fill(3, 'delivered', false, 3);
    const others = await Promise.all(
      Array.from({ length: 4 }, () => openAccount(own.database, SECRETS_KEY, { name: 'another' })),
    );
    expect(others).toHaveLength(4);
    const found: string[] = [];
    // So many kept that a statement reads one account at a time.
    for await (const one of surplusDeliveries(service, 'free', 10_000_000)) found.push(one.accountId);
    expect(found).toEqual([]);
    for await (const one of surplusDeliveries(service, 'free', 3)) found.push(one.accountId);
    expect(found).toContain(accountId);
  });
});
