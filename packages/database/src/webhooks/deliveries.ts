import { followArrivals } from '../amounts/reserved-amounts.ts';
import { followPayments } from '../links/following.ts';
import { type Database, inTransaction } from '../postgres/database.ts';
import { LISTED_COLUMNS, type ListedDelivery } from './delivery-list.ts';
import { insertDeliveries, type NewDelivery } from './new-deliveries.ts';
import type { DeliverableEvent } from './news.ts';
import { moveWebhookPositions, type PositionStep } from './positions.ts';

/** A batch of one partition of the log. */
export interface DeliveryBatch extends PositionStep {
  readonly events: readonly DeliverableEvent[];
}

/** The outcome of batches of several partitions. */
export interface RecordedDeliveries {
  /** The partitions whose position was at `from`, and has moved. Of the others, nothing is written. */
  readonly moved: ReadonlySet<number>;
  /** The new deliveries that are due. */
  readonly due: readonly NewDelivery[];
}

/**
 * Writes a delivery, due at once, for each event and each enabled URL of its account and mode that wants it, and moves
 * the positions in the log, in one transaction. An event and URL that have a delivery already get no other. A URL that
 * is disabled because it failed gets deliveries that have failed: they can be replayed when it is enabled again.
 * @param batches of different partitions
 */
export async function recordDeliveries(
  database: Database,
  batches: readonly DeliveryBatch[],
  at: Date,
): Promise<RecordedDeliveries> {
  return inTransaction(database, async (client) => {
    const moved = await moveWebhookPositions(client, batches);
    const events = batches.flatMap(({ partition, events: own }) => (moved.has(partition) ? own : []));
    if (events.length === 0) return { moved, due: [] };
    await followArrivals(client, events, at);
    const news = [...events, ...(await followPayments(client, events, at))];
    return { moved, due: await insertDeliveries(client, news, at) };
  });
}

/**
 * Makes a delivery of any status due now, with the same event and bytes; its attempts count on. Its lane is to be
 * woken; the next sweep does so in any case. If an attempt is under way, another follows at once unless that one
 * succeeds first.
 * @returns null if the account has no such delivery in this mode
 */
export async function retryDelivery(
  { sql }: Database,
  {
    deliveryId,
    accountId,
    livemode,
    at,
  }: { readonly deliveryId: string; readonly accountId: string; readonly livemode: boolean; readonly at: Date },
): Promise<{ readonly delivery: ListedDelivery; readonly endpointId: string } | null> {
  const { rows } = await sql.query<ListedDelivery & { readonly endpointId: string }>(
    `UPDATE service.deliveries SET status = 'pending', next_attempt_at = $4, delivered_at = NULL, failed_at = NULL
      WHERE id = $1 AND account_id = $2 AND livemode = $3 RETURNING endpoint_id AS "endpointId", ${LISTED_COLUMNS}`,
    [deliveryId, accountId, livemode, at],
  );
  const row = rows[0];
  if (!row) return null;
  const { endpointId, ...delivery } = row;
  return { delivery, endpointId };
}

/** Which deliveries are forgotten: those that were created, and have ended, before these times. */
export interface ForgottenDeliveries {
  readonly createdBefore: Date;
  readonly endedBefore: Date;
}

/**
 * Deletes ended deliveries from before a time, with their attempts, oldest first. At most `limit` of them, so that the
 * transaction is short. Several processes may call it at once.
 * @returns the number deleted: fewer than `limit` if none are left
 */
export async function forgetDeliveries(
  { sql }: Database,
  { createdBefore, endedBefore }: ForgottenDeliveries,
  limit: number,
): Promise<number> {
  const { rows } = await sql.query<{ deleted: number }>(
    `WITH forgotten AS (
       DELETE FROM service.deliveries WHERE id IN
         (SELECT id FROM service.deliveries WHERE created_at < $1 AND next_attempt_at IS NULL AND ended_at < $2
           ORDER BY created_at LIMIT $3 FOR UPDATE SKIP LOCKED)
       RETURNING id),
     attempts AS (
       DELETE FROM service.delivery_attempts a USING forgotten WHERE a.delivery_id = forgotten.id)
     SELECT count(*)::int AS deleted FROM forgotten`,
    [createdBefore, endedBefore, limit],
  );
  return rows[0]?.deleted ?? 0;
}
