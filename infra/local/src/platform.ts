// Everything of the start that needs our own compiled packages; loaded only when they are compiled.
import { findAccount, migrate, openAccount, openDatabase } from '@pf/database';
import { createEventLog } from '@pf/event-log';
import type { BackingAddresses } from './backing.ts';
import { PARTITIONS } from './services.ts';
import type { Stack, StackAccount } from './stack.ts';

/** Creates the topics that are missing. */
export async function createTopics(addresses: BackingAddresses): Promise<void> {
  await createEventLog({ brokers: addresses.kafka.split(','), partitions: PARTITIONS, clientId: 'stack' }).createTopics();
}

/** @returns how many migrations were applied now */
export async function migrateDatabase(addresses: BackingAddresses): Promise<number> {
  return (await migrate(addresses.database)).length;
}

/**
 * The account that scripts and demos use: the one of the last start if the database still has it, else a new one.
 * Its API keys can't be read back from the database, so `former` is the only place that knows them.
 */
export async function seedAccount(addresses: BackingAddresses, secretsKey: string, former: Stack | null): Promise<StackAccount> {
  const database = openDatabase({ url: addresses.database, applicationName: 'stack', maxConnections: 2, onError: () => undefined });
  try {
    if (former?.accountId && former.apiKeys && former.webhookSecret && (await findAccount(database, former.accountId))) {
      return { accountId: former.accountId, apiKeys: former.apiKeys, webhookSecret: former.webhookSecret };
    }
    const { id, apiKeys, webhookSecrets } = await openAccount(database, Buffer.from(secretsKey, 'base64'), { name: 'Local' });
    return { accountId: id, apiKeys, webhookSecret: webhookSecrets.test };
  } finally {
    await database.close();
  }
}
