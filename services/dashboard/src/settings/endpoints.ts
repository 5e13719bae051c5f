import type { ChainFamily } from '@pf/chains/networks';
import { parseWallet } from '@pf/chains/wallets';
import type { RequestIssue } from '@pf/contracts';
import { type AccountSettings, accountSettings, changeSettings, type Database } from '@pf/database';
import { validationFailed } from '@pf/http';
import type { Endpoints } from '../endpoint.ts';

type Wallets = { readonly [Family in ChainFamily]?: string | null | undefined };

const shown = ({ updatedAt, ...settings }: AccountSettings) => ({
  settings: { ...settings, updatedAt: updatedAt?.toISOString() ?? null },
});

/** The endpoints of an account's settings. */
export function settingsEndpoints({
  database,
  now,
}: {
  readonly database: Database;
  readonly now: () => number;
}): Endpoints<'Settings'> {
  return {
    async getSettings({ account }) {
      return shown(await accountSettings(database, account.id));
    },
    async updateSettings({ account, body: { wallets, ...body }, by }) {
      const change = { ...body, wallets: wallets && canonical(wallets), accountId: account.id, at: new Date(now()) };
      return shown(await changeSettings(database, change, by));
    },
  };
}

/** The addresses in canonical form. @throws ApiError `request.validation_failed` */
function canonical(wallets: Wallets): Wallets {
  const issues: RequestIssue[] = [];
  const addresses = (Object.entries(wallets) as [ChainFamily, string | null | undefined][]).map(([family, text]) => {
    if (typeof text !== 'string') return [family, text] as const;
    const parsed = parseWallet(family, text);
    if (parsed.ok) return [family, parsed.value] as const;
    const param = `wallets.${family}`;
    issues.push({ param, message: `${param} ${parsed.problem}; received ${JSON.stringify(text.slice(0, 100))}` });
    return [family, null] as const;
  });
  const [first, ...rest] = issues;
  if (first) throw validationFailed([first, ...rest]);
  return Object.fromEntries(addresses);
}
