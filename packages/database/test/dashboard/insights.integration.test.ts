import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ATTENTION_ADVICE,
  ATTENTION_DONE_BY,
  type AttentionKind,
  type PaymentAttentionKind,
} from '@pf/contracts/dashboard';
import type { AccountId, TokenAddress } from '@pf/domain';
import type pg from 'pg';
import { attentionStatement, doneAttentionStatement, sumIntents, sumStatement } from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const ROWS = 20_000;
const HOUR_MS = 3_600_000;
const BEGINS = Date.UTC(2026, 0, 1);
const owner = { accountId: 'acct_busy' as AccountId, livemode: false };
const tokens = ['token:a', 'token:b', 'token:none'] as TokenAddress[];

/** One intent a second. */
const INTENTS = `
  INSERT INTO ledger.intents (id, partition, version, account_id, livemode, status, chain, token, token_address,
    amount_base_units, requestor, direction, reference, refund_of, created_at, updated_at, expires_at, state)
  SELECT 'pi_' || $4 || n, 0, 1, $1, $2, CASE WHEN n % 4 = 0 THEN 'expired' ELSE 'finalized' END, 'chain', 'USDC',
         CASE WHEN n % 2 = 0 THEN 'token:a' ELSE 'token:b' END, n, 'wallet', 'request', $4 || n,
         CASE WHEN n % 10 = 1 THEN 'pi_1' END, at, at, at, 'x'
    FROM generate_series(1, ${ROWS}) AS n,
         LATERAL (SELECT to_timestamp(($3::bigint + n * 1000) / 1000.0) AS at) AS clock`;
const EVENTS = `
  INSERT INTO ledger.intent_events (intent_id, version, event_id, type, body, at, account_id, livemode)
  SELECT 'pi_' || n, 1, 'evt_' || $1 || n,
         CASE WHEN n % 4 > 0 THEN 'intent.created' WHEN n = 4 THEN 'intent.late_payment'
              WHEN n = 8 THEN 'intent.overpaid'
              ELSE 'intent.mismatched_payment' END, '{}', now() - n * interval '1 second',
         CASE WHEN n % 4 = 0 THEN $1 END, CASE WHEN n % 4 = 0 THEN false END
    FROM generate_series($2::int, $2 + ${ROWS}) AS n`;
/** The newer half does not count, and every fourth is ignored. */
const DEPOSITS = `
  INSERT INTO ledger.deposits (id, partition, version, account_id, livemode, chain, amount_base_units, recipient,
    tx_signature, level, state, reason, created_at, updated_at, document)
  SELECT 'dp_' || $1 || n, 0, 1, $1, false, 'chain', n, 'wallet', n,
         CASE WHEN n <= ${ROWS / 4} THEN 'withdrawn' WHEN n <= ${ROWS / 2} THEN 'lost'
              WHEN n % 2 = 0 THEN 'confirmed' ELSE 'finalized' END,
         CASE WHEN n % 4 = 0 THEN 'ignored' ELSE 'open' END, 'no_reference', at, at, 'x'
    FROM generate_series(1, ${ROWS}) AS n, LATERAL (SELECT now() - n * interval '1 second' AS at) AS clock`;
const DELIVERIES = `
  INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, url, status, failed_at)
  SELECT 'whd_' || n, 'whe_' || n % 2, $1, false, 'evt_' || n, 'intent.created', 'https://a',
         CASE WHEN n % 3 = 0 THEN 'delivered' ELSE 'failed' END, now() - n * interval '1 second'
    FROM generate_series(1, ${ROWS}) AS n`;

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Heap Fetches'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}
const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

