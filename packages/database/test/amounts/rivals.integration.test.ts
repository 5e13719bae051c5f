import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { samples } from '@pf/domain/testing';
import { rivalStatement } from '../../src/amounts/reserved-amounts.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const ROWS = 20_000;
/** Of them as many have the amount of the intent. */
const ALIKE = 20;
const INTENTS = `
  INSERT INTO ledger.intents (id, partition, version, account_id, livemode, status, chain, token, token_address,
    amount_base_units, requestor, direction, reference, created_at, updated_at, expires_at, closed_at, state)
  SELECT 'pi_' || n, 0, 1, $1, false, 'expired', $2, 'USDC', $3, 1 + n % ${ROWS / ALIKE}, $4, 'request', n, at, at, at,
         at, 'x'
    FROM generate_series(1, ${ROWS}) AS n, LATERAL (SELECT to_timestamp(n) AS at) AS clock`;

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}
const leavesOf = (node: PlanNode): readonly PlanNode[] => node.Plans?.flatMap(leavesOf) ?? [node];

describe('What is read to find another intent that asks for the same', () => {
  let own: OwnDatabase;

  beforeAll(async () => {
    own = await createOwnDatabase();
    const { sql } = own.database;
    await sql.query(INTENTS, [samples.ACCOUNT, samples.BASE_SEPOLIA, samples.USDC, samples.ALICE]);
    await sql.query('VACUUM ANALYZE ledger.intents');
  });
  afterAll(() => own.close());

  it('is one index, and of the rows those of the same amount', async () => {
    const intent = {
      id: samples.INTENT,
      accountId: samples.ACCOUNT,
      livemode: false,
      chain: samples.BASE_SEPOLIA,
      tokenAddress: samples.USDC,
      requestor: samples.ALICE,
      amountBaseUnits: 7n,
    };
    const { text, values } = rivalStatement(intent, ROWS * 1_000);
    const { rows } = await own.database.sql.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      values,
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    if (plan === undefined) throw new Error('no plan');
    const scans = leavesOf(plan).map((node) => [node['Node Type'], node['Index Name'], node['Actual Loops']]);
    expect(scans).toEqual([
      ['Index Only Scan', 'intents_summed', 1],
      ['Index Scan', 'intents_pkey', ALIKE],
    ]);
  });
});
