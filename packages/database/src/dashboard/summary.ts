import type { IntentStatus, PaymentIntent, TokenAddress } from '@pf/domain';
import { decodeStateOrNull } from '../ledger/decoding.ts';
import type { IntentOwner } from '../ledger/intents.ts';
import type { Database } from '../postgres/database.ts';

/** Which way the money goes, as the account sees it: to it, from it, or back. */
export type PaymentKind = 'received' | 'sent' | 'refunded';

/** Intents that were created within one bucket and are alike. */
export interface SummedIntents {
  readonly bucketAt: Date;
  readonly tokenAddress: TokenAddress;
  readonly status: IntentStatus;
  readonly kind: PaymentKind;
  readonly intents: number;
  /** Base units: of what was paid with more, what arrived. */
  readonly amount: bigint;
}

export interface SummedRange {
  /** The intents with these tokens: all of the account, if they are all tokens of its mode. */
  readonly tokens: readonly TokenAddress[];
  /** When a bucket begins, as do all others. */
  readonly from: Date;
  readonly bucketMs: number;
  /** The newest of them are counted, and no more than these. */
  readonly max: number;
}

/**
 * Sums up the intents of an account that were created at or after `from`. It reads a range of an index for each token,
 * and no row: `intents_summed` has all that it needs. What has arrived beyond the amount is added once it is final: for
 * that it reads the events of the overpaid intents.
 * @returns `first`: when the oldest of them was created; null if there is none
 */
export async function sumIntents(
  { scans }: Pick<Database, 'scans'>,
  owner: IntentOwner,
  range: SummedRange,
): Promise<{ readonly sums: readonly SummedIntents[]; readonly first: Date | null }> {
  const { rows } = await scans.query<{
    bucket_at: Date;
    token_address: TokenAddress;
    status: IntentStatus;
    kind: PaymentKind;
    intents: number;
    amount: string;
    first: Date;
  }>(sumStatement(owner, range));
  const first = rows.reduce<Date | null>(
    (least, row) => (least === null || row.first < least ? row.first : least),
    null,
  );
  const overpaid = first === null ? [] : (await scans.query<Overpaid>(overpaidStatement(owner, range, first))).rows;
  return {
    sums: rows.map(({ bucket_at: bucketAt, token_address: tokenAddress, status, kind, intents, amount }) => {
      const isOfIt = (one: Overpaid): boolean =>
        kind === 'received' &&
        one.bucket_at.getTime() === bucketAt.getTime() &&
        one.token_address === tokenAddress &&
        one.status === status;
      const more = overpaid.filter(isOfIt).reduce((sum, one) => sum + BigInt(one.amount), 0n);
      return { bucketAt, tokenAddress, status, kind, intents, amount: BigInt(amount) + more };
    }),
    first,
  };
}

const ORDER = 'ORDER BY created_at DESC, id DESC';

/** The statement of sumIntents. */
export function sumStatement(
  { accountId, livemode }: IntentOwner,
  { tokens, from, bucketMs, max }: SummedRange,
): { readonly text: string; readonly values: unknown[] } {
  const values: unknown[] = [accountId, livemode, from, bucketMs / 1_000, max];
  // Merged in their order, as in listIntents, so that the limit leaves the newest of all tokens.
  const runs = tokens.map(
    (token) =>
      `(SELECT created_at, id, token_address, status, direction, refund_of, amount_base_units FROM ledger.intents
         WHERE account_id = $1 AND livemode = $2 AND token_address = $${values.push(token)} AND created_at >= $3
         ${ORDER} LIMIT $5)`,
  );
  return {
    text: `
      SELECT date_bin(make_interval(secs => $4), created_at, $3) AS bucket_at, token_address, status,
             CASE WHEN refund_of IS NOT NULL THEN 'refunded' WHEN direction = 'send' THEN 'sent'
                  ELSE 'received' END AS kind,
             count(*)::int AS intents, sum(amount_base_units)::text AS amount, min(created_at) AS first
        FROM (SELECT * FROM (${runs.join(' UNION ALL ')}) AS runs ${ORDER} LIMIT $5) AS newest
       GROUP BY 1, 2, 3, 4`,
    values,
  };
}

interface Overpaid {
  readonly bucket_at: Date;
  readonly token_address: TokenAddress;
  readonly status: IntentStatus;
  readonly amount: string;
}

/**
 * What was paid beyond the amount, of the intents created at or after `first`: as `intent.overpaid` tells of it. Only
 * what is to be received can be overpaid.
 */
function overpaidStatement(
  { accountId, livemode }: IntentOwner,
  { tokens, from, bucketMs, max }: SummedRange,
  first: Date,
): { readonly text: string; readonly values: unknown[] } {
  return {
    text: `
      SELECT date_bin(make_interval(secs => $4), created_at, $3) AS bucket_at, token_address, status,
             coalesce(sum(more), 0)::text AS amount
        FROM (SELECT DISTINCT ON (intent_id) intent_id AS id,
                     (body::jsonb #>> '{data,overpayment,amountBaseUnits}')::numeric AS more
                FROM (SELECT intent_id, version, body FROM ledger.intent_events
                       WHERE account_id = $1 AND livemode = $2 AND type = 'intent.overpaid' AND at >= $6
                       ORDER BY at DESC, event_id DESC LIMIT $5) AS told
               ORDER BY intent_id, version DESC) AS overpaid
        JOIN ledger.intents USING (id)
       WHERE created_at >= $6 AND token_address = ANY($7::text[]) AND status IN ('confirmed', 'finalized')
       GROUP BY 1, 2, 3`,
    values: [accountId, livemode, from, bucketMs / 1_000, max, first, tokens],
  };
}

/** The newest intents of an account that were created at or after `from` and are paid, refunds among them. */
export async function newestPaid(
  { scans }: Pick<Database, 'scans'>,
  { accountId, livemode }: IntentOwner,
  from: Date,
  limit: number,
): Promise<readonly PaymentIntent[]> {
  const runs = ['request', 'send'].flatMap((direction) =>
    ['confirmed', 'finalized'].map(
      (status) =>
        `(SELECT created_at, id, state FROM ledger.intents
           WHERE account_id = $1 AND livemode = $2 AND direction = '${direction}' AND status = '${status}'
             AND created_at >= $3 ${ORDER} LIMIT $4)`,
    ),
  );
  const { rows } = await scans.query<{ state: string }>(
    `SELECT state FROM (${runs.join(' UNION ALL ')}) AS runs ${ORDER} LIMIT $4`,
    [accountId, livemode, from, limit],
  );
  return rows.flatMap(({ state }) => decodeStateOrNull(state) ?? []);
}

/** How many deliveries of an account's events that happened at or after `from` have failed, `max` at most. */
export async function countFailedDeliveries(
  { scans }: Pick<Database, 'scans'>,
  { accountId, livemode }: IntentOwner,
  from: Date,
  max: number,
): Promise<number> {
  const { rows } = await scans.query<{ count: number }>(
    `SELECT count(*)::int FROM (
       SELECT FROM service.deliveries
        WHERE account_id = $1 AND livemode = $2 AND status = 'failed' AND created_at >= $3 LIMIT $4) AS failed`,
    [accountId, livemode, from, max],
  );
  return rows[0]?.count ?? 0;
}
