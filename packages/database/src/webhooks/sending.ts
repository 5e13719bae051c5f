import type { Database } from '../postgres/database.ts';

/** How many attempts of a delivery are kept: the newest. An account sends one again as often as it likes. */
export const ATTEMPTS_KEPT = 100;

/** A delivery that is due, as it is sent. */
export interface DueDelivery {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly eventId: string;
  readonly eventType: string;
  /** The time of the event. */
  readonly eventAt: Date;
  /** Null for an event that is of no intent. */
  readonly intentId: string | null;
  readonly url: string;
  /** The version in which the endpoint gets its events. */
  readonly apiVersion: string;
  /** What the next attempt counts as, from 1. */
  readonly number: number;
  readonly firstAttemptAt: Date | null;
  /** When its event was read. */
  readonly createdAt: Date;
  /** Later than that where an attempt has failed, or the account has it sent again. */
  readonly dueAt: Date;
  readonly traceparent: string | null;
  readonly requestId: string | null;
  /** The bytes to send, as they are stored with the event. */
  readonly body: string;
}

interface DueRow {
  readonly id: string;
  readonly endpoint_id: string;
  readonly account_id: string;
  readonly livemode: boolean;
  readonly event_id: string;
  readonly event_type: string;
  readonly event_at: Date;
  readonly intent_id: string | null;
  readonly url: string;
  readonly api_version: string;
  readonly attempt_count: number;
  readonly first_attempt_at: Date | null;
  readonly created_at: Date;
  readonly next_attempt_at: Date;
  readonly traceparent: string | null;
  readonly request_id: string | null;
  readonly body: string;
}

/** How many deliveries a lane can take. */
export interface WantedOfLane {
  readonly endpointId: string;
  readonly count: number;
}

/**
 * The deliveries that are due, whose events are projected, of each of these lanes; the longest due first, and by
 * version those that are due since the same time. For the holder of the lanes, who alone sends them.
 * @param except ids of deliveries that the holder has already
 */
export async function dueDeliveries(
  { sql }: Database,
  wanted: readonly WantedOfLane[],
  except: readonly string[],
  now: Date,
): Promise<readonly DueDelivery[]> {
  const { rows } = await sql.query<DueRow>({
    name: 'due-deliveries',
    text: `SELECT due.*, w.api_version FROM unnest($1::text[], $2::int[]) AS lane (endpoint_id, wanted)
             JOIN service.webhook_endpoints w ON w.id = lane.endpoint_id CROSS JOIN LATERAL (
             SELECT d.id, d.endpoint_id, d.account_id, d.livemode, d.event_id, d.event_type, d.intent_id, d.url,
                    d.attempt_count, d.first_attempt_at, d.created_at, d.next_attempt_at, d.traceparent, d.request_id,
                    coalesce(d.body, e.body) AS body, coalesce(e.at, d.created_at) AS event_at
               FROM service.deliveries d
               LEFT JOIN ledger.intent_events e ON e.intent_id = d.intent_id AND e.version = d.version
              WHERE d.endpoint_id = lane.endpoint_id AND d.next_attempt_at <= $3
                AND (e.body IS NOT NULL OR d.intent_id IS NULL) AND d.id NOT IN (SELECT unnest($4::text[]))
              ORDER BY d.next_attempt_at, d.version LIMIT lane.wanted) due`,
    values: [wanted.map(({ endpointId }) => endpointId), wanted.map(({ count }) => count), now, except],
  });
  return rows.map((row) => ({
    deliveryId: row.id,
    endpointId: row.endpoint_id,
    accountId: row.account_id,
    livemode: row.livemode,
    eventId: row.event_id,
    eventType: row.event_type,
    eventAt: row.event_at,
    intentId: row.intent_id,
    url: row.url,
    apiVersion: row.api_version,
    number: row.attempt_count + 1,
    firstAttemptAt: row.first_attempt_at,
    createdAt: row.created_at,
    dueAt: row.next_attempt_at,
    traceparent: row.traceparent,
    requestId: row.request_id,
    body: row.body,
  }));
}

