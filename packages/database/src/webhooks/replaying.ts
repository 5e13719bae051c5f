import { newDeliveryId } from '@pf/contracts';
import type pg from 'pg';
import { type Database, inTransaction } from '../postgres/database.ts';

/** Deliveries that a step reads: its statements take a fraction of a second, however few of them match. */
const PAGE = 1_000;
/** Deliveries that a step makes due. */
const SENT_AT_ONCE = 500;
/** While a replay has so many due, it makes no others due: what is new waits behind these. */
const WAITING_MAX = 500;
/** How soon a replay looks again whether its URL has caught up. */
const WAIT_MS = 1_000;
/** After a step that failed, where the caller knows nothing of how often it has. */
const AGAIN_MS = 10_000;
/** How often the results of a replay that goes on are counted. */
const LOOK_MS = 5_000;
/** Between two looks at what is left of a replay: a quarter of the time since it was read. */
const FIRST_LOOK_MS = 1_000;
const LONGEST_LOOK_MS = 60_000;

interface Row {
  readonly id: string;
  readonly account_id: string;
  readonly livemode: boolean;
  readonly endpoint_id: string | null;
  readonly to_endpoint_id: string | null;
  readonly event_types: readonly string[] | null;
  readonly status: string;
  readonly until: Date;
  readonly state: string;
  readonly since: Date;
  readonly cursor_at: Date;
  readonly cursor_id: string;
  readonly read_at: Date | null;
  readonly looked_at: Date | null;
}

/** When the next step of any replay is due; null: none is. */
export async function nextReplayStep({ sql }: Database): Promise<Date | null> {
  const { rows } = await sql.query<{ next: Date | null }>({
    name: 'next-replay-step',
    text: 'SELECT min(next_step_at) AS next FROM service.webhook_replays WHERE next_step_at IS NOT NULL',
  });
  return rows[0]?.next ?? null;
}

/** In how many milliseconds a step is due again that has failed, by what it is of: a replay, or an endpoint. */
export type AgainMs = (id: string) => number;

/** What a step of a replay has done. */
export interface ReplayStep {
  readonly replayId: string;
  /** How many deliveries it has made due. */
  readonly sent: number;
  /** URLs that have something due now. */
  readonly endpointIds: readonly string[];
}

/**
 * Takes one step of a replay that is due: counts or makes due what a page of deliveries has for it, or looks how its
 * deliveries went. A step is one transaction that holds the replay's row, so no other process takes it, and one that
 * dies has done nothing. Of an account, one replay at a time is read.
 * @param perSecond how many deliveries of an account are made due in a second
 * @param againMs in how many milliseconds the step of a replay is due again that has failed just now
 * @returns null if no step is due, or others take them all
 * @throws what the step failed with; it is due again later, after those of others
 */
export async function stepReplay(
  database: Database,
  {
    now,
    perSecond,
    againMs = () => AGAIN_MS,
  }: { readonly now: Date; readonly perSecond: number; readonly againMs?: AgainMs },
): Promise<ReplayStep | null> {
  let taken: string | undefined;
  try {
    return await takeStep(database, { now, perSecond }, (id) => (taken = id));
  } catch (error) {
    if (taken !== undefined)
      await database.sql.query(
        'UPDATE service.webhook_replays SET next_step_at = $2 WHERE id = $1 AND next_step_at <= $3',
        [taken, new Date(now.getTime() + againMs(taken)), now],
      );
    throw error;
  }
}

