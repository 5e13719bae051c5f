import {
  type AccountId,
  type Address,
  type ChainId,
  type Deposit,
  type Direction,
  type Instant,
  type IntentId,
  isAtRest,
  type PaymentIntent,
  type Reference,
  type TokenAddress,
} from '@pf/domain';
import type pg from 'pg';
import { createdIntent, decodeDepositState, decodeStateOrNull, heldIntents } from '../ledger/decoding.ts';
import { LEDGER } from '../ledger/projection.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/database.ts';
import { ofShard, type Shard } from './shards.ts';

/** Rows in memory at once: the state of an intent has some 2 KB. */
const ROWS_A_FETCH = 1_000;

/** A closed intent that nothing is known to change any more: what is needed to find it again. */
export interface RestingIntent {
  readonly id: IntentId;
  readonly version: number;
  readonly chain: ChainId;
  readonly accountId: AccountId;
  readonly requestor: Address;
  readonly reference: Reference;
  readonly closedAt: Instant;
}

/** Who takes the intents at rest. */
export interface RestingTaker {
  /** Those that were closed before this time. */
  readonly since: Instant;
  readonly each: (intent: RestingIntent) => void;
}

/**
 * Most open intents have no event but their first. Their columns say all of it, and are read in a third of the time of
 * their state. What newer code has marked in a state is for the decoder to judge.
 */
const OF_OPEN = `
  id, (CASE WHEN version > 1 OR ${holds('"schemaVersion"', '"heldFrom"')} THEN state END), version, chain, requestor,
  reference, NULL::text, account_id, livemode, token, token_address, amount_base_units::text, fulfiller, direction,
  refund_of, (extract(epoch FROM created_at) * 1000)::text, (extract(epoch FROM expires_at) * 1000)::text`;
/**
 * Of a closed one its state, where that may have something which is not at rest (isAtRest). What is in metadata may
 * look like it: the caller finds out.
 */
const OF_CLOSED = `
  id, (CASE WHEN closed_at >= $3 OR ${holds(
    '"schemaVersion"',
    '"heldFrom"',
    '"status":"live"',
    '"lost":true',
    '"finalized":false',
    '"simulated":true',
  )} THEN state END), version, chain, requestor, reference, (extract(epoch FROM closed_at) * 1000)::text, account_id,
  NULL::boolean, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL`;
function holds(...texts: readonly string[]): string {
  return texts.map((text) => `strpos(state, '${text}') > 0`).join(' OR ');
}

/** What rows of either kind begin with. */
type Head = readonly [
  id: IntentId,
  state: string | null,
  version: number,
  chain: ChainId,
  requestor: Address,
  reference: Reference,
];
type OpenRow = readonly [
  ...Head,
  closedAt: null,
  accountId: AccountId,
  livemode: boolean,
  token: string,
  tokenAddress: TokenAddress,
  amount: string,
  fulfiller: Address | null,
  direction: Direction,
  refundOf: IntentId | null,
  createdAt: string,
  expiresAt: string,
];
type Row = OpenRow | readonly [...Head, closedAt: string, accountId: AccountId];

