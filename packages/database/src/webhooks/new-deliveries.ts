import { newDeliveryId } from '@pf/contracts';
import type pg from 'pg';
import { endpointsBehind, keepMissed } from './catch-ups.ts';
import { ENDED_BECAUSE } from './endpoints.ts';
import type { News } from './news.ts';

/** A delivery that is due since its event was read. */
export interface NewDelivery {
  readonly id: string;
  readonly endpointId: string;
}

/**
 * Writes the deliveries of events, within the caller's transaction. What endpoints that are behind are to get later is
 * kept once for all of them.
 * @returns the new ones that are due
 */
export async function insertDeliveries(
  client: pg.PoolClient,
  events: readonly News[],
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
  if (endpoints.length === 0) return [];
  const behind = new Map(
    (
      await endpointsBehind(
        client,
        endpoints.map(({ id }) => id),
        at,
      )
    ).map((one) => [one.endpointId, one]),
  );
  const wanted = events.map((event) => ({
    event,
    by: endpoints.filter(
      (endpoint) =>
        endpoint.account_id === event.accountId &&
        endpoint.livemode === event.livemode &&
        (endpoint.event_types?.includes(event.eventType) ?? true),
    ),
  }));
  const missed = wanted.flatMap(({ event, by }) => {
    const later = by.flatMap(({ id }) => behind.get(id) ?? []);
    return later.length === 0 ? [] : [{ event, by: later }];
  });
  if (missed.length > 0) await keepMissed(client, missed, at);
  const deliveries = wanted.flatMap(({ event, by }) =>
    by.filter(({ id }) => !behind.has(id)).map((endpoint) => ({ id: newDeliveryId(), event, endpoint })),
  );
  if (deliveries.length === 0) return [];
  const { rows } = await client.query<{ id: string; endpoint_id: string; due: boolean }>(
    `INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, intent_id,
                                     version, url, traceparent, request_id, body, error, created_at, status,
                                     failed_at, next_attempt_at)
     SELECT *, $14::timestamptz, CASE WHEN missed IS NULL THEN 'pending' ELSE 'failed' END,
            CASE WHEN missed IS NOT NULL THEN $14::timestamptz END, CASE WHEN missed IS NULL THEN $14::timestamptz END
       FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::text[], $6::text[], $7::text[], $8::int[],
         $9::text[], $10::text[], $11::text[], $12::text[], $13::text[])
         AS d (id, endpoint, account, livemode, event, type, intent, version, url, traceparent, request, body, missed)
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
      deliveries.map(({ event }) => event.body ?? null),
      deliveries.map(({ endpoint: { disabled_by: by } }) => (by === null ? null : ENDED_BECAUSE[by])),
      at,
    ],
  );
  return rows.filter(({ due }) => due).map(({ id, endpoint_id }) => ({ id, endpointId: endpoint_id }));
}
