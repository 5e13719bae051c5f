import type pg from 'pg';
import type { Database } from '../postgres/database.ts';

/** The webhook service's position in each of these partitions of intent.events; a new one begins at 0. */
export async function webhookPositions(
  { sql }: Database,
  partitions: readonly number[],
): Promise<ReadonlyMap<number, bigint>> {
  // Inserted here, so that moving the position is a plain compare-and-set.
  await sql.query(
    `INSERT INTO service.webhook_positions (partition, position) SELECT unnest($1::smallint[]), 0
      ON CONFLICT DO NOTHING`,
    [partitions],
  );
  const { rows } = await sql.query<{ partition: number; position: string }>(
    'SELECT partition, position FROM service.webhook_positions WHERE partition = ANY($1::smallint[])',
    [partitions],
  );
  return new Map(rows.map((row) => [row.partition, BigInt(row.position)]));
}

/**
 * Moves a partition's position within the caller's transaction.
 * @returns false if it is not at `from`: another reader has moved it
 */
export async function moveWebhookPosition(
  client: pg.PoolClient,
  partition: number,
  from: bigint,
  next: bigint,
): Promise<boolean> {
  const { rowCount } = await client.query(
    'UPDATE service.webhook_positions SET position = $3 WHERE partition = $1 AND position = $2',
    [partition, from, next],
  );
  return rowCount === 1;
}
