import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AccountId } from '@pf/domain';
import {
  forgetRequestRecords,
  listRequestRecords,
  type RequestFilters,
  type RequestRecord,
  requestsStatement,
  storeRequestRecords,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOON = Date.UTC(2026, 10, 22, 12);
const owner = { accountId: 'acct_1' as AccountId, livemode: false };
const record = (at: number, change: Partial<RequestRecord> = {}): RequestRecord => ({
  ...owner,
  at: new Date(at),
  method: 'GET',
  route: '/v1/intents',
  path: '/v1/intents',
  status: 200,
  errorCode: null,
  keyId: 'key_1',
  userId: null,
  intentId: null,
  durationMs: 3,
  requestId: 'req_1',
  omitted: 0,
  ...change,
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}
const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

describe('records of requests', () => {
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await createOwnDatabase();
  });
  afterAll(() => own.close());

  const list = (filters: RequestFilters = {}, of = owner, now = NOON) =>
    listRequestRecords(own.database, of, filters, { after: null, limit: 100, now });
  const empty = () => own.database.sql.query('TRUNCATE service.request_records');

  it('are listed for their account and mode, newest first, by status, key and intent', async () => {
    await empty();
    const { prisma } = own.database;
    await prisma.account.create({ data: { id: owner.accountId, name: 'Shop' } });
    const key = { id: 'key_1', accountId: owner.accountId, hash: Buffer.from('h'), livemode: false, scope: 'full' };
    await prisma.apiKey.create({ data: { ...key, hint: 'pk_test_…aB3d', name: 'Till' } });
    await storeRequestRecords(own.database, [
      record(NOON - 4_000),
      record(NOON - 3_000, { status: 404, errorCode: 'intent.not_found', intentId: 'pi_1', omitted: 7 }),
      record(NOON - 2_000, { status: 503, keyId: 'key_2', intentId: 'pi_1' }),
      record(NOON - 1_000, { keyId: null, userId: 'usr_1' }),
      record(NOON, { livemode: true }),
      record(NOON, { accountId: 'acct_2' as AccountId, intentId: 'pi_1' }),
    ]);
    const times = async (filters?: RequestFilters) => (await list(filters)).map(({ at }) => at.getTime() - NOON);
    expect(await times()).toEqual([-1_000, -2_000, -3_000, -4_000]);
    expect(await times({ statusClass: 4 })).toEqual([-3_000]);
    expect(await times({ keyId: 'key_1' })).toEqual([-3_000, -4_000]);
    expect(await times({ intentId: 'pi_1' })).toEqual([-2_000, -3_000]);
    expect(await times({ intentId: 'pi_1', statusClass: 5, keyId: 'key_2' })).toEqual([-2_000]);
    expect((await list({ statusClass: 4 }))[0]).toEqual({
      id: expect.stringMatching(/^rqr_/),
      at: new Date(NOON - 3_000),
      method: 'GET',
      route: '/v1/intents',
      path: '/v1/intents',
      status: 404,
      errorCode: 'intent.not_found',
      keyId: 'key_1',
      keyHint: 'pk_test_…aB3d',
      keyName: 'Till',
      userId: null,
      userName: null,
      intentId: 'pi_1',
      durationMs: 3,
      requestId: 'req_1',
      omitted: 7,
    });
  });

  it('are listed for seven days, and deleted a day at a time after that', async () => {
    await empty();
    const day = (n: number): number => NOON + n * DAY_MS;
    for (let n = 0; n < 30; n++) {
      await storeRequestRecords(own.database, [record(day(n)), record(day(n) + 1)]);
      // Nine days have filled every partition; the one of tomorrow is emptied each day from then on.
      expect(await forgetRequestRecords(own.database, day(n))).toBe(n >= 8);
      expect(await forgetRequestRecords(own.database, day(n))).toBe(false);
      const listed = await list({}, owner, day(n) + 1);
      expect(listed).toHaveLength(2 * Math.min(n + 1, 8) - (n >= 7 ? 1 : 0));
      expect(listed.every(({ at }) => at.getTime() >= day(n) + 1 - 7 * DAY_MS)).toBe(true);
    }
    const { rows } = await own.database.sql.query('SELECT FROM service.request_records');
    expect(rows).toHaveLength(2 * 8);
  });

  it('are not deleted in the last hour of a day, when clocks may disagree about the day', async () => {
    await empty();
    const midnight = Math.ceil(NOON / DAY_MS) * DAY_MS;
    await storeRequestRecords(own.database, [record(midnight + 500)]);
    expect(await forgetRequestRecords(own.database, midnight - 1_000)).toBe(false);
    expect(await forgetRequestRecords(own.database, midnight + 1_000)).toBe(false);
    expect(await list({}, owner, midnight + 2_000)).toHaveLength(1);
  });

  it('cost a page what it shows, of a list of any length, and are paged without a gap', async () => {
    await empty();
    await own.database.sql.query(
      `INSERT INTO service.request_records (slot, at, id, account_id, livemode, method, route, status, status_class,
                                            key_id, intent_id, duration_ms, request_id)
       SELECT (extract(epoch FROM at) / 86400)::int % 9, at, 'rqr_' || n, $1, false, 'GET', '/v1/intents',
              CASE WHEN n = 1 THEN 503 WHEN n % 10 = 0 THEN 404 ELSE 200 END,
              CASE WHEN n = 1 THEN 5 WHEN n % 10 = 0 THEN 4 ELSE 2 END,
              CASE WHEN n = 2 THEN 'key_rare' ELSE 'key_1' END, CASE WHEN n % 1000 = 0 THEN 'pi_' || n END, 1, 'req'
         FROM generate_series(1, 60000) AS n,
              LATERAL (SELECT $2::timestamptz - (60000 - n) * interval '10 seconds' AS at) AS clock`,
      [owner.accountId, new Date(NOON)],
    );
    await own.database.sql.query('ANALYZE service.request_records');
    const limit = 20;
    const filters: readonly RequestFilters[] = [
      {},
      { statusClass: 2 },
      { statusClass: 5 },
      { keyId: 'key_rare' },
      { keyId: 'key_1' },
      { intentId: 'pi_1000' },
    ];
    for (const filter of filters) {
      const { text, values } = requestsStatement(owner, filter, { after: null, limit, now: NOON });
      const { rows } = await own.database.sql.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
        values,
      );
      const root = rows[0]?.['QUERY PLAN'][0].Plan;
      if (root === undefined) throw new Error('no plan');
      const leaves = nodesOf(root).filter((node) => node.Plans === undefined && /Scan/.test(node['Node Type']));
      const read = leaves.reduce(
        (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
        0,
      );
      // The rows of the page, one more of each day and class, and the keys that they name.
      expect([filter, read <= 4 * limit + 4 * 9]).toEqual([filter, true]);
    }
    const seen: string[] = [];
    for (let after: { createdAt: number; id: string } | null = null; ;) {
      const page = await listRequestRecords(own.database, owner, { statusClass: 4 }, { after, limit: 999, now: NOON });
      seen.push(...page.map(({ id }) => id));
      const last = page.at(-1);
      if (page.length < 999 || last === undefined) break;
      after = { createdAt: last.at.getTime(), id: last.id };
    }
    const expected = Array.from({ length: 6_000 }, (_none, n) => `rqr_${60_000 - n * 10}`);
    expect(seen).toEqual(expected.slice(0, seen.length));
    // Those of the last seven days.
    expect(seen).toHaveLength(6_000);
  });
});
