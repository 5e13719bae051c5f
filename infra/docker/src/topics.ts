import { createEventLog, eventLogOptions } from '@pf/event-log';
import { loadConfig } from '@pf/runtime';
import { topicsVariables } from './config.ts';
import { runJob } from './job.ts';

await runJob('topics', async (log) => {
  const config = loadConfig(topicsVariables);
  const eventLog = createEventLog(eventLogOptions(config, 'topics', log));
  await eventLog.createTopics();
  // Those that were there already are left as they are: where they differ no service would start, so the rollout stops here.
  await eventLog.verifyTopics();
  log.info(
    { partitions: config.KAFKA_PARTITIONS, replication: config.KAFKA_REPLICATION },
    'every topic is there, as it must be',
  );
});