/** WatchedIntentSource.load in Postgres. */
export async function loadWatchedIntents(
  database: Database,
  chains: readonly ChainId[],
  closedAfter: Instant,
  each: (intent: PaymentIntent) => void,
  shard: Shard,
  resting?: RestingTaker,
): Promise<ReadonlyMap<number, bigint>> {
  const ofIt = ofShard('requestor', '$4', '$5');
  return inTransaction(database, async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows: checkpoints } = await client.query<{ partition: number; position: string }>(
      'SELECT partition, position FROM ledger.checkpoints',
    );
    await client.query(
      // Two index conditions; OR over one of them would read every closed intent.
      `DECLARE watched NO SCROLL CURSOR FOR
         SELECT ${OF_OPEN} FROM ledger.intents WHERE chain = ANY($1) AND closed_at IS NULL AND ${ofIt}
         UNION ALL
         SELECT ${OF_CLOSED} FROM ledger.intents WHERE chain = ANY($1) AND closed_at > $2 AND ${ofIt}`,
      // Without a taker each is given by its state.
      [chains, new Date(closedAfter), new Date(resting?.since ?? closedAfter), shard.index, shard.count],
    );
    const undecodable: IntentId[] = [];
    for await (const rows of pages(client))
      for (const row of rows) {
        const [id, state, version, chain, requestor, reference, closedAt, accountId] = row;
        if (state === null && closedAt !== null) {
          resting?.each({
            id,
            version,
            chain,
            accountId,
            requestor,
            reference,
            closedAt: Math.round(Number(closedAt)),
          });
          continue;
        }
        const intent = state === null ? intentOf(row as OpenRow) : decodeStateOrNull(state);
        if (intent === null) undecodable.push(id);
        else if (resting && intent.closedAt !== null && !intent.simulated && isAtRest(intent, resting.since))
          resting.each({ ...intent, closedAt: intent.closedAt });
        else each(intent);
      }
    for (let at = 0; at < undecodable.length; at += ROWS_A_FETCH) {
      const held = await heldIntents(client, LEDGER.intents, undecodable.slice(at, at + ROWS_A_FETCH));
      for (const intent of held.values()) each(intent);
    }
    return new Map(checkpoints.map(({ partition, position }) => [partition, BigInt(position)]));
  });
}

/** The rows of the cursor. The next ones are read while the caller works on these. */
async function* pages(client: pg.PoolClient): AsyncGenerator<readonly Row[]> {
  const fetch = async (): Promise<readonly Row[]> =>
    (await client.query<Row[]>({ text: `FETCH ${ROWS_A_FETCH} FROM watched`, rowMode: 'array' })).rows as never;
  let next: Promise<readonly Row[]> | null = fetch();
  try {
    while (next) {
      const rows: readonly Row[] = await next;
      next = rows.length === ROWS_A_FETCH ? fetch() : null;
      // Its failure is that of the next batch, if there is one.
      next?.catch(() => undefined);
      yield rows;
    }
  } finally {
    // A connection does one thing at a time.
    await next?.catch(() => undefined);
  }
}

/** By its columns. */
function intentOf(row: OpenRow): PaymentIntent {
  const [id, , , chain, requestor, reference, , accountId, livemode, token, tokenAddress, amount] = row;
  const [, , , , , , , , , , , , fulfiller, direction, refundOf, createdAt, expiresAt] = row;
  return createdIntent({
    id,
    accountId,
    livemode,
    idempotencyKey: null,
    chain,
    token,
    tokenAddress,
    amountBaseUnits: BigInt(amount),
    requestor,
    fulfiller,
    direction,
    reference,
    createdAt: Math.round(Number(createdAt)),
    expiresAt: Math.round(Number(expiresAt)),
    refundOf,
  });
}

/** WatchedIntentSource.openDeposits in Postgres. */
export async function loadOpenDeposits(
  { sql }: Database,
  chains: readonly ChainId[],
  shard: Shard,
): Promise<readonly Deposit[]> {
  const { rows } = await sql.query<{ document: string }>(
    `SELECT document FROM ledger.deposits
      WHERE chain = ANY($1) AND level = 'confirmed' AND ${ofShard('recipient', '$2', '$3')}`,
    [chains, shard.index, shard.count],
  );
  return rows.map(({ document }) => decodeDepositState(document));
}

/** WatchedIntentSource.rebuilds in Postgres. */
export async function countRebuilds({ sql }: Database): Promise<number> {
  const { rows } = await sql.query<{ rebuilds: string }>(
    'SELECT coalesce(sum(rebuilds), 0) AS rebuilds FROM ledger.checkpoints',
  );
  return Number(rows[0]?.rebuilds);
}
