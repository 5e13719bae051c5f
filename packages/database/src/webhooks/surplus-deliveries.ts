import type { Plan } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import type { Database } from '../postgres/database.ts';

/** What an account has in one mode beyond the accepted deliveries that are kept: those created before a time. */
export interface SurplusDeliveries {
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly createdBefore: Date;
}

/** Rows of the index that one statement reads at most: in two seconds, if none of their pages is all-visible. */
const READ_MAX = 400_000;
/** Accounts that are looked at together. */
const PAGE = 1_000;
/** Who has not even so many is looked at no further: most accounts have few. */
const ROUGHLY: readonly number[] = [READ_MAX / (2 * PAGE), 5_000];

/** An account in one mode. */
type Place = Omit<SurplusDeliveries, 'createdBefore'>;

/**
 * The accounts of a plan, with their modes, that have more than `kept` accepted deliveries. A thousand accounts with
 * few deliveries take two statements; one with many a look at as many rows of an index as are kept.
 */
export async function* surplusDeliveries(
  database: Database,
  plan: Plan,
  kept: number,
): AsyncGenerator<SurplusDeliveries> {
  for (let after = ''; ;) {
    const { rows } = await database.sql.query<{ readonly id: AccountId }>(
      'SELECT id FROM service.accounts WHERE plan = $1 AND id > $2 ORDER BY id LIMIT $3',
      [plan, after, PAGE],
    );
    let places: readonly Place[] = rows.flatMap(({ id }) =>
      [true, false].map((livemode) => ({ accountId: id, livemode })),
    );
    for (const few of ROUGHLY) if (few < kept) places = await collect(withMoreThan(database, places, few));
    yield* withMoreThan(database, places, kept);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last.id;
  }
}

/** Those of the places that have more than `kept` accepted deliveries, as many at a time as may be read at once. */
async function* withMoreThan(
  { sql }: Database,
  places: readonly Place[],
  kept: number,
): AsyncGenerator<SurplusDeliveries> {
  const atOnce = Math.max(1, Math.floor(READ_MAX / kept));
  for (let start = 0; start < places.length; start += atOnce) {
    const part = places.slice(start, start + atOnce);
    const { rows } = await sql.query<SurplusDeliveries>(
      `SELECT place.account_id AS "accountId", place.livemode, newest.created_at AS "createdBefore"
         FROM unnest($1::text[], $2::boolean[]) AS place (account_id, livemode)
        CROSS JOIN LATERAL (
           SELECT created_at FROM service.deliveries AS d
            WHERE d.account_id = place.account_id AND d.livemode = place.livemode AND d.status = 'delivered'
            ORDER BY d.created_at DESC, d.id DESC OFFSET $3 LIMIT 1) AS newest
        ORDER BY place.account_id`,
      [part.map(({ accountId }) => accountId), part.map(({ livemode }) => livemode), kept - 1],
    );
    yield* rows;
  }
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/**
 * Deletes accepted deliveries that an account has beyond what is kept, with their attempts, oldest first. At most
 * `limit` of them. Several processes may call it at once.
 * @param endedBefore what was made, or has ended, since stays: the archive may not have read it
 * @returns the number deleted: fewer than `limit` if none are left
 */
export async function forgetSurplus(
  { sql }: Database,
  { accountId, livemode, createdBefore }: SurplusDeliveries,
  endedBefore: Date,
  limit: number,
): Promise<number> {
  const { rows } = await sql.query<{ deleted: number }>(
    `WITH forgotten AS (
       DELETE FROM service.deliveries WHERE id IN
         (SELECT id FROM service.deliveries
           WHERE account_id = $1 AND livemode = $2 AND status = 'delivered'
             AND created_at < least($3::timestamptz, $4::timestamptz) AND next_attempt_at IS NULL AND ended_at < $4
           ORDER BY created_at, id LIMIT $5 FOR UPDATE SKIP LOCKED)
       RETURNING id),
     attempts AS (
       DELETE FROM service.delivery_attempts a USING forgotten WHERE a.delivery_id = forgotten.id)
     SELECT count(*)::int AS deleted FROM forgotten`,
    [accountId, livemode, createdBefore, endedBefore, limit],
  );
  return rows[0]?.deleted ?? 0;
}
