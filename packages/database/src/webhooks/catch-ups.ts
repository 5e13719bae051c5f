import { newDeliveryId, UNDELIVERED_MAX } from '@pf/contracts';
import type pg from 'pg';
import { type Database, inTransaction } from '../postgres/database.ts';
import type { AgainMs } from './replaying.ts';
import type { News } from './news.ts';

/**
 * Deliveries up to which an endpoint keeps up, however much its account has undelivered: outstanding ones of one that
 * fails, as many as an account may have under way; due ones of one whose last attempt succeeded, since what waits to be
 * tried again may wait for days.
 */
const KEEPS_UP = { failing: 32, working: 1_000 } as const;
/** Missed events that an endpoint is given at once: few at first, and twice as many each time. */
const FIRST_PAGE = 32;
const LARGEST_PAGE = 500;
/** Rows that a step deletes: more than it reads. */
const DELETED_AT_ONCE = 1_000;
/** When to look again at an endpoint that responds, and at one that fails or gets nothing now. */
const SOON_MS = 1_000;
const LATER_MS = 10_000;

/** Of a list of endpoints, those that are to get events later. */
interface Behind {
  readonly endpointId: string;
  /** Whether it has missed others before. */
  readonly known: boolean;
}

/**
 * The endpoints that are behind: they have missed events that they are still to get, or they do not keep up in an
 * account that has too much undelivered. Of others only a few index entries are read.
 *
 * Within a transaction that has locked the endpoints, by an earlier statement: one that waits for the lock would read
 * what was there before the last catch-up was written.
 */
export async function endpointsBehind(
  client: pg.PoolClient,
  endpointIds: readonly string[],
  at: Date,
): Promise<readonly Behind[]> {
  const { rows } = await client.query<Behind>({
    name: 'endpoints-behind',
    text: `WITH endpoint AS MATERIALIZED (
             SELECT e.id, e.account_id, e.livemode, c.endpoint_id IS NOT NULL AS known,
                    c.endpoint_id IS NOT NULL OR e.disabled_at IS NOT NULL OR NOT ${keepsUp('e', '$2')} AS lags
               FROM service.webhook_endpoints e LEFT JOIN service.webhook_catch_ups c ON c.endpoint_id = e.id
              WHERE e.id = ANY($1)),
           laden AS MATERIALIZED (
             SELECT account_id, livemode FROM (
               SELECT DISTINCT account_id, livemode FROM endpoint WHERE lags AND NOT known) account
              WHERE (${undelivered('pending')}) + (${undelivered('failed')}) >= ${UNDELIVERED_MAX})
           SELECT id AS "endpointId", known FROM endpoint
            WHERE known OR lags AND (account_id, livemode) IN (SELECT account_id, livemode FROM laden)
            ORDER BY id`,
    values: [endpointIds, at],
  });
  return rows;
}

/** Whether an endpoint keeps up at a time: no more of its deliveries are read than tell. */
const keepsUp = (endpoint: string, at: string): string =>
  `CASE WHEN ${endpoint}.failing_since IS NULL
        THEN (SELECT count(*) FROM (SELECT FROM service.deliveries
               WHERE endpoint_id = ${endpoint}.id AND next_attempt_at <= ${at} LIMIT ${KEEPS_UP.working}) due)
             < ${KEEPS_UP.working}
        ELSE (SELECT count(*) FROM (SELECT FROM service.deliveries
               WHERE endpoint_id = ${endpoint}.id AND next_attempt_at IS NOT NULL LIMIT ${KEEPS_UP.failing}) waiting)
             < ${KEEPS_UP.failing} END`;

/** How many deliveries of an account have a status, up to the limit. In the order of an index, which is read then. */
const undelivered = (status: 'pending' | 'failed'): string =>
  `SELECT count(*)::int FROM (SELECT FROM service.deliveries d
    WHERE d.account_id = account.account_id AND d.livemode = account.livemode AND d.status = '${status}'
    ORDER BY d.created_at DESC, d.id DESC LIMIT ${UNDELIVERED_MAX}) undelivered`;