function takeStep(
  database: Database,
  { now, perSecond }: { readonly now: Date; readonly perSecond: number },
  onTaken: (id: string) => void,
): Promise<ReplayStep | null> {
  return inTransaction(database, async (client) => {
    const { rows } = await client.query<Row>({
      name: 'claim-replay',
      text: `SELECT * FROM service.webhook_replays r
              WHERE next_step_at <= $1 AND (read_at IS NOT NULL OR NOT EXISTS (
                SELECT FROM service.webhook_replays other
                 WHERE other.account_id = r.account_id AND other.livemode = r.livemode AND other.read_at IS NULL
                   AND (other.created_at, other.id) < (r.created_at, r.id)))
              ORDER BY next_step_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
      values: [now],
    });
    const [replay] = rows;
    if (!replay) return null;
    onTaken(replay.id);
    const due = await step(client, replay, now, perSecond);
    return { replayId: replay.id, sent: due.length, endpointIds: [...new Set(due)] };
  });
}

/** @returns the URL of each delivery that is due now */
async function step(client: pg.PoolClient, replay: Row, now: Date, perSecond: number): Promise<readonly string[]> {
  if (replay.read_at !== null) {
    await look(client, replay, now, replay.read_at);
    return [];
  }
  if (replay.state === 'counting') {
    await countPage(client, replay, now);
    return [];
  }
  if (now.getTime() - (replay.looked_at?.getTime() ?? 0) >= LOOK_MS) await countResults(client, replay, now);
  if ((await waiting(client, replay, now)) >= WAITING_MAX) {
    await postpone(client, replay, new Date(now.getTime() + WAIT_MS));
    return [];
  }
  return sendPage(client, replay, now, perSecond);
}

/** A page of the account's deliveries from where the replay is. */
async function readPage(
  client: pg.PoolClient,
  replay: Row,
): Promise<readonly { readonly id: string; readonly at: Date; readonly matches: boolean }[]> {
  const { rows } = await client.query<{ id: string; at: Date; matches: boolean }>({
    name: 'replay-page',
    // A test event was for that moment. What this replay has sent, it does not meet again.
    text: `SELECT id, created_at AS at,
                  (event_type <> 'webhook_endpoint.test' AND replay_id IS DISTINCT FROM $6
                   AND ($7::text IS NULL OR endpoint_id = $7) AND ($8::text[] IS NULL OR event_type = ANY($8))
                   AND (status = 'failed' OR ($9 AND status = 'delivered'))) AS matches
             FROM service.deliveries
            WHERE account_id = $1 AND livemode = $2 AND (created_at, id) > ($3::timestamptz, $4) AND created_at < $5
            ORDER BY created_at, id LIMIT ${PAGE}`,
    values: [
      replay.account_id,
      replay.livemode,
      replay.cursor_at,
      replay.cursor_id,
      replay.until,
      replay.id,
      replay.endpoint_id,
      replay.event_types,
      replay.status === 'all',
    ],
  });
  return rows;
}

async function countPage(client: pg.PoolClient, replay: Row, now: Date): Promise<void> {
  const page = await readPage(client, replay);
  const last = page.length < PAGE ? undefined : page.at(-1);
  await client.query(
    `UPDATE service.webhook_replays
        SET total = total + $2, state = $3, cursor_at = $4, cursor_id = $5, next_step_at = $6 WHERE id = $1`,
    [
      replay.id,
      page.filter(({ matches }) => matches).length,
      last ? 'counting' : 'sending',
      last?.at ?? replay.since,
      last?.id ?? '',
      now,
    ],
  );
}

async function sendPage(client: pg.PoolClient, replay: Row, now: Date, perSecond: number): Promise<readonly string[]> {
  const page = await readPage(client, replay);
  if (page.length === 0) {
    // Only now, not with the last page: the pause after that one is over, so the account's next replay may begin.
    await client.query(
      `UPDATE service.webhook_replays SET read_at = $2, total = sent + skipped, next_step_at = $2 WHERE id = $1`,
      [replay.id, now],
    );
    return [];
  }
  const matching = page.filter(({ matches }) => matches);
  const taken = matching.slice(0, Math.min(SENT_AT_ONCE, perSecond));
  const last = taken.length < matching.length ? taken.at(-1) : page.at(-1);
  const ids = taken.map(({ id }) => id);
  const due =
    replay.to_endpoint_id === null
      ? await sendAgain(client, replay, ids, now)
      : await sendTo(client, replay, replay.to_endpoint_id, ids, now);
  await client.query(
    `UPDATE service.webhook_replays
        SET sent = sent + $2, skipped = skipped + $3, cursor_at = $4, cursor_id = $5, next_step_at = $6 WHERE id = $1`,
    [
      replay.id,
      due.length,
      taken.length - due.length,
      last?.at,
      last?.id,
      new Date(now.getTime() + Math.ceil((due.length * 1_000) / perSecond)),
    ],
  );
  return due;
}

/** Makes deliveries due at their own URLs, if these are enabled. @returns the URL of each that is due now */
async function sendAgain(
  client: pg.PoolClient,
  { id, account_id, livemode, status }: Row,
  ids: readonly string[],
  now: Date,
): Promise<readonly string[]> {
  // Locked until the rows are committed, so that disableWebhookEndpoint() waits and finds them.
  const { rows: endpoints } = await client.query<{ id: string }>(
    `SELECT id FROM service.webhook_endpoints
      WHERE account_id = $1 AND livemode = $2 AND disabled_at IS NULL ORDER BY id FOR SHARE`,
    [account_id, livemode],
  );
  const { rows } = await client.query<{ endpoint_id: string }>(
    `UPDATE service.deliveries
        SET status = 'pending', next_attempt_at = $3, delivered_at = NULL, failed_at = NULL, replay_id = $4
      WHERE id IN (SELECT id FROM service.deliveries
                    WHERE id = ANY($1) AND endpoint_id = ANY($2)
                      AND (status = 'failed' OR ($5 AND status = 'delivered')) ORDER BY id FOR UPDATE)
     RETURNING endpoint_id`,
    [ids, endpoints.map((endpoint) => endpoint.id), now, id, status === 'all'],
  );
  return rows.map(({ endpoint_id }) => endpoint_id);
}

/**
 * Gives another URL deliveries of the same events: new ones, or those that it has already if they failed. What it has
 * accepted, or is to get anyway, it does not get again.
 */
async function sendTo(
  client: pg.PoolClient,
  { id, account_id, livemode }: Row,
  endpointId: string,
  ids: readonly string[],
  now: Date,
): Promise<readonly string[]> {
  const { rows: endpoints } = await client.query<{ url: string; event_types: readonly string[] | null }>(
    `SELECT url, event_types FROM service.webhook_endpoints
      WHERE id = $1 AND account_id = $2 AND livemode = $3 AND disabled_at IS NULL FOR SHARE`,
    [endpointId, account_id, livemode],
  );
  const [endpoint] = endpoints;
  if (!endpoint) return [];
  const { rows } = await client.query(
    `INSERT INTO service.deliveries AS known (id, endpoint_id, url, account_id, livemode, event_id, event_type,
                                              intent_id, version, body, traceparent, request_id, created_at,
                                              next_attempt_at, replay_id)
     SELECT DISTINCT ON (s.event_id) replayed.id, $3, $4, s.account_id, s.livemode, s.event_id, s.event_type,
            s.intent_id, s.version, s.body, s.traceparent, s.request_id, s.created_at, $6::timestamptz, $7
       FROM unnest($1::text[], $2::text[]) AS replayed (source, id) JOIN service.deliveries s ON s.id = replayed.source
      WHERE $5::text[] IS NULL OR s.event_type = ANY($5) ORDER BY s.event_id
     ON CONFLICT (event_id, endpoint_id) DO UPDATE
        SET status = 'pending', next_attempt_at = excluded.next_attempt_at, failed_at = NULL,
            replay_id = excluded.replay_id
      WHERE known.status = 'failed' AND known.replay_id IS DISTINCT FROM excluded.replay_id
     RETURNING 1`,
    [ids, ids.map(() => newDeliveryId()), endpointId, endpoint.url, endpoint.event_types, now, id],
  );
  return rows.map(() => endpointId);
}

/** How many deliveries of a replay are due and not sent, up to the limit. */
async function waiting(client: pg.PoolClient, { id }: Row, now: Date): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (
       SELECT FROM service.deliveries WHERE replay_id = $1 AND next_attempt_at <= $2 LIMIT ${WAITING_MAX}) due`,
    [id, now],
  );
  return rows[0]?.count ?? 0;
}

async function postpone(client: pg.PoolClient, { id }: Row, at: Date): Promise<void> {
  await client.query('UPDATE service.webhook_replays SET next_step_at = $2 WHERE id = $1', [id, at]);
}

/** Counts how the deliveries of a replay went. @returns how many are outstanding */
async function countResults(client: pg.PoolClient, { id }: Row, now: Date): Promise<number> {
  const { rows } = await client.query<{ pending: number }>(
    `UPDATE service.webhook_replays SET delivered = results.delivered, failed = results.failed, looked_at = $2
       FROM (SELECT count(*) FILTER (WHERE status = 'delivered')::int AS delivered,
                    count(*) FILTER (WHERE status = 'failed')::int AS failed,
                    count(*) FILTER (WHERE status = 'pending')::int AS pending
               FROM service.deliveries WHERE replay_id = $1) results
      WHERE id = $1 RETURNING results.pending`,
    [id, now],
  );
  return rows[0]?.pending ?? 0;
}

/** Looks at a replay that makes nothing due any more: it has ended when nothing of it is outstanding. */
async function look(client: pg.PoolClient, replay: Row, now: Date, readAt: Date): Promise<void> {
  if ((await countResults(client, replay, now)) > 0) {
    const ms = Math.min(Math.max((now.getTime() - readAt.getTime()) / 4, FIRST_LOOK_MS), LONGEST_LOOK_MS);
    await postpone(client, replay, new Date(now.getTime() + ms));
    return;
  }
  await client.query(
    `UPDATE service.webhook_replays SET next_step_at = NULL, ended_at = coalesce(ended_at, $2),
            state = CASE WHEN state = 'sending' THEN 'completed' ELSE state END WHERE id = $1`,
    [replay.id, now],
  );
}
