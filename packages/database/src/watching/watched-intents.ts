import type { ChainId, Instant, IntentId, PaymentIntent } from '@pf/domain';
import { decodeStates } from '../ledger/decoding.ts';
import { LEDGER } from '../ledger/projection.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/database.ts';

/** Rows in memory at once: the state of an intent has some 2 KB. */
const ROWS_A_FETCH = 1_000;

/** WatchedIntentSource.load in Postgres. */
export async function loadWatchedIntents(
  database: Database,
  chains: readonly ChainId[],
  closedAfter: Instant,
  each: (intent: PaymentIntent) => void,
): Promise<ReadonlyMap<number, bigint>> {
  return inTransaction(database, async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows: checkpoints } = await client.query<{ partition: number; position: string }>(
      'SELECT partition, position FROM ledger.checkpoints',
    );
    await client.query(
      // Two index conditions; OR over one of them would read every closed intent.
      `DECLARE watched NO SCROLL CURSOR FOR
         SELECT id, state FROM ledger.intents WHERE chain = ANY($1) AND closed_at IS NULL
         UNION ALL
         SELECT id, state FROM ledger.intents WHERE chain = ANY($1) AND closed_at > $2`,
      [chains, new Date(closedAfter)],
    );
    for (;;) {
      const { rows } = await client.query<{ id: IntentId; state: string }>(`FETCH ${ROWS_A_FETCH} FROM watched`);
      for (const intent of await decodeStates(client, LEDGER.intents, rows)) each(intent);
      if (rows.length < ROWS_A_FETCH) break;
    }
    return new Map(checkpoints.map(({ partition, position }) => [partition, BigInt(position)]));
  });
}

/** WatchedIntentSource.rebuilds in Postgres. */
export async function countRebuilds({ sql }: Database): Promise<number> {
  const { rows } = await sql.query<{ rebuilds: string }>(
    'SELECT coalesce(sum(rebuilds), 0) AS rebuilds FROM ledger.checkpoints',
  );
  return Number(rows[0]?.rebuilds);
}