/** Keeps events for endpoints that are behind, within the transaction of endpointsBehind(). */
export async function keepMissed(
  client: pg.PoolClient,
  missed: readonly { readonly event: News; readonly by: readonly Behind[] }[],
  at: Date,
): Promise<void> {
  const ofEndpoints = new Map(
    missed.flatMap(({ event: { accountId, livemode }, by }) =>
      by.filter(({ known }) => !known).map(({ endpointId }) => [endpointId, { endpointId, accountId, livemode }]),
    ),
  );
  const newlyBehind = [...ofEndpoints.values()];
  await client.query({
    name: 'keep-missed-events',
    // Where two readers find an endpoint behind at once, the first of their events counts.
    text: `WITH missed AS (
             INSERT INTO service.missed_events (account_id, livemode, event_id, event_type, intent_id, version, body,
                                                traceparent, request_id, at)
             SELECT account, mode, event, type, intent, version, body, traceparent, request, $10::timestamptz
               FROM unnest($1::text[], $2::boolean[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[],
                           $8::text[], $9::text[]) WITH ORDINALITY
                 AS m (account, mode, event, type, intent, version, body, traceparent, request, place)
              ORDER BY place
             RETURNING account_id, livemode, seq)
           INSERT INTO service.webhook_catch_ups (endpoint_id, account_id, livemode, next_seq, since, look_at, page)
           SELECT behind.endpoint, account_id, livemode, min(seq), $10, $10, ${FIRST_PAGE}
             FROM unnest($11::text[], $12::text[], $13::boolean[]) AS behind (endpoint, account_id, livemode)
             JOIN missed USING (account_id, livemode)
            GROUP BY behind.endpoint, account_id, livemode ORDER BY behind.endpoint
           ON CONFLICT (endpoint_id) DO UPDATE
              SET next_seq = least(webhook_catch_ups.next_seq, excluded.next_seq)`,
    values: [
      missed.map(({ event }) => event.accountId),
      missed.map(({ event }) => event.livemode),
      missed.map(({ event }) => event.eventId),
      missed.map(({ event }) => event.eventType),
      missed.map(({ event }) => event.intentId),
      missed.map(({ event }) => event.version),
      missed.map(({ event }) => event.body ?? null),
      missed.map(({ event }) => event.traceparent),
      missed.map(({ event }) => event.requestId),
      at,
      newlyBehind.map(({ endpointId }) => endpointId),
      newlyBehind.map(({ accountId }) => accountId),
      newlyBehind.map(({ livemode }) => livemode),
    ],
  });
}

/** What a step of a catch-up has done. */
export interface CatchUpStep {
  readonly endpointId: string;
  /** How many deliveries it has made; all are due. */
  readonly made: number;
}

interface Row {
  readonly account_id: string;
  readonly livemode: boolean;
  readonly url: string;
  readonly event_types: readonly string[] | null;
  readonly disabled_by: string | null;
  readonly paused: boolean;
  readonly failing: boolean;
}

/**
 * Takes a step of the catch-up that is due: an endpoint that has little outstanding gets the deliveries of its next
 * missed events. A step is one transaction that locks the endpoint, so nothing is missed meanwhile.
 * @param againMs in how many milliseconds the step of an endpoint is due again that has failed just now
 * @returns null if no step is due
 * @throws what the step failed with; it is due again later, after those of others
 */
export async function stepCatchUp(
  database: Database,
  now: Date,
  againMs: AgainMs = () => LATER_MS,
): Promise<CatchUpStep | null> {
  const { rows } = await database.sql.query<{ id: string }>({
    name: 'next-catch-up',
    text: 'SELECT endpoint_id AS id FROM service.webhook_catch_ups WHERE look_at <= $1 ORDER BY look_at LIMIT 1',
    values: [now],
  });
  const endpointId = rows[0]?.id;
  if (endpointId === undefined) return null;
  try {
    return await inTransaction(database, async (client) => ({ endpointId, made: await step(client, endpointId, now) }));
  } catch (error) {
    // Others come first until then, however often this one fails.
    await database.sql.query(
      'UPDATE service.webhook_catch_ups SET look_at = $2 WHERE endpoint_id = $1 AND look_at <= $3',
      [endpointId, new Date(now.getTime() + againMs(endpointId)), now],
    );
    throw error;
  }
}

async function step(client: pg.PoolClient, endpointId: string, now: Date): Promise<number> {
  // The endpoint before its catch-up, as everywhere, so that two transactions do not wait for each other.
  const {
    rows: [endpoint],
  } = await client.query<Row>(
    `SELECT account_id, livemode, url, event_types, disabled_by, paused_at IS NOT NULL AS paused,
            failing_since IS NOT NULL AS failing
       FROM service.webhook_endpoints WHERE id = $1 FOR NO KEY UPDATE`,
    [endpointId],
  );
  const {
    rows: [due],
  } = await client.query<{ next_seq: string; page: number; keeps_up: boolean }>(
    `SELECT c.next_seq, c.page, ${keepsUp('e', '$2')} AS keeps_up
       FROM service.webhook_catch_ups c JOIN service.webhook_endpoints e ON e.id = c.endpoint_id
      WHERE c.endpoint_id = $1 AND c.look_at <= $2`,
    [endpointId, now],
  );
  // Another process has taken the step.
  if (!endpoint || !due) return 0;
  if (endpoint.disabled_by === 'account') {
    await endCatchUp(client, endpointId);
    return 0;
  }
  const getsNothing = endpoint.disabled_by !== null || endpoint.paused;
  const accepts = !getsNothing && !endpoint.failing;
  const later = new Date(now.getTime() + (accepts ? SOON_MS : LATER_MS));
  if (getsNothing || !due.keeps_up) {
    // One that accepts nothing is to show again that it does.
    await moveCatchUp(client, endpointId, {
      nextSeq: due.next_seq,
      lookAt: later,
      page: accepts ? due.page : FIRST_PAGE,
    });
    return 0;
  }
  const { made, read, last } = await makeDeliveries(client, endpointId, endpoint, due, now);
  if (read < due.page) await endCatchUp(client, endpointId);
  else
    await moveCatchUp(client, endpointId, {
      nextSeq: String(BigInt(last ?? due.next_seq) + 1n),
      // Nothing of the page was for it.
      lookAt: made === 0 ? now : later,
      page: accepts ? Math.min(2 * due.page, LARGEST_PAGE) : FIRST_PAGE,
    });
  await forgetRead(client, endpoint);
  return made;
}

