import { isRegistered, seedOwner } from '@pf/dashboard/seed';
import { type Database, findAccount, openAccount, openDatabase } from '@pf/database';
import type { Preparation } from './preparation.ts';
import type { FormerAccount, StackAccount } from './stack.ts';

/** Who signs in to the dashboard of the local stack. */
const EMAIL = 'owner@shop.example';

/**
 * The account that scripts and the demo use: that of the last start if the database still has it, or a new one. The
 * database stores only hashes of API keys and passwords, so `former` is the only source of them.
 */
export async function seedAccount({
  database: url,
  secretsKey,
  former,
}: Omit<Preparation, 'kafka'>): Promise<StackAccount> {
  const database = openDatabase({ url, applicationName: 'stack', maxConnections: 2 });
  try {
    const { dashboard, ...account } =
      (await knownAccount(database, former)) ?? (await newAccount(database, secretsKey));
    if (dashboard && (await isRegistered(database, dashboard.email)))
      return { ...account, person: { email: dashboard.email, password: dashboard.password } };
    // A database of another folder may have this person, with a password that is not known here.
    const email = (await isRegistered(database, EMAIL)) ? `${account.accountId}@shop.example`.toLowerCase() : EMAIL;
    const password = await seedOwner(database, { accountId: account.accountId, name: 'Olivia Owner', email });
    return { ...account, person: { email, password } };
  } finally {
    await database.close();
  }
}

const knownAccount = async (database: Database, former: FormerAccount | null): Promise<FormerAccount | null> =>
  former && (await findAccount(database, former.accountId)) ? former : null;

async function newAccount(database: Database, secretsKey: string): Promise<FormerAccount> {
  const keyring = secretsKey.split(',').map((key) => Buffer.from(key, 'base64'));
  const { id, apiKeys, webhookSecrets } = await openAccount(database, keyring, { name: 'Local' });
  return { accountId: id, apiKeys, webhookSecret: webhookSecrets.test };
}
