import type { AccountId } from '@pf/domain';
import type { AuditSource } from '../dashboard/audit.ts';
import { createAccount } from './accounts.ts';
import { createKey } from './api-keys.ts';
import type { Database } from '../postgres/database.ts';
import type { Keyring } from '../webhooks/keyring.ts';
import { createWebhookSecret } from '../webhooks/secrets.ts';

/** An account ready for use, with its keys and secrets in plain text. The API keys cannot be read again. */
export interface OpenedAccount {
  readonly id: AccountId;
  readonly apiKeys: { readonly test: string; readonly live: string };
  readonly webhookSecrets: { readonly test: string; readonly live: string };
}

/**
 * Creates an account on the free plan, with an API key of full scope and a webhook secret for each mode.
 * @param by who does; without it, as for tests, the audit log has no entry
 */
export async function openAccount(
  database: Database,
  secretsKey: Keyring,
  { name }: { readonly name: string },
  by?: AuditSource,
): Promise<OpenedAccount> {
  const { id } = await createAccount(database, { name }, by);
  const keyOf = async (livemode: boolean) => (await createKey(database, { accountId: id, livemode }, by)).key;
  const secretOf = (livemode: boolean) => createWebhookSecret(database, secretsKey, { accountId: id, livemode });
  return {
    id,
    apiKeys: { test: await keyOf(false), live: await keyOf(true) },
    webhookSecrets: { test: await secretOf(false), live: await secretOf(true) },
  };
}
