import { newDeliveryId } from '@pf/contracts';
import type pg from 'pg';
import { type Database, inTransaction } from '../postgres/database.ts';
import { LISTED_COLUMNS, type ListedDelivery } from './delivery-list.ts';
import { disableWebhookEndpoint } from './endpoints.ts';
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

/** A delivery with an attempt ahead, as the scheduler needs it. */
export interface OutstandingDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly attemptCount: number;
  readonly nextAttemptAt: Date;
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
 * Writes a delivery, due at once, for each event and each enabled URL of its account and mode, and moves the position
 * in the log, in one transaction. An event and URL that have a delivery already get no other.
 * @returns the new deliveries; null, and nothing is written, if the position is not at `from`
 */
export async function recordDeliveries(
  database: Database,
  { partition, from, next, events, at }: DeliveryBatch,
): Promise<readonly OutstandingDelivery[] | null> {
  return inTransaction(database, async (client) => {
    if (!(await moveWebhookPosition(client, partition, from, next))) return null;
    return events.length === 0 ? [] : insertDeliveries(client, events, at);
  });
}

async function insertDeliveries(
  client: pg.PoolClient,
  events: readonly DeliverableEvent[],
  at: Date,
): Promise<readonly OutstandingDelivery[]> {
  // Locked until the rows are committed, so that disableWebhookEndpoint() waits and finds them.
  const { rows: endpoints } = await client.query<{ id: string; account_id: string; livemode: boolean; url: string }>(
    `SELECT id, account_id, livemode, url
      FROM service.webhook_endpoints WHERE account_id = ANY($1) AND disabled_at IS NULL ORDER BY id FOR SHARE`,
    [[...new Set(events.map((event) => event.accountId))]],
  );
  const deliveries = events.flatMap((event) =>
    endpoints
      .filter((endpoint) => endpoint.account_id === event.accountId && endpoint.livemode === event.livemode)
      .map((endpoint) => ({ id: newDeliveryId(), event, endpoint })),
  );
  if (deliveries.length === 0) return [];
  const { rows } = await client.query<{ id: string; endpoint_id: string }>(
    `INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, intent_id,
                                     version, url, traceparent, request_id, created_at, next_attempt_at)
     SELECT *, $12::timestamptz, $12::timestamptz
       FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::text[], $6::text[], $7::text[], $8::int[],
         $9::text[], $10::text[], $11::text[])
     ON CONFLICT (event_id, endpoint_id) DO NOTHING
     RETURNING id, endpoint_id`,
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
      at,
    ],
  );
  return rows.map(({ id, endpoint_id }) => ({ id, endpointId: endpoint_id, attemptCount: 0, nextAttemptAt: at }));
}

/**
 * The deliveries that are due before a time, at most `perEndpoint` of each URL, the longest due first. One index probe
 * a URL, so the backlog of a dead URL costs no more than that of a healthy one.
 */
export async function outstandingDeliveries(
  { sql }: Database,
  before: Date,
  perEndpoint: number,
): Promise<readonly OutstandingDelivery[]> {
  const { rows } = await sql.query<{ id: string; endpoint_id: string; attempt_count: number; next_attempt_at: Date }>(
    `SELECT d.id, d.endpoint_id, d.attempt_count, d.next_attempt_at
       FROM service.webhook_endpoints e CROSS JOIN LATERAL (
         SELECT * FROM service.deliveries WHERE endpoint_id = e.id AND next_attempt_at <= $1
           ORDER BY next_attempt_at LIMIT $2) d`,
    [before, perEndpoint],
  );
  return rows.map((row) => ({
    id: row.id,
    endpointId: row.endpoint_id,
    attemptCount: row.attempt_count,
    nextAttemptAt: row.next_attempt_at,
  }));
}

/** An attempt that only this process may make until its lease ends. */
export interface Attempt {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly eventId: string;
  readonly eventType: string;
  /** The time of the event. */
  readonly eventAt: Date;
  readonly intentId: string;
  readonly url: string;
  /** Counted from 1. */
  readonly number: number;
  readonly firstAttemptAt: Date;
  readonly leaseUntil: Date;
  readonly traceparent: string | null;
  readonly requestId: string | null;
  /** The bytes to send, as they are stored with the event. */
  readonly body: string;
}

/** The delivery with this id, or the longest due one of this URL. */
export type Claim = { readonly deliveryId: string } | { readonly endpointId: string };

interface AttemptRow {
  readonly id: string;
  readonly endpoint_id: string;
  readonly account_id: string;
  readonly livemode: boolean;
  readonly event_id: string;
  readonly event_type: string;
  readonly event_at: Date;
  readonly intent_id: string;
  readonly url: string;
  readonly attempt_count: number;
  readonly first_attempt_at: Date;
  readonly next_attempt_at: Date;
  readonly traceparent: string | null;
  readonly request_id: string | null;
  readonly body: string;
}

/**
 * Claims a due delivery whose event is projected, for one attempt: counts the attempt, and makes the next one due at
 * the end of the lease. Committed when it returns, so the network is called outside any transaction. If the worker
 * dies, another can claim the delivery after the lease.
 * @returns null if there is no such delivery, or another worker has claimed it
 */
