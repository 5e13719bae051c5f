import type { Database } from '../postgres/database.ts';

/** What is still to be sent, as a whole. */
export interface Outstanding {
  readonly due: number;
  /** For their time, or under way. */
  readonly waiting: number;
  /** When the longest due one was due; null where there is none. */
  readonly dueSince: Date | null;
}

/**
 * Counts what is outstanding, up to a number: a backlog of millions must not be read to say that it is large. The
 * oldest is exact.
 */
export async function countOutstanding({ sql }: Database, now: Date, atMost: number): Promise<Outstanding> {
  const { rows } = await sql.query<{ due: number; waiting: number; due_since: Date | null }>({
    name: 'count-outstanding',
    text: `SELECT count(*) FILTER (WHERE next_attempt_at <= $1)::int AS due,
                  count(*) FILTER (WHERE next_attempt_at > $1)::int AS waiting,
                  (SELECT min(first.next_attempt_at) FROM service.webhook_endpoints e CROSS JOIN LATERAL (
                     SELECT next_attempt_at FROM service.deliveries WHERE endpoint_id = e.id
                       AND next_attempt_at <= $1 ORDER BY next_attempt_at LIMIT 1) first) AS due_since
             FROM (SELECT next_attempt_at FROM service.deliveries
               WHERE next_attempt_at IS NOT NULL LIMIT $2) outstanding`,
    values: [now, atMost],
  });
  const [row] = rows;
  return { due: row?.due ?? 0, waiting: row?.waiting ?? 0, dueSince: row?.due_since ?? null };
}
