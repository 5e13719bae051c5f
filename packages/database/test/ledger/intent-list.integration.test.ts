import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Position } from '@pf/contracts';
import type { AccountId, Address, Reference, TokenAddress, TransactionHash } from '@pf/domain';
import { INTENT_STATUSES } from '@pf/domain';
import pg from 'pg';
import { createTestDatabase, readBackingStack, type TestDatabase } from '@pf/testing';
import { type IntentFilter, intentsStatement } from '../../src/index.ts';

const ROWS = 200_000;
const LIMIT = 20;
const owner = { accountId: 'acct_busy' as AccountId, livemode: false };
const BEGINS = Date.UTC(2026, 0, 1);
const nth = (n: number): number => BEGINS + n * 1_000;

/** The oldest row has a value of its own in every column: a scan of the whole list would reach it last. */
const INSERT = `
  INSERT INTO ledger.intents (id, partition, version, account_id, livemode, status, chain, token, token_address,
    amount_base_units, requestor, fulfiller, direction, reference, tx_signature, metadata, created_at, updated_at,
    expires_at, closed_at, state)
  SELECT 'pi_' || $5 || lpad(n::text, 20, '0'), n % 6, 1, $1, $2,
         CASE WHEN n = 1 THEN 'pending' WHEN n > $3 - 3000 THEN 'expired'
              WHEN n % 100 = 0 THEN 'created' ELSE 'finalized' END,
         CASE WHEN n = 1 THEN 'eip155:42431' ELSE 'eip155:84532' END,
         'USDC', CASE WHEN n = 1 THEN 'token:rare' ELSE 'token:common' END, n,
         CASE WHEN n = 1 THEN 'wallet:rare' ELSE 'wallet:common' END,
         CASE WHEN n = 1 THEN 'payer:rare' WHEN n % 2 = 0 THEN 'payer:common' END,
         CASE WHEN n = 1 THEN 'send' ELSE 'request' END,
         $5 || n, CASE WHEN n % 2 = 0 THEN 'hash:' || n / 20 END,
         CASE WHEN n % 20 = 0 THEN jsonb_build_object('shop', $1::text, 'order', n::text) END,
         at, at, at, at, 'x'
  FROM generate_series(1, $3::int) AS n,
       LATERAL (SELECT to_timestamp(($4::bigint + n * 1000) / 1000.0) AS at) AS clock`;

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}
const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

