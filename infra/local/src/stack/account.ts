import { findAccount, openAccount, openDatabase } from '@pf/database';
import type { Preparation } from './preparation.ts';
import type { StackAccount } from './stack.ts';

/**
 * The account that scripts and demos use: the one of the last start if the database still has it, else a new one.
 * Its API keys can't be read back from the database, so `former` is the only place that knows them.
 */
export async function seedAccount({
  database: url,
  secretsKey,
  former,
}: Omit<Preparation, 'kafka'>): Promise<StackAccount> {
  const database = openDatabase({ url, applicationName: 'stack', maxConnections: 2, onError: () => undefined });
  try {
    if (former && (await findAccount(database, former.accountId))) return former;
    const { id, apiKeys, webhookSecrets } = await openAccount(database, Buffer.from(secretsKey, 'base64'), {
      name: 'Local',
    });
    return { accountId: id, apiKeys, webhookSecret: webhookSecrets.test };
  } finally {
    await database.close();
  }
}
