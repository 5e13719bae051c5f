import type {
  AccountId,
  Address,
  ChainId,
  Direction,
  Instant,
  IntentId,
  PaymentIntent,
  Reference,
  TokenAddress,
} from '@pf/domain';
import type pg from 'pg';
import { createdIntent, decodeStateOrNull, heldIntents } from '../ledger/decoding.ts';
import { LEDGER } from '../ledger/projection.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/database.ts';
import { ofShard, type Shard } from './shards.ts';

/** Rows in memory at once: the state of an intent has some 2 KB. */
const ROWS_A_FETCH = 1_000;

/**
 * Most open intents have no event but their first. Their columns say all of it, and are read in a third of the time of
 * their state. What newer code has marked in a state is for the decoder to judge.
 */
const COLUMNS = `
  CASE WHEN version > 1 OR strpos(state, '"schemaVersion"') > 0 OR strpos(state, '"heldFrom"') > 0 THEN state END,
  id, account_id, livemode, chain, token, token_address, amount_base_units::text, requestor, fulfiller, direction,
  reference, refund_of, (extract(epoch FROM created_at) * 1000)::text, (extract(epoch FROM expires_at) * 1000)::text`;
type Row = readonly [
  state: string | null,
  id: IntentId,
  accountId: AccountId,
  livemode: boolean,
  chain: ChainId,
  token: string,
  tokenAddress: TokenAddress,
  amount: string,
  requestor: Address,
  fulfiller: Address | null,
  direction: Direction,
  reference: Reference,
  refundOf: IntentId | null,
  createdAt: string,
  expiresAt: string,
];

/** WatchedIntentSource.load in Postgres. */
export async function loadWatchedIntents(
  database: Database,
  chains: readonly ChainId[],
  closedAfter: Instant,
  each: (intent: PaymentIntent) => void,
  shard: Shard,
): Promise<ReadonlyMap<number, bigint>> {
  const ofIt = ofShard('requestor', '$3', '$4');
  return inTransaction(database, async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows: checkpoints } = await client.query<{ partition: number; position: string }>(
      'SELECT partition, position FROM ledger.checkpoints',
    );
    await client.query(
      // Two index conditions; OR over one of them would read every closed intent.
      `DECLARE watched NO SCROLL CURSOR FOR
         SELECT ${COLUMNS} FROM ledger.intents WHERE chain = ANY($1) AND closed_at IS NULL AND ${ofIt}
         UNION ALL
         SELECT ${COLUMNS} FROM ledger.intents WHERE chain = ANY($1) AND closed_at > $2 AND ${ofIt}`,
      [chains, new Date(closedAfter), shard.index, shard.count],
    );
    const undecodable: IntentId[] = [];
    for await (const rows of pages(client))
      for (const row of rows) {
        const intent = intentOf(row);
        if (intent === null) undecodable.push(row[1]);
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

/** Null where its state cannot be decoded. */
function intentOf(row: Row): PaymentIntent | null {
  const [state, id, accountId, livemode, chain, token, tokenAddress, amount, requestor] = row;
  const [, , , , , , , , , fulfiller, direction, reference, refundOf, createdAt, expiresAt] = row;
  if (state !== null) return decodeStateOrNull(state);
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

/** WatchedIntentSource.rebuilds in Postgres. */
export async function countRebuilds({ sql }: Database): Promise<number> {
  const { rows } = await sql.query<{ rebuilds: string }>(
    'SELECT coalesce(sum(rebuilds), 0) AS rebuilds FROM ledger.checkpoints',
  );
  return Number(rows[0]?.rebuilds);
}
