import type { Database } from '../postgres/database.ts';

/** What those who pay may see of an account. What is not set is null. */
export interface Merchant {
  readonly accountId: string;
  /** That of its branding, or else of the account. */
  readonly name: string;
  /** An https URL, or a PNG image as a data: URL. */
  readonly logo: string | null;
  readonly accentColor: string | null;
  readonly supportUrl: string | null;
  readonly returnOrigins: readonly string[];
}

/** Also those that have left for the archive. */
const INTENTS = '(SELECT id, account_id FROM ledger.intents UNION ALL SELECT id, account_id FROM ledger.cold_intents)';

/** The account that an intent belongs to; null if there is no such intent. */
export const accountOfIntent = ({ sql }: Pick<Database, 'sql'>, id: string): Promise<string | null> =>
  accountOf(sql, 'intent', INTENTS, id);

/** The account that a payment link belongs to; null if there is no such link. */
export const accountOfPaymentLink = ({ sql }: Pick<Database, 'sql'>, id: string): Promise<string | null> =>
  accountOf(sql, 'link', 'service.payment_links', id);

async function accountOf(
  sql: Database['sql'],
  what: 'intent' | 'link',
  table: string,
  id: string,
): Promise<string | null> {
  const { rows } = await sql.query<{ account_id: string }>({
    name: `account-of-${what}`,
    text: `SELECT account_id FROM ${table} AS owned WHERE id = $1`,
    values: [id],
  });
  return rows[0]?.account_id ?? null;
}

/** An account as those who pay see it; null if there is none. */
export async function findMerchant({ sql }: Pick<Database, 'sql'>, accountId: string): Promise<Merchant | null> {
  const { rows } = await sql.query<{
    name: string;
    logo: string | null;
    accent_color: string | null;
    support_url: string | null;
    return_origins: readonly string[] | null;
  }>({
    name: 'merchant',
    text: `SELECT coalesce(s.brand_name, a.name) AS name, s.logo, s.accent_color, s.support_url, s.return_origins
      FROM service.accounts a LEFT JOIN dashboard.account_settings s ON s.account_id = a.id WHERE a.id = $1`,
    values: [accountId],
  });
  const [row] = rows;
  return row
    ? {
        accountId,
        name: row.name,
        logo: row.logo,
        accentColor: row.accent_color,
        supportUrl: row.support_url,
        returnOrigins: row.return_origins ?? [],
      }
    : null;
}
