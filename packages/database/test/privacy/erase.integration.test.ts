import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AccountId } from '@pf/domain';
import type pg from 'pg';
import { addWebhookEndpoint, erasePersonalData, openAccount } from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const BY = { kind: 'operator', id: null, name: 'test', address: null, userAgent: null, requestId: null } as const;
const WEBHOOKS = 2_500;

describe('The erasure of the metadata of payment links', () => {
  let own: OwnDatabase;
  let accountId: AccountId;
  const other = 'plink_other';
  beforeAll(async () => {
    own = await createOwnDatabase();
    ({ id: accountId } = await openAccount(own.database, randomBytes(32), { name: 'many' }));
    const { id: stranger } = await openAccount(own.database, randomBytes(32), { name: 'another' });
    const { sql } = own.database;
    const links = [
      ['plink_one', accountId],
      [other, stranger],
    ] as const;
    for (const [id, account] of links) {
      await sql.query(
        `INSERT INTO service.payment_links (id, account_id, livemode, amount, offers, ttl_seconds, metadata, created_at,
                                            expires_at)
         VALUES ($1, $2, true, '1', '[]', 3600, '{"name":"Ada"}', now(), now())`,
        [id, account],
      );
      const body = { data: { paymentLink: { id, metadata: { name: 'Ada' } } } };
      for (const livemode of [true, false])
        await sql.query(
          `INSERT INTO service.missed_events (account_id, livemode, event_id, event_type, body, at)
           SELECT $1::text, $2::boolean, 'evt_' || n, 'payment_link.paid', $3, now()
             FROM generate_series(1, $4::int) n`,
          [account, livemode, JSON.stringify(body), WEBHOOKS],
        );
      const url = 'https://x.example';
      const endpoint = await addWebhookEndpoint(own.database, { accountId: account, livemode: true, url });
      await sql.query(
        `INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, url, status,
                                         created_at, next_attempt_at, body)
         SELECT 'whd_' || $1::text || n, $5, $2, true, 'evt_' || $1::text || n, 'payment_link.paid',
                'https://x.example', 'pending', now(), now(), $3 FROM generate_series(1, $4::int) n`,
        [id, account, JSON.stringify(body), WEBHOOKS, endpoint?.id],
      );
    }
  });
  afterAll(() => own.close());

  it('reads and writes a thousand webhooks at a time, and changes those of no other account', async () => {
    const sizes: number[] = [];
    const watched = (client: pg.PoolClient): pg.PoolClient =>
      new Proxy(client, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name);
          if (name !== 'query') return typeof value === 'function' ? (value.bind(target) as unknown) : value;
          return async (...values: unknown[]) => {
            const result = await (Reflect.apply(target.query.bind(target), target, values) as Promise<pg.QueryResult>);
            sizes.push(result.rows.length);
            return result;
          };
        },
      });
    const sql = new Proxy(own.database.sql, {
      get: (pool, name) =>
        name === 'connect' ? async () => watched(await pool.connect()) : (Reflect.get(pool, name) as unknown),
    });
    expect(await erasePersonalData({ ...own.database, sql }, { accountId }, BY)).toMatchObject({ links: 1 });
    expect(Math.max(...sizes)).toBe(1_000);
    expect(sizes.length).toBeLessThan(40);
    const { rows } = await own.database.sql.query(
      `SELECT account_id = $1::text AS own, body LIKE '%Ada%' AS named, count(*)::int
         FROM (SELECT account_id, body FROM service.missed_events
               UNION ALL SELECT account_id, body FROM service.deliveries) webhooks
        GROUP BY 1, 2 ORDER BY 1`,
      [accountId],
    );
    expect(rows).toEqual([
      { own: false, named: true, count: 3 * WEBHOOKS },
      { own: true, named: false, count: 3 * WEBHOOKS },
    ]);
  });
});
