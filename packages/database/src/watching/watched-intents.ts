import { decodeIntent } from '@pf/contracts';
import type { ChainId, Instant, PaymentIntent } from '@pf/domain';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/database.ts';

/** Rows in memory at once: the state of an intent has some 2 KB. */
const ROWS_A_FETCH = 1_000;

/**
 * Reads the intents of these networks that are open or were closed after `closedAfter`, and for each partition the
 * position in intent.events up to which they are complete: one snapshot of the projection.
 *
 * @param each called with every intent, so that the caller keeps only what it needs
 * @returns positions by partition; a missing partition is not projected yet, so its log is to be read from 0
 */
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
         SELECT state FROM ledger.intents WHERE chain = ANY($1) AND closed_at IS NULL
         UNION ALL
         SELECT state FROM ledger.intents WHERE chain = ANY($1) AND closed_at > $2`,
      [chains, new Date(closedAfter)],
    );
    for (;;) {
      const { rows } = await client.query<{ state: string }>(`FETCH ${ROWS_A_FETCH} FROM watched`);
      for (const { state } of rows) each(decodeIntent(state));
      if (rows.length < ROWS_A_FETCH) break;
    }
    return new Map(checkpoints.map(({ partition, position }) => [partition, BigInt(position)]));
  });
}
