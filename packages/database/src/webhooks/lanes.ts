import type { Database } from '../postgres/database.ts';

/** A lane is the right to send to one URL, which one process has at a time. */
export interface Lane {
  readonly endpointId: string;
  readonly accountId: string;
  readonly livemode: boolean;
  /** The first failed attempt since the last successful one; null if the last one succeeded. */
  readonly failingSince: Date | null;
  /** Until when what is due has waited for the URL or its account, as far as is known; null if it is not. */
  readonly heldUntil: Date | null;
}

/** When a lane has something to send. */
export interface Wake {
  readonly endpointId: string;
  readonly at: Date;
}

/** Whose lease, from when, until when. */
export interface LaneLease {
  /** Unique to a process. */
  readonly holder: string;
  readonly now: Date;
  readonly until: Date;
}

/**
 * Acquires the lanes of those of these URLs that are not paused, or renews the leases of those that the holder has. A
 * lane of another process is marked as woken: whoever asks for it has seen something due, so its holder looks once more
 * before it goes.
 *
 * A statement of its own, before deliveries are read: a statement that waits for the last holder's release still reads
 * what was there before that holder wrote its results.
 * @returns those that the holder has now
 */
export async function acquireLanes(
  { sql }: Database,
  endpointIds: readonly string[],
  { holder, now, until }: LaneLease,
): Promise<readonly Lane[]> {
  const { rows } = await sql.query<{
    id: string;
    account_id: string;
    livemode: boolean;
    failing_since: Date | null;
    held_until: Date | null;
  }>({
    name: 'acquire-lanes',
    // In one order everywhere, so that two processes cannot deadlock.
    text: `WITH lane AS (
             INSERT INTO service.webhook_lanes AS lane (endpoint_id, holder, leased_until)
             SELECT id, $2, $4 FROM service.webhook_endpoints WHERE id = ANY($1) AND paused_at IS NULL ORDER BY id
             ON CONFLICT (endpoint_id) DO UPDATE
                SET woken = lane.holder <> $2 AND lane.leased_until > $3,
                    holder = CASE WHEN lane.holder <> $2 AND lane.leased_until > $3 THEN lane.holder ELSE $2 END,
                    leased_until = CASE WHEN lane.holder <> $2 AND lane.leased_until > $3 THEN lane.leased_until
                                        ELSE excluded.leased_until END
             RETURNING endpoint_id, holder, held_until)
           SELECT e.id, e.account_id, e.livemode, e.failing_since, greatest(lane.held_until, e.resumed_at) AS held_until
             FROM lane JOIN service.webhook_endpoints e ON e.id = lane.endpoint_id WHERE lane.holder = $2`,
    values: [endpointIds, holder, now, until],
  });
  return rows.map((row) => ({
    endpointId: row.id,
    accountId: row.account_id,
    livemode: row.livemode,
    failingSince: row.failing_since,
    heldUntil: row.held_until,
  }));
}

/** What the holder of a lane learns when it releases it. */
export interface Released {
  /** Another process has been woken since the lane was acquired or renewed: there may be more to read. */
  readonly woken: boolean;
  /** Something is due. If the lane was read to its end, it cannot be sent yet, as its event is not projected. */
  readonly due: boolean;
}

/**
 * Releases those of these lanes that the holder has; it must have written all results. Whoever acquires a lane next
 * learns until when its URL or account has held back what is due.
 */
export async function releaseLanes(
  { sql }: Database,
  lanes: readonly Pick<Lane, 'endpointId' | 'heldUntil'>[],
  { holder, now }: Pick<LaneLease, 'holder' | 'now'>,
): Promise<ReadonlyMap<string, Released>> {
  const { rows } = await sql.query<Released & { endpoint_id: string }>({
    name: 'release-lanes',
    text: `WITH held AS (
             SELECT endpoint_id, woken, released.held_until
               FROM unnest($1::text[], $4::timestamptz[]) AS released (endpoint_id, held_until)
               JOIN service.webhook_lanes USING (endpoint_id)
              WHERE holder = $2 ORDER BY endpoint_id FOR UPDATE OF webhook_lanes)
           UPDATE service.webhook_lanes lane
              SET leased_until = '-infinity', woken = false, held_until = held.held_until FROM held
            WHERE lane.endpoint_id = held.endpoint_id
           RETURNING lane.endpoint_id, held.woken, EXISTS (
             SELECT FROM service.deliveries d
              WHERE d.endpoint_id = lane.endpoint_id AND d.next_attempt_at <= $3) AS due`,
    values: [lanes.map(({ endpointId }) => endpointId), holder, now, lanes.map(({ heldUntil }) => heldUntil)],
  });
  return new Map(rows.map(({ endpoint_id: id, woken, due }) => [id, { woken, due }]));
}

/**
 * The URLs that have something to send before a time, each with when. One index probe a URL with something outstanding,
 * however large its backlog is and however many URLs have none.
 */
export async function outstandingLanes({ sql }: Database, before: Date): Promise<readonly Wake[]> {
  const { rows } = await sql.query<{ endpoint_id: string; at: Date }>({
    name: 'outstanding-lanes',
    text: `WITH RECURSIVE lane AS (
             (SELECT endpoint_id, next_attempt_at FROM service.deliveries WHERE next_attempt_at IS NOT NULL
               ORDER BY endpoint_id, next_attempt_at LIMIT 1)
             UNION ALL
             SELECT next.endpoint_id, next.next_attempt_at FROM lane CROSS JOIN LATERAL (
               SELECT endpoint_id, next_attempt_at FROM service.deliveries
                WHERE next_attempt_at IS NOT NULL AND endpoint_id > lane.endpoint_id
                ORDER BY endpoint_id, next_attempt_at LIMIT 1) next)
           SELECT endpoint_id, next_attempt_at AS at FROM lane WHERE next_attempt_at <= $1`,
    values: [before],
  });
  return rows.map(({ endpoint_id: endpointId, at }) => ({ endpointId, at }));
}