async function makeDeliveries(
  client: pg.PoolClient,
  endpointId: string,
  { account_id, livemode, url, event_types }: Row,
  { next_seq, page }: { readonly next_seq: string; readonly page: number },
  now: Date,
): Promise<{ readonly made: number; readonly read: number; readonly last: string | null }> {
  const { rows } = await client.query<{ made: number; read: number; last: string | null }>({
    name: 'make-missed-deliveries',
    // Due a millisecond after each other, up to now, so that they are sent in order. Locked, so that what is erased
    // meanwhile is copied without it.
    text: `WITH page AS MATERIALIZED (
             SELECT *, row_number() OVER (ORDER BY seq)::int AS place FROM (
               SELECT * FROM service.missed_events WHERE account_id = $1 AND livemode = $2 AND seq >= $3::bigint
                ORDER BY seq LIMIT $9 FOR SHARE) next),
           made AS (
             INSERT INTO service.deliveries (id, endpoint_id, url, account_id, livemode, event_id, event_type,
                                             intent_id, version, body, traceparent, request_id, created_at,
                                             next_attempt_at)
             SELECT ($7::text[])[place], $4, $5, account_id, livemode, event_id, event_type, intent_id, version, body,
                    traceparent, request_id, at, $8::timestamptz + (place - $9::int) * interval '1 ms'
               FROM page WHERE $6::text[] IS NULL OR event_type = ANY($6)
             ON CONFLICT (event_id, endpoint_id) DO NOTHING RETURNING 1)
           SELECT (SELECT count(*)::int FROM made) AS made, count(*)::int AS read, max(seq) AS last FROM page`,
    values: [
      account_id,
      livemode,
      next_seq,
      endpointId,
      url,
      event_types,
      Array.from({ length: page }, () => newDeliveryId()),
      now,
      page,
    ],
  });
  return rows[0] ?? { made: 0, read: 0, last: null };
}

async function moveCatchUp(
  client: pg.PoolClient,
  endpointId: string,
  { nextSeq, lookAt, page }: { readonly nextSeq: string; readonly lookAt: Date; readonly page: number },
): Promise<void> {
  await client.query(
    'UPDATE service.webhook_catch_ups SET next_seq = $2, look_at = $3, page = $4 WHERE endpoint_id = $1',
    [endpointId, nextSeq, lookAt, page],
  );
}

/** Within a transaction that has locked the endpoint, which gets nothing now: it begins again with few events. */
export async function slowCatchUp(client: pg.PoolClient, endpointId: string): Promise<void> {
  await client.query(`UPDATE service.webhook_catch_ups SET page = ${FIRST_PAGE} WHERE endpoint_id = $1`, [endpointId]);
}

/** Within a transaction that has locked the endpoint: it gets what comes from now on, and nothing that it missed. */
export async function endCatchUp(client: pg.PoolClient, endpointId: string): Promise<void> {
  await client.query('DELETE FROM service.webhook_catch_ups WHERE endpoint_id = $1', [endpointId]);
}

/** Deletes what no endpoint of the account is to get any more. */
async function forgetRead(client: pg.PoolClient, { account_id, livemode }: Row): Promise<void> {
  await client.query(
    `DELETE FROM service.missed_events WHERE account_id = $1 AND livemode = $2 AND seq IN (
       SELECT seq FROM service.missed_events
        WHERE account_id = $1 AND livemode = $2 AND seq < coalesce(
          (SELECT min(next_seq) FROM service.webhook_catch_ups WHERE account_id = $1 AND livemode = $2),
          9223372036854775807)
        ORDER BY seq LIMIT ${DELETED_AT_ONCE})`,
    [account_id, livemode],
  );
}

/** Deletes events that were read from the log before a time, oldest first, at most `limit`. @returns the number */
export async function forgetMissedEvents({ sql }: Database, before: Date, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM service.missed_events WHERE (account_id, livemode, seq) IN (
       SELECT account_id, livemode, seq FROM service.missed_events WHERE at < $1 ORDER BY at LIMIT $2)`,
    [before, limit],
  );
  return rowCount ?? 0;
}
