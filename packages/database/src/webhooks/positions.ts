import type pg from 'pg';
import { type Database, inTransaction } from '../postgres/database.ts';

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

/** The position of a partition in the log, before a batch and after it. */
export interface PositionStep {
  readonly partition: number;
  readonly from: bigint;
  readonly next: bigint;
}

/**
 * Moves the positions of different partitions within the caller's transaction.
 * @returns those that were at `from`: another reader has moved the others
 */
export async function moveWebhookPositions(
  client: pg.PoolClient,
  steps: readonly PositionStep[],
): Promise<ReadonlySet<number>> {
  // In one order, so that two readers do not wait for each other.
  const { rows } = await client.query<{ partition: number }>(
    `WITH held AS (
       SELECT held.partition, step.next FROM service.webhook_positions held
         JOIN unnest($1::smallint[], $2::bigint[], $3::bigint[]) AS step (partition, before, next)
           ON step.partition = held.partition AND step.before = held.position
        ORDER BY held.partition FOR UPDATE OF held)
     UPDATE service.webhook_positions moved SET position = held.next
       FROM held WHERE moved.partition = held.partition RETURNING moved.partition`,
    [steps.map(({ partition }) => partition), steps.map(({ from }) => from), steps.map(({ next }) => next)],
  );
  return new Set(rows.map(({ partition }) => partition));
}

/** How far each partition is projected, and how far the webhook service has read it. */
export async function readPositions({
  sql,
}: Database): Promise<ReadonlyMap<number, { readonly projected: bigint; readonly webhooks: bigint }>> {
  const { rows } = await sql.query<{ partition: number; projected: string | null; webhooks: string | null }>(
    `SELECT partition, c.position AS projected, w.position AS webhooks
      FROM ledger.checkpoints c FULL JOIN service.webhook_positions w USING (partition)`,
  );
  return new Map(
    rows.map(({ partition, projected, webhooks }) => [
      partition,
      { projected: BigInt(projected ?? 0), webhooks: BigInt(webhooks ?? 0) },
    ]),
  );
}

/**
 * Sets the webhook service's position, whatever it was: the reader of the partition notices and goes on from there.
 * @returns the position before
 */
export function setWebhookPosition(database: Database, partition: number, position: bigint): Promise<bigint> {
  return inTransaction(database, async (client) => {
    const { rows } = await client.query<{ position: string }>(
      'SELECT position FROM service.webhook_positions WHERE partition = $1 FOR UPDATE',
      [partition],
    );
    await client.query(
      `INSERT INTO service.webhook_positions (partition, position) VALUES ($1, $2)
        ON CONFLICT (partition) DO UPDATE SET position = excluded.position`,
      [partition, position],
    );
    return BigInt(rows[0]?.position ?? 0);
  });
}