describe('The list of 200,000 intents of one account', () => {
  let database: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    database = await createTestDatabase(readBackingStack().database);
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(INSERT, [owner.accountId, false, ROWS, BEGINS, '']);
    // Other owners, so that the account and its mode select a part of the table.
    await client.query(INSERT, [owner.accountId, true, 2_000, BEGINS, 'live']);
    await client.query(INSERT, ['acct_other', false, 20_000, BEGINS, 'other']);
    await client.query('ANALYZE ledger.intents');
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  /** What the statement read, by its plan. */
  async function plan(
    filter: IntentFilter,
    {
      after = null,
      limit = LIMIT,
      how = 'sorted',
    }: { after?: Position | null; limit?: number; how?: 'sorted' | 'in order' } = {},
  ): Promise<{ read: number; blocks: number; runs: number; types: readonly string[]; found: number }> {
    const { text, values } = intentsStatement(owner, filter, after, limit + 1, how);
    const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
      values,
    );
    const root = rows[0]?.['QUERY PLAN'][0].Plan;
    if (root === undefined) throw new Error('no plan');
    const nodes = nodesOf(root);
    const leaves = nodes.filter(({ Plans }) => Plans === undefined);
    const read = leaves.reduce(
      (sum, node) =>
        sum +
        (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) *
          node['Actual Loops'],
      0,
    );
    return {
      read,
      runs: leaves.length,
      blocks: (root['Shared Hit Blocks'] ?? 0) + (root['Shared Read Blocks'] ?? 0),
      types: nodes.map((node) => node['Node Type']),
      found: root['Actual Rows'],
    };
  }

  const filters: readonly [name: string, filter: IntentFilter, found: number][] = [
    ['no filter', {}, LIMIT + 1],
    ['a state of nearly all, but none of the newest', { states: ['finalized'] }, LIMIT + 1],
    ['a state of a few', { states: ['created'] }, LIMIT + 1],
    ['a state of the oldest only', { states: ['pending'] }, 1],
    ['a state of none', { states: ['failed'] }, 0],
    ['several states', { states: ['created', 'pending', 'failed'] }, LIMIT + 1],
    ['several rare states', { states: ['pending', 'failed', 'cancelled'] }, 1],
    ['all states', { states: INTENT_STATUSES }, LIMIT + 1],
    [
      'the chain of nearly all: all its tokens',
      { tokens: ['token:common', 'token:unused'] as TokenAddress[] },
      LIMIT + 1,
    ],
    ['the chain of the oldest', { tokens: ['token:rare', 'token:none'] as TokenAddress[] }, 1],
    ['the token of nearly all', { tokens: ['token:common' as TokenAddress] }, LIMIT + 1],
    ['a token of none', { tokens: ['token:none' as TokenAddress] }, 0],
    ['the token of the oldest', { tokens: ['token:rare' as TokenAddress] }, 1],
    [
      'the symbol of a token on several chains',
      { tokens: ['token:common', 'token:rare', 'token:none'] as TokenAddress[] },
      LIMIT + 1,
    ],
    ['the direction of nearly all', { direction: 'request' }, LIMIT + 1],
    ['the direction of the oldest', { direction: 'send' }, 1],
    ['the requestor of nearly all', { requestor: 'wallet:common' as Address }, LIMIT + 1],
    ['the requestor of the oldest', { requestor: 'wallet:rare' as Address }, 1],
    ['a requestor of none', { requestor: 'wallet:none' as Address }, 0],
    ['the fulfiller of half of them', { fulfiller: 'payer:common' as Address }, LIMIT + 1],
    ['the fulfiller of the oldest', { fulfiller: 'payer:rare' as Address }, 1],
    ['a fulfiller of none', { fulfiller: 'payer:none' as Address }, 0],
    ['a reference', { reference: '7' as Reference }, 1],
    ['a reference of another account', { reference: 'other7' as Reference }, 0],
    ['a transaction', { txSignature: 'hash:5000' as TransactionHash }, 10],
    ['a transaction of none', { txSignature: 'hash:none' as TransactionHash }, 0],
    ['createdAfter near the end', { createdAfter: nth(ROWS - 5) }, 5],
    ['createdAfter near the beginning', { createdAfter: nth(5) }, LIMIT + 1],
    ['createdBefore near the end', { createdBefore: nth(ROWS - 5) }, LIMIT + 1],
    ['createdBefore near the beginning', { createdBefore: nth(5) }, 4],
    ['createdAfter the newest', { createdAfter: nth(ROWS) }, 0],
  ];
  it.each(filters)(
    'reads at most two rows for each that it returns, and sorts none: %s',
    async (_name, filter, found) => {
      const seen = await plan(filter);
      expect(seen.found).toBe(found);
      expect(seen.read).toBeLessThanOrEqual(2 * LIMIT);
      expect(seen.types.filter((type) => /Sort|Seq Scan|Bitmap/.test(type))).toEqual([]);
      // EXPLAIN does not count the entries that an index scan skips, but the blocks show them: a few levels of the
      // index for each range, and a block for each row.
      expect(seen.blocks).toBeLessThanOrEqual(2 * LIMIT + 6 * seen.runs);
    },
  );

  it('costs the same on a late page as on the first', async () => {
    const after = { createdAt: nth(1_000), id: `pi_${'1000'.padStart(20, '0')}` };
    for (const filter of [
      {},
      { states: ['finalized'] },
      { states: ['created', 'finalized'] },
      { requestor: 'wallet:common' as Address },
    ] as const) {
      const seen = await plan(filter, { after });
      expect(seen.read).toBeLessThanOrEqual(2 * LIMIT);
      expect(seen.types.filter((type) => /Sort|Seq Scan|Bitmap/.test(type))).toEqual([]);
    }
  });

  it('reads two rows for a page of one', async () => {
    expect((await plan({ requestor: 'wallet:common' as Address }, { limit: 1 })).read).toBeLessThanOrEqual(2);
  });

  it('sorts a bounded number of matches of metadata, and reads many in the order of the list', async () => {
    const filter = { metadata: { shop: owner.accountId } };
    const { rows } = await client.query<{ id: string; matches: number }>(intentsStatement(owner, filter, null, LIMIT));
    expect(rows[0]?.matches).toBe(5_001);
    const { rows: newest } = await client.query<{ id: string }>(
      `SELECT id FROM ledger.intents WHERE account_id = $1 AND livemode = $2 AND metadata ->> 'shop' = $1
        ORDER BY created_at DESC, id DESC LIMIT ${LIMIT}`,
      [owner.accountId, owner.livemode],
    );
    const { rows: listed } = await client.query<{ id: string }>(
      intentsStatement(owner, filter, null, LIMIT, 'in order'),
    );
    expect(listed.map(({ id }) => id)).toEqual(newest.map(({ id }) => id));
    expect((await plan(filter, { how: 'in order' })).types).not.toContain('Bitmap Heap Scan');
  });

  it('finds metadata by an index that includes the account, at no cost for other accounts’ metadata', async () => {
    const one = await plan({ metadata: { order: '5000' } });
    // Read from the index, sorted, counted, selected for the page, fetched.
    expect([one.found, one.read]).toEqual([1, 5]);
    expect((await plan({ metadata: { shop: 'acct_other' } })).read).toBe(0);
    expect((await plan({ metadata: { order: '5000', shop: owner.accountId } })).found).toBe(1);
  });

  it('reads about a megabyte of large intents for a page, and every one of them once', async () => {
    const fat = { accountId: 'acct_fat' as AccountId, livemode: false };
    await client.query(INSERT, [fat.accountId, fat.livemode, 101, BEGINS, 'fat']);
    await client.query("UPDATE ledger.intents SET state = repeat('x', 61000) WHERE account_id = $1", [fat.accountId]);
    const pageAfter = async (after: Position | null) =>
      (await client.query<{ created_at: Date; id: string; state: string }>(intentsStatement(fat, {}, after, 101))).rows;
    const pages: number[] = [];
    const seen = new Set<string>();
    let after: Position | null = null;
    do {
      const page = await pageAfter(after);
      expect(page.reduce((sum, { state }) => sum + state.length, 0)).toBeLessThan(1_200_000);
      for (const { id } of page) seen.add(id);
      pages.push(page.length);
      const last = page.at(-1);
      after = last ? { createdAt: last.created_at.getTime(), id: last.id } : null;
    } while (after !== null);
    expect([pages, seen.size]).toEqual([[18, 18, 18, 18, 18, 11, 0], 101]);
  });

  it('returns every row once, newest first, for any page size', async () => {
    const seen: string[] = [];
    let after: Position | null = null;
    do {
      const { text, values } = intentsStatement(owner, { states: ['created', 'pending'] }, after, 101);
      const { rows } = await client.query<{ created_at: Date; id: string }>(text, values);
      const page = rows.slice(0, 100);
      seen.push(...page.map(({ id }) => id));
      const last = page.at(-1);
      after = rows.length > 100 && last ? { createdAt: last.created_at.getTime(), id: last.id } : null;
    } while (after !== null);
    expect(seen).toHaveLength((ROWS - 3_000) / 100 + 1);
    expect(seen).toEqual([...new Set(seen)].sort().reverse());
  });
});
