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

/**
 * The accounts of a plan, with their modes, that have more than `kept` accepted deliveries. Each costs a look at as
 * many rows of an index as it has, or as are kept.
 */
export async function* surplusDeliveries(
  { sql }: Database,
  plan: Plan,
  kept: number,
): AsyncGenerator<SurplusDeliveries> {
  const accounts = Math.max(1, Math.min(1_000, Math.floor(READ_MAX / (2 * kept))));
  for (let after = ''; ;) {
    const { rows } = await sql.query<SurplusDeliveries & { readonly createdBefore: Date | null }>(
      `SELECT account.id AS "accountId", mode.livemode, newest.created_at AS "createdBefore"
         FROM (SELECT id FROM service.accounts WHERE plan = $1 AND id > $2 ORDER BY id LIMIT $4) AS account
        CROSS JOIN (VALUES (true), (false)) AS mode (livemode)
         LEFT JOIN LATERAL (
           SELECT created_at FROM service.deliveries AS d
            WHERE d.account_id = account.id AND d.livemode = mode.livemode AND d.status = 'delivered'
            ORDER BY d.created_at DESC, d.id DESC OFFSET $3 LIMIT 1) AS newest ON true
        ORDER BY account.id`,
      [plan, after, kept - 1, accounts],
    );
    for (const { accountId, livemode, createdBefore } of rows)
      if (createdBefore) yield { accountId, livemode, createdBefore };
    const last = rows.at(-1);
    if (!last || rows.length < 2 * accounts) return;
    after = last.accountId;
  }
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