describe('What the dashboard reads of a large account', () => {
  let own: OwnDatabase;
  let sql: pg.Pool;

  beforeAll(async () => {
    own = await createOwnDatabase();
    ({ sql } = own.database);
    await sql.query(INTENTS, [owner.accountId, false, BEGINS, '']);
    await sql.query(INTENTS, [owner.accountId, true, BEGINS, 'live']);
    await sql.query(INTENTS, ['acct_other', false, BEGINS, 'other']);
    await sql.query(EVENTS, [owner.accountId, 0]);
    await sql.query(EVENTS, ['acct_other', 1_000_000]);
    await sql.query(DEPOSITS, [owner.accountId]);
    await sql.query(DEPOSITS, ['acct_other']);
    await sql.query(`INSERT INTO service.accounts (id, name) VALUES ($1, 'busy')`, [owner.accountId]);
    await sql.query(
      `INSERT INTO service.webhook_endpoints (id, account_id, livemode, url, disabled_at, disabled_by)
       VALUES ('whe_0', $1, false, 'https://a', NULL, NULL), ('whe_1', $1, false, 'https://b', now(), 'account')`,
      [owner.accountId],
    );
    await sql.query(DELIVERIES, [owner.accountId]);
    for (const table of ['ledger.intents', 'ledger.intent_events', 'ledger.deposits', 'service.deliveries'])
      await sql.query(`VACUUM ANALYZE ${table}`);
  });
  afterAll(() => own.close());

  async function planOf({ text, values }: { text: string; values: unknown[] }): Promise<readonly PlanNode[]> {
    const { rows } = await sql.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      values,
    );
    const root = rows[0]?.['QUERY PLAN'][0].Plan;
    if (root === undefined) throw new Error('no plan');
    return nodesOf(root);
  }
  const readBy = (nodes: readonly PlanNode[]): number =>
    nodes
      .filter(({ Plans }) => Plans === undefined)
      .reduce(
        (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
        0,
      );

  /** The last hours. */
  const range = (hours: number, max = 1_000_000) => ({
    tokens,
    from: new Date(Math.floor((BEGINS + ROWS * 1_000) / HOUR_MS) * HOUR_MS - (hours - 1) * HOUR_MS),
    bucketMs: HOUR_MS,
    max,
  });

  it('summarizes the intents of its range from an index, and reads no other entry and no row', async () => {
    const nodes = await planOf(sumStatement(owner, range(2)));
    const scans = nodes.filter(({ Plans }) => Plans === undefined);
    expect(new Set(scans.map((node) => [node['Node Type'], node['Index Name']].join(' ')))).toEqual(
      new Set(['Index Only Scan intents_summed']),
    );
    expect(scans.every((node) => node['Heap Fetches'] === 0)).toBe(true);
    const inRange = Math.floor(((ROWS * 1_000) % HOUR_MS) / 1_000) + 3_600 + 1;
    expect(readBy(nodes)).toBe(inRange);
  });

  it('summarizes exactly', async () => {
    const { sums, first } = await sumIntents(own.database, owner, range(100));
    expect(sums.reduce((sum, { intents }) => sum + intents, 0)).toBe(ROWS);
    expect(sums.reduce((sum, { amount }) => sum + amount, 0n)).toBe((BigInt(ROWS) * BigInt(ROWS + 1)) / 2n);
    expect(sums.filter(({ kind }) => kind === 'refunded').reduce((sum, { intents }) => sum + intents, 0)).toBe(
      ROWS / 10,
    );
    expect(first).toEqual(new Date(BEGINS + 1_000));
    const buckets = new Set(sums.map(({ bucketAt }) => bucketAt.getTime()));
    expect([...buckets].every((at) => at % HOUR_MS === 0)).toBe(true);
    expect(buckets.size).toBe(Math.floor((ROWS * 1_000) / HOUR_MS) + 1);
  });

  it('counts the newest intents of all tokens where there are more than it may count', async () => {
    const { sums, first } = await sumIntents(own.database, owner, range(100, 1_000));
    expect(sums.reduce((sum, { intents }) => sum + intents, 0)).toBe(1_000);
    expect(first).toEqual(new Date(BEGINS + (ROWS - 999) * 1_000));
    expect(readBy(await planOf(sumStatement(owner, range(100, 1_000))))).toBeLessThanOrEqual(1_002);
  });

  it('reads only what a page of the attention list needs, however much else there is', async () => {
    const limit = 20;
    const kinds = Object.keys(ATTENTION_ADVICE) as AttentionKind[];
    for (const of of [kinds, ...kinds.map((kind) => [kind])]) {
      const first = attentionStatement(owner, of, null, limit);
      // A mismatched payment is looked up once more among the later events of its intent: none has withdrawn it.
      const most = (of.length + Number(of.includes('mismatched_payment'))) * limit + 4;
      expect([of, readBy(await planOf(first)) <= most]).toEqual([of, true]);
      const { rows } = await sql.query<{ id: string; at: Date }>(first);
      const last = rows.at(-1);
      if (last === undefined) continue;
      const second = attentionStatement(owner, of, { createdAt: last.at.getTime(), id: last.id }, limit);
      expect([of, readBy(await planOf(second)) <= most]).toEqual([of, true]);
    }
  });

  it('reads only a page of marks for what is done, and nothing that is open', async () => {
    const limit = 20;
    await sql.query(
      `INSERT INTO dashboard.attention_done (account_id, livemode, item_id, kind, intent_id, done_at, user_id)
       SELECT account_id, livemode, event_id, substr(type, 8), intent_id, now() - random() * interval '1 day', 'usr_1'
         FROM ledger.intent_events WHERE account_id = $1 ORDER BY at LIMIT 1000`,
      [owner.accountId],
    );
    await sql.query('VACUUM ANALYZE dashboard.attention_done');
    const kinds = Object.keys(ATTENTION_DONE_BY) as PaymentAttentionKind[];
    const first = doneAttentionStatement(owner, kinds, null, limit) ?? { text: '', values: [] };
    // Each mark with its payment, and whether that was withdrawn.
    expect(readBy(await planOf(first))).toBeLessThanOrEqual(3 * limit + 4);
    const { rows } = await sql.query<{ id: string; doneAt: Date }>(first);
    expect(rows).toHaveLength(limit);
    const open = attentionStatement(owner, Object.keys(ATTENTION_ADVICE) as AttentionKind[], null, limit);
    const done = new Set(rows.map(({ id }) => id));
    expect((await sql.query<{ id: string }>(open)).rows.filter(({ id }) => done.has(id))).toEqual([]);
  });
});