export async function claimAttempt(
  { sql }: Database,
  claim: Claim,
  now: Date,
  leaseMs: number,
): Promise<Attempt | null> {
  const [column, value] =
    'deliveryId' in claim ? (['id', claim.deliveryId] as const) : (['endpoint_id', claim.endpointId] as const);
  const { rows } = await sql.query<AttemptRow>({
    name: `claim-attempt-by-${column}`,
    text: `WITH due AS (
             SELECT d.id, e.body, e.at FROM service.deliveries d
               JOIN ledger.intent_events e ON e.intent_id = d.intent_id AND e.version = d.version
              WHERE d.${column} = $1 AND d.next_attempt_at <= $2 ORDER BY d.next_attempt_at LIMIT 1
                FOR UPDATE OF d SKIP LOCKED)
           UPDATE service.deliveries d
              SET attempt_count = d.attempt_count + 1, first_attempt_at = coalesce(d.first_attempt_at, $2),
                last_attempted_at = $2, next_attempt_at = $3
             FROM due WHERE d.id = due.id RETURNING d.*, due.body, due.at AS event_at`,
    values: [value, now, new Date(now.getTime() + leaseMs)],
  });
  const row = rows[0];
  if (!row) return null;
  return {
    deliveryId: row.id,
    endpointId: row.endpoint_id,
    accountId: row.account_id,
    livemode: row.livemode,
    eventId: row.event_id,
    eventType: row.event_type,
    eventAt: row.event_at,
    intentId: row.intent_id,
    url: row.url,
    number: row.attempt_count,
    firstAttemptAt: row.first_attempt_at,
    leaseUntil: row.next_attempt_at,
    traceparent: row.traceparent,
    requestId: row.request_id,
    body: row.body,
  };
}

/** Those of these deliveries whose events are projected, so that they can be claimed. */
export async function visibleDeliveries(
  { sql }: Database,
  deliveryIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'visible-deliveries',
    text: `SELECT d.id FROM service.deliveries d
             JOIN ledger.intent_events e ON e.intent_id = d.intent_id AND e.version = d.version
            WHERE d.id = ANY($1)`,
    values: [deliveryIds],
  });
  return new Set(rows.map(({ id }) => id));
}

/** The result of an attempt. */
export interface AttemptResult {
  /** Null if there was no HTTP response. */
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  /** Why it failed, in words for the account; null if it did not. */
  readonly error: string | null;
}

/** Ends a delivery as delivered, even if it was given up while the attempt was under way: it did arrive. */
export async function recordDelivered(
  { sql }: Database,
  attempt: Attempt,
  { responseStatus, responseBody }: AttemptResult,
  at: Date,
): Promise<void> {
  await sql.query(
    `UPDATE service.deliveries SET status = 'delivered', delivered_at = $3, failed_at = NULL, next_attempt_at = NULL,
            response_status = $4, response_body = $5, error = NULL
      WHERE id = $1 AND attempt_count = $2`,
    [attempt.deliveryId, attempt.number, at, responseStatus, responseBody],
  );
}

/**
 * Records a failed attempt. `next` is the time of the next one; null: there is none, and the delivery has failed.
 * Nothing changes if the delivery was retried meanwhile, by the account or after the lease.
 */
export async function recordFailure(
  database: Pick<Database, 'sql'>,
  attempt: Attempt,
  result: AttemptResult,
  at: Date,
  next: Date | null,
): Promise<void> {
  await writeFailure(database.sql, attempt, result, at, next);
}

/** Records the failure of a last attempt, and disables the URL, which returned 410 Gone. */
export async function recordGone(database: Database, attempt: Attempt, result: AttemptResult, at: Date): Promise<void> {
  await inTransaction(database, async (client) => {
    // Every transaction locks the endpoint before its deliveries, so no two can deadlock.
    await client.query('SELECT FROM service.webhook_endpoints WHERE id = $1 FOR UPDATE', [attempt.endpointId]);
    await writeFailure(client, attempt, result, at, null);
    await disableWebhookEndpoint(client, attempt.endpointId, 'gone', at);
  });
}

async function writeFailure(
  client: Pick<pg.PoolClient, 'query'>,
  attempt: Attempt,
  { responseStatus, responseBody, error }: AttemptResult,
  at: Date,
  next: Date | null,
): Promise<void> {
  await client.query(
    `UPDATE service.deliveries
        SET response_status = $4, response_body = $5, error = $6, next_attempt_at = $7::timestamptz,
            status = CASE WHEN $7::timestamptz IS NULL THEN 'failed' ELSE 'pending' END,
              failed_at = CASE WHEN $7::timestamptz IS NULL THEN $8::timestamptz END
      WHERE id = $1 AND attempt_count = $2 AND next_attempt_at = $3`,
    [attempt.deliveryId, attempt.number, attempt.leaseUntil, responseStatus, responseBody, error, next, at],
  );
}

/**
 * Makes a delivery of any status due now, with the same event and bytes; its attempts count on. A scheduler finds it at
 * its next sweep. If an attempt is under way, another follows at once unless that one succeeds first.
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
): Promise<{ readonly delivery: ListedDelivery; readonly due: OutstandingDelivery } | null> {
  const { rows } = await sql.query<ListedDelivery & { readonly endpointId: string }>(
    `UPDATE service.deliveries SET status = 'pending', next_attempt_at = $4, delivered_at = NULL, failed_at = NULL
      WHERE id = $1 AND account_id = $2 AND livemode = $3 RETURNING endpoint_id AS "endpointId", ${LISTED_COLUMNS}`,
    [deliveryId, accountId, livemode, at],
  );
  const row = rows[0];
  if (!row) return null;
  const { endpointId, ...delivery } = row;
  return { delivery, due: { id: delivery.id, endpointId, attemptCount: delivery.attemptCount, nextAttemptAt: at } };
}

/**
 * Deletes ended deliveries from before a time, oldest first. At most `limit` of them, so that the transaction is short.
 * Several processes may call it at once.
 * @returns the number deleted: fewer than `limit` if none are left
 */
export async function forgetDeliveries({ sql }: Database, before: Date, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM service.deliveries WHERE id IN
       (SELECT id FROM service.deliveries WHERE created_at < $1 AND next_attempt_at IS NULL
         ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [before, limit],
  );
  return rowCount ?? 0;
}
