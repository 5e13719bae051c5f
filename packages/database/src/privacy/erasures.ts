import type { IntentId } from '@pf/domain';
import type { Database } from '../postgres/database.ts';

/** Where a round ended in a partition: the next one goes on after it. */
export interface ErasurePlace {
  readonly requestedAt: Date;
  readonly id: IntentId;
}

/** What is to be erased in these partitions, what was asked for first at first; at most `limit` of each. */
export async function requestedErasures(
  { sql }: Database,
  partitions: readonly number[],
  limit: number,
  after: ReadonlyMap<number, ErasurePlace>,
): Promise<ReadonlyMap<number, readonly ErasurePlace[]>> {
  const from = partitions.map((partition) => after.get(partition));
  const { rows } = await sql.query<{ partition: number; intent_id: IntentId; requested_at: Date }>({
    name: 'requested-erasures',
    text: `
      SELECT owned.partition, first.intent_id, first.requested_at
      FROM unnest($1::smallint[], $2::timestamptz[], $3::text[]) AS owned (partition, after_time, after_id)
      CROSS JOIN LATERAL (
        SELECT intent_id, requested_at FROM service.erasures AS erasure
        WHERE erasure.partition = owned.partition AND (requested_at, intent_id) > (owned.after_time, owned.after_id)
        ORDER BY requested_at, intent_id LIMIT $4
      ) AS first
      ORDER BY owned.partition, first.requested_at, first.intent_id`,
    values: [
      partitions,
      from.map((place) => place?.requestedAt ?? new Date(0)),
      from.map((place) => place?.id ?? ''),
      limit,
    ],
  });
  const found = new Map<number, ErasurePlace[]>();
  for (const { partition, intent_id: id, requested_at: requestedAt } of rows) {
    const others = found.get(partition);
    if (others) others.push({ requestedAt, id });
    else found.set(partition, [{ requestedAt, id }]);
  }
  return found;
}

/** For intents that are erased already: deletes keys that a restored backup brought back. */
export async function settleErasures({ sql }: Database, ids: readonly IntentId[]): Promise<void> {
  if (ids.length === 0) return;
  await sql.query(
    `WITH keys AS (DELETE FROM service.intent_keys WHERE intent_id = ANY($1))
     DELETE FROM service.erasures WHERE intent_id = ANY($1)`,
    [ids],
  );
}

/**
 * Asks for the erasure of intents whose oldest personal data is from before a time. Several processes may call it at
 * once.
 * @returns how many keys were looked at: fewer than `limit` if none are left
 */
export async function requestOldErasures({ sql }: Database, before: Date, limit: number): Promise<number> {
  const { rows } = await sql.query<{ looked: number }>(
    `WITH old AS (
       SELECT intent_id, partition FROM service.intent_keys AS key
        WHERE at < $1 AND NOT EXISTS (SELECT FROM service.erasures AS asked WHERE asked.intent_id = key.intent_id)
        ORDER BY at LIMIT $2),
     asked AS (
       INSERT INTO service.erasures (intent_id, partition) SELECT DISTINCT intent_id, partition FROM old
       ON CONFLICT (intent_id) DO NOTHING)
     SELECT count(*)::int AS looked FROM old`,
    [before, limit],
  );
  return rows[0]?.looked ?? 0;
}
