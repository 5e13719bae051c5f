import { createEventLog, eventLogOptions } from '@pf/event-log';
import { loadConfig } from '@pf/runtime';
import { topicsVariables } from './config.ts';
import { awaitDependency, runJob } from './job.ts';

await runJob('topics', async (log) => {
  const config = loadConfig(topicsVariables);
  const eventLog = createEventLog(eventLogOptions(config, 'topics', log));
  await awaitDependency('kafka', eventLog, log);
  await eventLog.createTopics();
  // Existing topics are left unchanged. If one differs, no service would start, so the rollout stops here.
  await eventLog.verifyTopics();
  log.info(
    { partitions: config.KAFKA_PARTITIONS, replication: config.KAFKA_REPLICATION },
    'every topic exists with the required settings',
  );
});
