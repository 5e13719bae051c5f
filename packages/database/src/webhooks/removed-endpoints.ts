import type { Database } from '../postgres/database.ts';

/**
 * Deletes URLs that their accounts have removed, with their secrets and lanes, oldest first: those whose last delivery
 * is gone. A function of the database does it, because its callers have no right to the table.
 * @returns how many there were, at most `limit`
 */
export async function forgetRemovedEndpoints({ sql }: Database, limit: number): Promise<number> {
  const { rows } = await sql.query<{ deleted: number }>('SELECT service.forget_removed_endpoints($1) AS deleted', [
    limit,
  ]);
  return rows[0]?.deleted ?? 0;
}
