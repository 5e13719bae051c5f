import { newDeliveryId } from '@pf/contracts';
import type pg from 'pg';
import { type Database, inTransaction } from '../postgres/database.ts';
import { LISTED_COLUMNS, type ListedDelivery } from './delivery-list.ts';
import { ENDED_BECAUSE } from './endpoints.ts';
import { moveWebhookPosition } from './positions.ts';

/** A public event as deliveries need it. */
export interface DeliverableEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly intentId: string;
  readonly version: number;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly traceparent: string | null;
  readonly requestId: string | null;
}

/** A delivery that is due since its event was read. */
export interface NewDelivery {
  readonly id: string;
  readonly endpointId: string;
}

/** A batch of one partition of the log, and the position before and after it. */
export interface DeliveryBatch {
  readonly partition: number;
  readonly from: bigint;
  readonly next: bigint;
  readonly events: readonly DeliverableEvent[];
  readonly at: Date;
}

/**
 * Writes a delivery, due at once, for each event and each enabled URL of its account and mode that wants it, and moves
 * the position in the log, in one transaction. An event and URL that have a delivery already get no other. A URL that
 * is disabled because it failed gets deliveries that have failed: they can be replayed when it is enabled again.
 * @returns the new deliveries that are due; null, and nothing is written, if the position is not at `from`
 */
export async function recordDeliveries(
  database: Database,
  { partition, from, next, events, at }: DeliveryBatch,
): Promise<readonly NewDelivery[] | null> {
  return inTransaction(database, async (client) => {
    if (!(await moveWebhookPosition(client, partition, from, next))) return null;
    return events.length === 0 ? [] : insertDeliveries(client, events, at);
  });
}

async function insertDeliveries(
  client: pg.PoolClient,
  events: readonly DeliverableEvent[],
  at: Date,
): Promise<readonly NewDelivery[]> {
  // Locked until the rows are committed, so that disableWebhookEndpoint() waits and finds them.
  const { rows: endpoints } = await client.query<{
    id: string;
    account_id: string;
    livemode: boolean;
    url: string;
    disabled_by: 'gone' | 'failing' | null;
    event_types: readonly string[] | null;
  }>(
    `SELECT id, account_id, livemode, url, disabled_by, event_types FROM service.webhook_endpoints
      WHERE account_id = ANY($1) AND (disabled_at IS NULL OR disabled_by <> 'account') ORDER BY id FOR SHARE`,
    [[...new Set(events.map((event) => event.accountId))]],
  );
  const deliveries = events.flatMap((event) =>
    endpoints
      .filter(
        (endpoint) =>
          endpoint.account_id === event.accountId &&
          endpoint.livemode === event.livemode &&
          (endpoint.event_types?.includes(event.eventType) ?? true),
      )
      .map((endpoint) => ({ id: newDeliveryId(), event, endpoint })),
  );
  if (deliveries.length === 0) return [];
  const { rows } = await client.query<{ id: string; endpoint_id: string; due: boolean }>(
    `INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, intent_id,
                                     version, url, traceparent, request_id, error, created_at, status, failed_at,
                                     next_attempt_at)
     SELECT *, $13::timestamptz, CASE WHEN missed IS NULL THEN 'pending' ELSE 'failed' END,
            CASE WHEN missed IS NOT NULL THEN $13::timestamptz END, CASE WHEN missed IS NULL THEN $13::timestamptz END
       FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::text[], $6::text[], $7::text[], $8::int[],
         $9::text[], $10::text[], $11::text[], $12::text[])
         AS d (id, endpoint, account, livemode, event, type, intent, version, url, traceparent, request, missed)
     ON CONFLICT (event_id, endpoint_id) DO NOTHING
     RETURNING id, endpoint_id, next_attempt_at IS NOT NULL AS due`,
    [
      deliveries.map(({ id }) => id),
      deliveries.map(({ endpoint }) => endpoint.id),
      deliveries.map(({ event }) => event.accountId),
      deliveries.map(({ event }) => event.livemode),
      deliveries.map(({ event }) => event.eventId),
      deliveries.map(({ event }) => event.eventType),
      deliveries.map(({ event }) => event.intentId),
      deliveries.map(({ event }) => event.version),
      deliveries.map(({ endpoint }) => endpoint.url),
      deliveries.map(({ event }) => event.traceparent),
      deliveries.map(({ event }) => event.requestId),
      deliveries.map(({ endpoint: { disabled_by: by } }) => (by === null ? null : ENDED_BECAUSE[by])),
      at,
    ],
  );
  return rows.filter(({ due }) => due).map(({ id, endpoint_id }) => ({ id, endpointId: endpoint_id }));
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

/**
 * Deletes ended deliveries from before a time, with their attempts, oldest first. At most `limit` of them, so that the
 * transaction is short. Several processes may call it at once.
 * @returns the number deleted: fewer than `limit` if none are left
 */
export async function forgetDeliveries({ sql }: Database, before: Date, limit: number): Promise<number> {
  const { rows } = await sql.query<{ deleted: number }>(
    `WITH forgotten AS (
       DELETE FROM service.deliveries WHERE id IN
         (SELECT id FROM service.deliveries WHERE created_at < $1 AND next_attempt_at IS NULL
           ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING id),
     attempts AS (
       DELETE FROM service.delivery_attempts a USING forgotten WHERE a.delivery_id = forgotten.id)
     SELECT count(*)::int AS deleted FROM forgotten`,
    [before, limit],
  );
  return rows[0]?.deleted ?? 0;
}
