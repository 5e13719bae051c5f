import type { Instant } from '@pf/domain';
import type { Database } from '../postgres/database.ts';

/**
 * Deletes outcomes of commands older than `before`, the oldest first and at most `limit` of them, so that nothing waits
 * for it. Several processes may do it at once.
 * @returns how many: fewer than `limit` when no more are left.
 */
export async function forgetOutcomes({ sql }: Database, before: Instant, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM service.command_outcomes WHERE command_id IN
       (SELECT command_id FROM service.command_outcomes WHERE at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [new Date(before), limit],
  );
  return rowCount ?? 0;
}
