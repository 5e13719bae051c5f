import type { Queryable } from '../ledger/projection.ts';

/** What Postgres' clock shows now, not at the beginning of a transaction, in ms since 1970. */
export async function readDatabaseTime({ sql }: { readonly sql: Queryable }): Promise<number> {
  const { rows } = await sql.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  const [row] = rows;
  if (!row) throw new Error('Postgres returned no row for its time');
  return row.now.getTime();
}
