import { findAccount, openAccount, openDatabase } from '@pf/database';
import type { Preparation } from './preparation.ts';
import type { StackAccount } from './stack.ts';

/**
 * The account that scripts and the demo use: that of the last start if the database still has it, or a new one. The
 * database stores only hashes of API keys, so `former` is the only source of them.
 */
export async function seedAccount({
  database: url,
  secretsKey,
  former,
}: Omit<Preparation, 'kafka'>): Promise<StackAccount> {
  const database = openDatabase({ url, applicationName: 'stack', maxConnections: 2, onError: () => undefined });
  try {
    if (former && (await findAccount(database, former.accountId))) return former;
    const keyring = secretsKey.split(',').map((key) => Buffer.from(key, 'base64'));
    const { id, apiKeys, webhookSecrets } = await openAccount(database, keyring, {
      name: 'Local',
    });
    return { accountId: id, apiKeys, webhookSecret: webhookSecrets.test };
  } finally {
    await database.close();
  }
}