/** An attempt that was made, with its result. */
export interface Settled {
  readonly deliveryId: string;
  readonly number: number;
  /** When the delivery was due: if it is due at another time now, the account has retried it meanwhile. */
  readonly dueAt: Date;
  readonly at: Date;
  readonly durationMs: number;
  /** Null if there was no HTTP response. */
  readonly responseStatus: number | null;
  /** The first 1 KiB; null if there was no HTTP response. */
  readonly responseStart: string | null;
  /** Why it failed, in words for the account; null: it is delivered. */
  readonly reason: string | null;
  /** When the next attempt is due; null: none follows. */
  readonly next: Date | null;
}

/**
 * Counts attempts, keeps what came back, and ends their deliveries or sets when they are due again. A delivered one
 * ends in any case, even if it was given up or retried meanwhile: it did arrive. A failed one stays as it is then. It
 * may be repeated: an attempt counts once.
 */
export async function settleAttempts({ sql }: Database, attempts: readonly Settled[]): Promise<void> {
  // In one order, as far as a plan keeps it: two statements that lock the same rows should not wait for each other.
  const sorted = [...attempts].sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
  await sql.query({
    name: 'settle-attempts',
    text: `WITH result AS (
             SELECT * FROM unnest($1::text[], $2::int[], $3::timestamptz[], $4::timestamptz[], $5::int[], $6::int[],
                                  $7::text[], $8::text[], $9::timestamptz[])
               AS r (id, number, due_at, at, duration_ms, response_status, response_start, reason, next)),
           kept AS (
             INSERT INTO service.delivery_attempts
                    (delivery_id, number, at, duration_ms, response_status, response_start, reason)
             SELECT id, number, at, duration_ms, response_status, response_start, reason FROM result
             ON CONFLICT DO NOTHING),
           forgotten AS (
             DELETE FROM service.delivery_attempts a USING result r
              WHERE a.delivery_id = r.id AND a.number <= r.number - ${ATTEMPTS_KEPT})
           UPDATE service.deliveries d
              SET attempt_count = r.number, first_attempt_at = coalesce(d.first_attempt_at, r.at),
                  last_attempted_at = r.at, response_status = r.response_status,
                  error = CASE WHEN r.reason IS NOT NULL AND d.next_attempt_at IS NULL THEN d.error ELSE r.reason END,
                  status = CASE WHEN r.reason IS NULL THEN 'delivered'
                                WHEN d.next_attempt_at IS DISTINCT FROM r.due_at THEN d.status
                                WHEN r.next IS NULL THEN 'failed' ELSE 'pending' END,
                  delivered_at = CASE WHEN r.reason IS NULL THEN r.at ELSE d.delivered_at END,
                  failed_at = CASE WHEN r.reason IS NULL THEN NULL
                                   WHEN d.next_attempt_at IS DISTINCT FROM r.due_at THEN d.failed_at
                                   WHEN r.next IS NULL THEN r.at END,
                  next_attempt_at = CASE WHEN r.reason IS NULL THEN NULL
                                         WHEN d.next_attempt_at IS DISTINCT FROM r.due_at THEN d.next_attempt_at
                                         ELSE r.next END
             FROM result r WHERE d.id = r.id AND d.attempt_count = r.number - 1`,
    values: [
      sorted.map(({ deliveryId }) => deliveryId),
      sorted.map(({ number }) => number),
      sorted.map(({ dueAt }) => dueAt),
      sorted.map(({ at }) => at),
      sorted.map(({ durationMs }) => durationMs),
      sorted.map(({ responseStatus }) => responseStatus),
      sorted.map(({ responseStart }) => responseStart),
      sorted.map(({ reason }) => reason),
      sorted.map(({ next }) => next),
    ],
  });
}
