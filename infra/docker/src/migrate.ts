import { grantRights, migrate, openDatabase } from '@pf/database';
import { loadConfig } from '@pf/runtime';
import { migrateVariables } from './config.ts';
import { awaitDependency, runJob } from './job.ts';

await runJob('migrate', async (log) => {
  const { DATABASE_URL } = loadConfig(migrateVariables);
  const database = openDatabase({ url: DATABASE_URL, applicationName: 'migrate', maxConnections: 1, log });
  await awaitDependency('database', database, log).finally(() => database.close());
  const applied = await migrate(DATABASE_URL);
  log.info({ applied }, applied.length === 0 ? 'no migration was pending' : 'all pending migrations were applied');
  const left = await grantRights(DATABASE_URL);
  if (left.length === 0) log.info('every role has its rights');
  // A service that connects as the owner needs none of them, so the rollout goes on.
  else
    log.warn(
      { statements: left },
      'this user may not set up all roles: let an administrator run these statements, then run migrate again',
    );
});
