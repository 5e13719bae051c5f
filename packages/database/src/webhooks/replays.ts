import { newWebhookReplayId, type Position, type ReplayedStatus, REPLAYS_MAX, type ReplayState } from '@pf/contracts';
import type pg from 'pg';
import type { IntentOwner } from '../ledger/intents.ts';
import { advisoryLock } from '../postgres/advisory-lock.ts';
import type { Database } from '../postgres/database.ts';

/** Which deliveries are sent again, and where to. */
export interface ReplaySelection {
  /** Of events that were read from the log from `since` on and before `until`. */
  readonly since: Date;
  readonly until: Date;
  /** Of this URL; null: of all. */
  readonly endpointId: string | null;
  /** To this URL; null: to that of each delivery. */
  readonly toEndpointId: string | null;
  /** Null: of all types. */
  readonly eventTypes: readonly string[] | null;
  readonly status: ReplayedStatus;
}

/** A replay as its account sees it. */
export interface Replay extends ReplaySelection {
  readonly id: string;
  readonly livemode: boolean;
  readonly state: ReplayState;
  /** The deliveries to be sent again: those that were counted; once all are known, `sent` and `skipped`. */
  readonly total: number;
  /** Made due by it. */
  readonly sent: number;
  /** Left as they were: outstanding or accepted already, or their URL is disabled or does not want the type. */
  readonly skipped: number;
  /** Of those sent. */
  readonly delivered: number;
  readonly failed: number;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

const COLUMNS =
  'id, livemode, endpoint_id AS "endpointId", to_endpoint_id AS "toEndpointId", event_types AS "eventTypes", status, ' +
  'since, until, state, total, sent, skipped, delivered, failed, created_at AS "createdAt", ended_at AS "endedAt"';

/**
 * Begins a replay, within the caller's transaction.
 * @returns null if the account has too many in this mode that have not ended
 */
export async function createReplay(
  client: pg.PoolClient,
  { accountId, livemode }: IntentOwner,
  { since, until, endpointId, toEndpointId, eventTypes, status }: ReplaySelection,
  at: Date,
): Promise<Replay | null> {
  // Serializes creates of one account, so that the second counts what the first has added.
  await client.query(advisoryLock('webhook_replays', accountId));
  const { rows: open } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM service.webhook_replays
      WHERE account_id = $1 AND livemode = $2 AND ended_at IS NULL`,
    [accountId, livemode],
  );
  if ((open[0]?.count ?? 0) >= REPLAYS_MAX) return null;
  const { rows } = await client.query<Replay>(
    `INSERT INTO service.webhook_replays (id, account_id, livemode, endpoint_id, to_endpoint_id, event_types, status,
                                          since, until, cursor_at, created_at, next_step_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $8, $10, $10) RETURNING ${COLUMNS}`,
    [newWebhookReplayId(), accountId, livemode, endpointId, toEndpointId, eventTypes, status, since, until, at],
  );
  return rows[0] as Replay;
}

/** Null if the account has no such replay in this mode. */
export async function findReplay(
  { sql }: Database,
  { accountId, livemode }: IntentOwner,
  id: string,
): Promise<Replay | null> {
  const { rows } = await sql.query<Replay>(
    `SELECT ${COLUMNS} FROM service.webhook_replays WHERE id = $1 AND account_id = $2 AND livemode = $3`,
    [id, accountId, livemode],
  );
  return rows[0] ?? null;
}

/** The replays of an account and mode, newest first. @param after where the page before ended */
export async function listReplays(
  { sql }: Database,
  { accountId, livemode }: IntentOwner,
  after: Position | null,
  limit: number,
): Promise<readonly Replay[]> {
  const values: unknown[] = [accountId, livemode, limit];
  if (after) values.push(new Date(after.createdAt), after.id);
  const { rows } = await sql.query<Replay>(
    `SELECT ${COLUMNS} FROM service.webhook_replays WHERE account_id = $1 AND livemode = $2
      ${after ? 'AND (created_at, id) < ($4::timestamptz, $5)' : ''} ORDER BY created_at DESC, id DESC LIMIT $3`,
    values,
  );
  return rows;
}

/**
 * Ends a replay: nothing more is made due. What is due already is sent. One that has ended stays as it is.
 * @returns null if the account has no such replay in this mode
 */
export async function cancelReplay(
  database: Database,
  owner: IntentOwner,
  id: string,
  at: Date,
): Promise<Replay | null> {
  await database.sql.query(
    `UPDATE service.webhook_replays
        SET state = 'cancelled', read_at = coalesce(read_at, $4), ended_at = $4, next_step_at = $4
      WHERE id = $1 AND account_id = $2 AND livemode = $3 AND ended_at IS NULL`,
    [id, owner.accountId, owner.livemode, at],
  );
  return findReplay(database, owner, id);
}

/** Deletes replays that ended before a time, at most `limit`. @returns the number deleted */
export async function forgetReplays({ sql }: Database, before: Date, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM service.webhook_replays WHERE id IN
       (SELECT id FROM service.webhook_replays WHERE ended_at < $1 AND next_step_at IS NULL
         ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [before, limit],
  );
  return rowCount ?? 0;
}
