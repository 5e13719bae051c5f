import { migrate } from '@pf/database';
import { loadConfig } from '@pf/runtime';
import { migrateVariables } from './config.ts';
import { runJob } from './job.ts';

await runJob('migrate', async (log) => {
  const { DATABASE_URL } = loadConfig(migrateVariables);
  const applied = await migrate(DATABASE_URL);
  log.info({ applied }, applied.length === 0 ? 'no migration was pending' : 'all pending migrations were applied');
});
