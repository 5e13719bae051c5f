import { type Plan, plan } from '@pf/contracts';
import type { AccountId, IntentId } from '@pf/domain';
import type { Database } from '../postgres/database.ts';

/** The account whose intent it is. */
export interface IntentAccount {
  readonly accountId: AccountId;
  readonly plan: Plan;
}

/** The account of an intent of this mode; null if the intent is not projected, or its account does not exist. */
export async function findIntentAccount(
  { sql }: Pick<Database, 'sql'>,
  id: IntentId,
  livemode: boolean,
): Promise<IntentAccount | null> {
  const { rows } = await sql.query<{ account_id: string; plan: string }>({
    name: 'find-intent-account',
    text: `SELECT i.account_id, a.plan FROM ledger.intents i JOIN service.accounts a ON a.id = i.account_id
            WHERE i.id = $1 AND i.livemode = $2`,
    values: [id, livemode],
  });
  const [row] = rows;
  return row ? { accountId: row.account_id as AccountId, plan: plan.parse(row.plan) } : null;
}
