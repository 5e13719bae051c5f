import type { Database } from '../postgres/database.ts';

/** The deliveries still to be sent, in numbers. */
export interface Outstanding {
  readonly due: number;
  /** Due later. */
  readonly waiting: number;
  /**
   * Since when the longest due one is held up by nothing but us: its URL does not fail, its account has not paused it,
   * and no process is sending to it. Null if there is none.
   */
  readonly dueSince: Date | null;
}

/**
 * Counts outstanding deliveries, up to a limit: a backlog of millions need not be read to show that it is large.
 * `dueSince` is exact.
 * @param atMost the limit
 */
export async function countOutstanding({ sql }: Database, now: Date, atMost: number): Promise<Outstanding> {
  const { rows } = await sql.query<{ due: number; waiting: number; due_since: Date | null }>({
    name: 'count-outstanding',
    text: `SELECT count(*) FILTER (WHERE next_attempt_at <= $1)::int AS due,
                  count(*) FILTER (WHERE next_attempt_at > $1)::int AS waiting,
                  (SELECT min(greatest(first.next_attempt_at, lane.held_until, e.resumed_at))
                     FROM service.webhook_endpoints e
                     LEFT JOIN service.webhook_lanes lane ON lane.endpoint_id = e.id
                     CROSS JOIN LATERAL (
                       SELECT next_attempt_at FROM service.deliveries WHERE endpoint_id = e.id
                         AND next_attempt_at <= $1 ORDER BY next_attempt_at LIMIT 1) first
                    WHERE e.failing_since IS NULL AND e.paused_at IS NULL
                      AND (lane.leased_until > $1) IS NOT TRUE) AS due_since
             FROM (SELECT next_attempt_at FROM service.deliveries
               WHERE next_attempt_at IS NOT NULL LIMIT $2) outstanding`,
    values: [now, atMost],
  });
  const [row] = rows;
  return { due: row?.due ?? 0, waiting: row?.waiting ?? 0, dueSince: row?.due_since ?? null };
}
