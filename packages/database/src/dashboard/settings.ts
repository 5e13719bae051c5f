import { type AccountSettingsShown, storedWallets } from '@pf/contracts/dashboard';
import { forEachFamily } from '@pf/domain';
import type pg from 'pg';
import type { Database } from '../postgres/database.ts';
import { type AuditSource, recordChange } from './audit.ts';
import { changingAccount } from './rights.ts';

/** The settings of an account; what is not set is null. */
export type AccountSettings = Omit<AccountSettingsShown, 'updatedAt'> & { readonly updatedAt: Date | null };

type Partially<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/** What is to be changed; what is undefined stays. */
export interface SettingsChange {
  readonly branding?: Partially<AccountSettings['branding']> | undefined;
  readonly wallets?: Partially<AccountSettings['wallets']> | undefined;
  readonly returnOrigins?: readonly string[] | undefined;
}

interface Row {
  readonly brand_name: string | null;
  readonly logo: string | null;
  readonly accent_color: string | null;
  readonly support_url: string | null;
  readonly wallets: unknown;
  readonly return_origins: readonly string[];
  readonly updated_at: Date;
}

const COLUMNS = 'brand_name, logo, accent_color, support_url, wallets, return_origins, updated_at';
const NO_WALLETS: AccountSettings['wallets'] = forEachFamily(() => null);

function fromRow(row: Row | undefined): AccountSettings {
  return {
    branding: {
      name: row?.brand_name ?? null,
      logo: row?.logo ?? null,
      accentColor: row?.accent_color ?? null,
      supportUrl: row?.support_url ?? null,
    },
    wallets: { ...NO_WALLETS, ...defined(storedWallets.parse(row?.wallets ?? {})) },
    returnOrigins: [...(row?.return_origins ?? [])],
    updatedAt: row?.updated_at ?? null,
  };
}

/** Without the fields that are undefined. */
const defined = <T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };

export async function accountSettings(
  { sql }: { readonly sql: Pick<pg.ClientBase, 'query'> },
  accountId: string,
): Promise<AccountSettings> {
  const { rows } = await sql.query<Row>({
    name: 'account-settings',
    text: `SELECT ${COLUMNS} FROM dashboard.account_settings WHERE account_id = $1`,
    values: [accountId],
  });
  return fromRow(rows[0]);
}

/** Changes some of the settings, and records what was changed. */
export async function changeSettings(
  database: Database,
  { accountId, at, ...change }: SettingsChange & { readonly accountId: string; readonly at: Date },
  by: AuditSource,
): Promise<AccountSettings> {
  return changingAccount(database, accountId, by, async (client) => {
    const before = await accountSettings({ sql: client }, accountId);
    const after: AccountSettings = {
      branding: { ...before.branding, ...defined(change.branding ?? {}) },
      wallets: { ...before.wallets, ...defined(change.wallets ?? {}) },
      returnOrigins: [...(change.returnOrigins ?? before.returnOrigins)],
      updatedAt: at,
    };
    const changed = differences(factsOf(before), factsOf(after));
    if (!changed) return before;
    const { branding, wallets, returnOrigins } = after;
    await client.query(
      `INSERT INTO dashboard.account_settings (account_id, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (account_id) DO UPDATE SET (${COLUMNS}) = ROW (excluded.brand_name, excluded.logo,
         excluded.accent_color, excluded.support_url, excluded.wallets, excluded.return_origins, excluded.updated_at)`,
      [
        accountId,
        branding.name,
        branding.logo,
        branding.accentColor,
        branding.supportUrl,
        JSON.stringify(wallets),
        returnOrigins,
        at,
      ],
    );
    await recordChange(client, by, { accountId, action: 'settings.changed', subject: accountId, ...changed });
    return after;
  });
}

type Facts = Readonly<Record<string, unknown>>;

const factsOf = ({ branding, wallets, returnOrigins }: AccountSettings): Facts => ({
  ...branding,
  ...Object.fromEntries(Object.entries(wallets).map(([family, address]) => [`wallets.${family}`, address])),
  returnOrigins,
});

/** The facts that differ, as they were and as they are; null if none does. */
function differences(before: Facts, after: Facts): { readonly before: Facts; readonly after: Facts } | null {
  const names = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  if (names.length === 0) return null;
  const some = (facts: Facts): Facts => Object.fromEntries(names.map((name) => [name, shown(name, facts[name])]));
  return { before: some(before), after: some(after) };
}

/** An image is shown by what it is. */
const shown = (name: string, value: unknown): unknown =>
  name === 'logo' && typeof value === 'string' && value.startsWith('data:')
    ? `an image, ${value.length} characters`
    : value;
