import type { Deposit, IntentId, IntentStatus } from '@pf/domain';
import type { IntentOwner } from '../ledger/intents.ts';
import type { Database } from '../postgres/database.ts';

/** Intents of a wallet that are looked at, the newest before the deposit first: a wallet may have any number. */
const RECENT_MAX = 1_000;
/** Of each intent that is looked at. */
const COLUMNS = 'id, status, chain, token_address, amount_base_units, reference, created_at, closed_at';
/** Likely intents of a deposit. */
const LIKELY_MAX = 3;

/** An intent that a deposit may have been meant for. */
export interface LikelyIntentRow {
  readonly depositId: string;
  readonly id: IntentId;
  readonly status: IntentStatus;
  /** In base units: the deposit's amount, or up to a tenth more. */
  readonly amount: string;
  readonly createdAt: Date;
}

/**
 * The unpaid intents that deposits of an account may have been meant for: of the same wallet and token, of the same
 * amount or of one that a fee has made smaller, made before the deposit came, open or ended in the week before. One
 * whose reference the deposit carries may have ended long before: it comes first, then those of the same amount.
 */
export async function likelyIntents(
  { scans }: Pick<Database, 'scans'>,
  { accountId, livemode }: IntentOwner,
  deposits: readonly Deposit[],
): Promise<readonly LikelyIntentRow[]> {
  if (deposits.length === 0) return [];
  const { rows } = await scans.query<LikelyIntentRow>(
    `SELECT deposit.id AS "depositId", likely.id, likely.status, likely.amount_base_units::text AS amount,
            likely.created_at AS "createdAt"
       FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::numeric[], $8::timestamptz[], $9::text[])
              AS deposit (id, chain, token_address, recipient, amount, at, reference)
      CROSS JOIN LATERAL (
        SELECT *, reference IS NOT DISTINCT FROM deposit.reference AS is_named FROM (
          (SELECT ${COLUMNS} FROM ledger.intents
            WHERE account_id = $1 AND livemode = $2 AND requestor = deposit.recipient
              AND created_at <= deposit.at + interval '1 minute'
            ORDER BY created_at DESC, id DESC LIMIT ${RECENT_MAX})
          UNION
          SELECT ${COLUMNS} FROM ledger.intents
           WHERE account_id = $1 AND livemode = $2 AND requestor = deposit.recipient
             AND reference = deposit.reference) AS known
         WHERE chain = deposit.chain AND token_address = deposit.token_address
           AND status NOT IN ('confirmed', 'finalized')
           AND amount_base_units BETWEEN deposit.amount AND deposit.amount * 10 / 9
           AND (closed_at IS NULL OR closed_at > deposit.at - interval '7 days'
                OR reference IS NOT DISTINCT FROM deposit.reference)
         ORDER BY is_named DESC, amount_base_units, created_at DESC, id LIMIT ${LIKELY_MAX}) AS likely
      ORDER BY deposit.id, likely.is_named DESC, likely.amount_base_units, likely.created_at DESC, likely.id`,
    [
      accountId,
      livemode,
      deposits.map(({ id }) => id),
      deposits.map(({ chain }) => chain),
      deposits.map(({ arrival }) => arrival.tokenAddress),
      deposits.map(({ arrival }) => arrival.to),
      deposits.map(({ arrival }) => String(arrival.amount)),
      deposits.map(({ createdAt }) => new Date(createdAt)),
      deposits.map(({ arrival }) => arrival.reference),
    ],
  );
  return rows;
}
