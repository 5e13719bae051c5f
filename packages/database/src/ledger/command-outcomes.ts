import type { Instant } from '@pf/domain';
import type { Database } from '../postgres/database.ts';

/**
 * Deletes outcomes of commands from before `before`, oldest first. At most `limit` of them, so that the transaction is
 * short. Several processes may call it at once.
 * @returns the number deleted: fewer than `limit` if none are left.
 */
export async function forgetOutcomes({ sql }: Database, before: Instant, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM service.command_outcomes WHERE command_id IN
       (SELECT command_id FROM service.command_outcomes WHERE at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [new Date(before), limit],
  );
  return rowCount ?? 0;
}
