import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AccountId } from '@pf/domain';
import {
  addWebhookEndpoint,
  createAccount,
  type Database,
  deliveriesStatement,
  type DeliveryFilters,
  forgetDeliveries,
  listDeliveries,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const ROWS = 40_000;
/** So many are inserted at once: a statement has a time limit, on a busy machine too. */
const PART = 5_000;
const LIMIT = 20;

interface Plan {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}
const nodes = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];

describe('The list of deliveries', () => {
  let own: OwnDatabase;
  let database: Database;
  let owner: { readonly accountId: AccountId; readonly livemode: boolean };

  beforeAll(async () => {
    own = await createOwnDatabase();
    ({ database } = own);
    const { id: accountId } = await createAccount(database, { name: 'shop' });
    owner = { accountId, livemode: false };
    const endpoint = await addWebhookEndpoint(database, { accountId, livemode: false, url: 'https://shop.example' });
    // Most are delivered. Four have the same time, so that the order needs the id too. One in 4,000 has a rare type or
    // has failed.
    for (let first = 1; first <= ROWS; first += PART)
      await database.sql.query(
        `INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, intent_id,
                                         version, url, status, attempt_count, created_at, delivered_at,
                                         next_attempt_at)
         SELECT 'whd_' || lpad(n::text, 6, 'z'), $1, $2, n % 2 = 0, 'evt_' || n,
                CASE WHEN n % 4001 = 0 THEN 'intent.failed' ELSE 'intent.created' END, 'pi_' || n / 8, 1,
                'https://shop.example',
                CASE WHEN n % 4003 = 0 THEN 'failed' WHEN n % 4007 = 0 THEN 'pending' ELSE 'delivered' END, 1,
                  to_timestamp(1e9 + n / 4), now(), CASE WHEN n % 4007 = 0 THEN now() END
           FROM generate_series($3::INTEGER, $4::INTEGER) n`,
        [endpoint?.id, accountId, first, first + PART - 1],
      );
    await database.sql.query('ANALYZE service.deliveries');
  });
  afterAll(() => own.close());

  it.each<[string, DeliveryFilters]>([
    ['no filter', {}],
    ['an intent', { intentId: 'pi_4000' }],
    ['an event', { eventId: 'evt_4001' }],
    ['a common type', { type: 'intent.created' }],
    ['a rare type', { type: 'intent.failed' }],
    ['delivered', { status: 'delivered' }],
    ['failed', { status: 'failed' }],
    ['pending', { status: 'pending' }],
  ])('reads few rows beyond those it returns: %s', async (_name, filters) => {
    for (const after of [null, { createdAt: 1e12 + (ROWS / 8) * 1_000, id: 'whd_zz5000' }]) {
      const { text, values } = deliveriesStatement(owner, filters, after, LIMIT);
      const { rows } = await database.sql.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
        values,
      );
      const plan = nodes(rows[0]?.['QUERY PLAN'][0].Plan ?? { 'Node Type': 'none', 'Actual Rows': Infinity });
      const read = plan.reduce(
        (most, node) => Math.max(most, node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)),
        0,
      );
      expect(read).toBeLessThanOrEqual(2 * LIMIT);
      // One event or intent has few deliveries, which may be sorted.
      if (filters.eventId === undefined && filters.intentId === undefined)
        expect(plan.map((node) => node['Node Type']).filter((type) => /Sort|Seq Scan|Bitmap/.test(type))).toEqual([]);
    }
  });

  it('returns every delivery once, newest first', async () => {
    const seen: string[] = [];
    let after: { createdAt: number; id: string } | null = null;
    for (;;) {
      const rows: Awaited<ReturnType<typeof listDeliveries>> = await listDeliveries(
        database,
        owner,
        { type: 'intent.created' },
        after,
        3_000,
      );
      const last = rows.at(-1);
      seen.push(...rows.map(({ id }) => id));
      if (!last) break;
      after = { createdAt: last.createdAt.getTime(), id: last.id };
    }
    expect(new Set(seen).size).toBe(seen.length);
    const { rows } = await database.sql.query<{ id: string }>(
      `SELECT id FROM service.deliveries WHERE NOT livemode AND event_type = 'intent.created'
        ORDER BY created_at DESC, id DESC`,
    );
    expect(seen).toEqual(rows.map(({ id }) => id));
  });

  it('deletes old deliveries, up to a limit at a time, but no pending ones', async () => {
    const before = new Date(1e12 + 250_000);
    const endedBefore = new Date(Date.now() + 60_000);
    const { rows: old } = await database.sql.query<{ count: string }>(
      'SELECT count(*) FROM service.deliveries WHERE created_at < $1 AND next_attempt_at IS NULL',
      [before],
    );
    expect(await forgetDeliveries(database, { createdBefore: before, endedBefore }, 600)).toBe(600);
    expect(await forgetDeliveries(database, { createdBefore: before, endedBefore }, 600)).toBe(
      Number(old[0]?.count) - 600,
    );
    await database.sql.query(
      `UPDATE service.deliveries SET next_attempt_at = now()
        WHERE id = (SELECT id FROM service.deliveries WHERE created_at = $1 LIMIT 1)`,
      [before],
    );
    expect(await forgetDeliveries(database, { createdBefore: new Date(before.getTime() + 1), endedBefore }, 600)).toBe(
      3,
    );
  });
});
