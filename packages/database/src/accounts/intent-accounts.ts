import { type Plan, plan } from '@pf/contracts';
import type { AccountId, IntentId } from '@pf/domain';
import type { Database } from '../postgres/database.ts';

/** The account whose intent or payment link it is. */
export interface IntentAccount {
  readonly accountId: AccountId;
  readonly plan: Plan;
}

/** Also those that have left for the archive. */
const INTENTS = `(SELECT id, account_id, livemode FROM ledger.intents
  UNION ALL SELECT id, account_id, livemode FROM ledger.cold_intents)`;

/** The account of an intent of this mode; null if the intent is not projected, or its account does not exist. */
export const findIntentAccount = (
  { sql }: Pick<Database, 'sql'>,
  id: IntentId,
  livemode: boolean,
): Promise<IntentAccount | null> => findAccountOf(sql, 'intent', INTENTS, id, livemode);

/** The account of a payment link of this mode; null if there is no such link. */
export const findPaymentLinkAccount = (
  { sql }: Pick<Database, 'sql'>,
  id: string,
  livemode: boolean,
): Promise<IntentAccount | null> => findAccountOf(sql, 'link', 'service.payment_links', id, livemode);

async function findAccountOf(
  sql: Database['sql'],
  what: 'intent' | 'link',
  table: string,
  id: string,
  livemode: boolean,
): Promise<IntentAccount | null> {
  const { rows } = await sql.query<{ account_id: string; plan: string }>({
    name: `find-account-of-${what}`,
    text: `SELECT o.account_id, a.plan FROM ${table} o JOIN service.accounts a ON a.id = o.account_id
            WHERE o.id = $1 AND o.livemode = $2`,
    values: [id, livemode],
  });
  const [row] = rows;
  return row ? { accountId: row.account_id as AccountId, plan: plan.parse(row.plan) } : null;
}
