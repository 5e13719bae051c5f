import type { AccountId, ChainId, Instant, IntentId, PaymentIntent, Settlement } from '@pf/domain';
import type { Database } from '../postgres/database.ts';
import { decodeStateOrNull } from './decoding.ts';

/** An intent that counts as paid. */
export interface SettledIntent extends PaymentIntent {
  readonly settlement: Settlement;
}

/** Which settlements are asked for. */
export interface SettlementFilter {
  readonly chains: readonly ChainId[];
  /** Null: of all accounts. */
  readonly accountId: AccountId | null;
  /** When they were confirmed: from this time on, and before the other. */
  readonly from: Instant;
  readonly to: Instant;
}

export interface SettlementPage {
  readonly intents: readonly SettledIntent[];
  /** Rows of intents of this time that cannot be decoded, because newer code wrote them or they are damaged. */
  readonly unreadable: readonly IntentId[];
  /** Where the next page begins; null after the last one. */
  readonly next: IntentId | null;
}

/** Rows that one query looks at, whether they are asked for or not: no query takes long, however few are found. */
const ROWS_A_PAGE = 2_000;

/**
 * The intents that were paid on chain within a period, page by page in the order of their ids. A page may have none.
 * @param after the last page's `next`; null for the first
 */
export async function readSettlements(
  { sql }: Pick<Database, 'sql'>,
  { chains, accountId, from, to }: SettlementFilter,
  after: IntentId | null,
): Promise<SettlementPage> {
  const { rows } = await sql.query<{ id: IntentId; state: string | null }>({
    text: `SELECT id, CASE WHEN status IN ('confirmed', 'finalized') AND chain = ANY($2)
        AND ($3::text IS NULL OR account_id = $3) AND created_at < $5 AND updated_at >= $4 THEN state END AS state
      FROM ledger.intents WHERE id > $1 ORDER BY id LIMIT $6`,
    values: [after ?? '', chains, accountId, new Date(from), new Date(to), ROWS_A_PAGE],
  });
  const intents: SettledIntent[] = [];
  const unreadable: IntentId[] = [];
  for (const { id, state } of rows) {
    if (state === null) continue;
    const intent = decodeStateOrNull(state);
    if (intent === null || intent.heldFrom !== undefined) unreadable.push(id);
    else if (isAsked(intent, from, to)) intents.push(intent);
  }
  return { intents, unreadable, next: rows.length === ROWS_A_PAGE ? (rows.at(-1)?.id ?? null) : null };
}

const isAsked = (intent: PaymentIntent, from: Instant, to: Instant): intent is SettledIntent =>
  intent.settlement !== null &&
  !intent.settlement.lost &&
  // An account has assigned it by hand: the chain shows no reference that could be read again.
  intent.settlement.depositId === undefined &&
  !intent.simulated &&
  intent.confirmedAt !== null &&
  intent.confirmedAt >= from &&
  intent.confirmedAt < to;

/** How many intents that may be of this period have left the database: their settlements are not read. */
export async function countCold(
  { sql }: Pick<Database, 'sql'>,
  { accountId, from, to }: Pick<SettlementFilter, 'accountId' | 'from' | 'to'>,
): Promise<number> {
  const { rows } = await sql.query<{ count: string }>(
    `SELECT count(*) FROM ledger.cold_intents
      WHERE ($1::text IS NULL OR account_id = $1) AND created_at >= $2 AND created_at < $3`,
    [accountId, new Date(from), new Date(to)],
  );
  return Number(rows[0]?.count ?? 0);
}
