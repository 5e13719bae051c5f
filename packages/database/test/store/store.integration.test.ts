import { afterAll, beforeAll } from '@jest/globals';
import { createStore } from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';
import { storeSuite } from './suite.ts';

let own: OwnDatabase;
beforeAll(async () => {
  own = await createOwnDatabase();
});
afterAll(() => own.close());

const TABLES =
  'ledger.deposits, ledger.intents, ledger.intent_events, ledger.checkpoints, service.command_outcomes, ' +
  'service.signed_transactions, service.network_watches, service.watch_bookmarks, service.watched_wallets, ' +
  'service.reserved_amounts, service.webhook_positions, service.accounts';

storeSuite((test) => async () => {
  const { database } = own;
  const run = (text: string, ...values: unknown[]) => database.sql.query(text, values);
  await run(`TRUNCATE ${TABLES} CASCADE`);
  await test({
    store: createStore(database),
    async now() {
      const { rows } = await database.sql.query<{ now: Date }>('SELECT clock_timestamp() AS now');
      return rows[0]?.now.getTime() ?? 0;
    },
    async addEndpoint(accountId) {
      const id = `we_${accountId}`;
      await run('INSERT INTO service.accounts (id, name) VALUES ($1, $1)', accountId);
      await run(
        `INSERT INTO service.webhook_endpoints (id, account_id, livemode, url)
          VALUES ($1, $2, false, 'https://shop.example/hooks')`,
        id,
        accountId,
      );
      return id;
    },
    async disableEndpoint(id) {
      await run('UPDATE service.webhook_endpoints SET disabled_at = now() WHERE id = $1', id);
    },
    async setWebhookPosition(partition, position) {
      await run('UPDATE service.webhook_positions SET position = $2 WHERE partition = $1', partition, position);
    },
  });
});
