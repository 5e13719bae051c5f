import { BY_INDEX, IntentStates, openDatabase } from '@pf/database';
import { createEventLog, eventLogOptions } from '@pf/event-log';
import { loadConfig, runService, serveHealth } from '@pf/runtime';
import { Announcer } from './announcer.ts';
import { createRetention } from './retention.ts';
import { intentVariables } from './config.ts';
import { Expiry } from './expiry.ts';
import { IntentWriter } from './writer.ts';

/** After this time without progress of the group's loop the process is stuck, and the supervisor restarts it. */
const STUCK_MS = 60_000;
const CHECK_MS = 1_000;

runService('intent', async ({ log, crash, onShutdown }) => {
  const config = loadConfig(intentVariables);

  const database = openDatabase({
    url: config.DATABASE_URL,
    applicationName: 'intent',
    // One for a batch of each partition, up to 16, and two for expiry and retention.
    maxConnections: Math.min(config.KAFKA_PARTITIONS, 16) + 2,
    settings: BY_INDEX,
    onError: (error) => log.warn({ err: error }, 'an idle database connection was lost'),
  });
  onShutdown('database', () => database.close());
  const announcer = new Announcer(config.REDIS_URL, log);
  onShutdown('redis', () => announcer.close());

  const eventLog = createEventLog(eventLogOptions(config, 'intent', log));
  await eventLog.verifyTopics();
  const publisher = await eventLog.publisher();
  onShutdown('publisher', () => publisher.close());
  const reader = await eventLog.reader('expiry');
  onShutdown('reader', () => reader.close());

  const writer = new IntentWriter({ partitions: eventLog.partitions, database, publisher, announcer, log });
  const owner = eventLog.partitionOwner(writer, crash);
  const health = await serveHealth(config.HOST, config.HEALTH_PORT, {
    live: () => owner.idleMs() < STUCK_MS,
    // Without Redis replies are slower, not wrong, so it is not part of readiness.
    ready: { kafka: () => eventLog.ready(CHECK_MS), database: () => database.ready(CHECK_MS) },
  });
  onShutdown('health', () => health.close());
  onShutdown('owner', () => owner.stop());
  await owner.start();

  const expiry = new Expiry({
    owner,
    states: new IntentStates(database.sql),
    reader,
    expire: (partition, ids) => writer.expire(partition, ids),
    log,
    clock: Date.now,
  });
  onShutdown('expiry', () => expiry.stop());
  expiry.start();
  const retention = createRetention(database, log);
  onShutdown('retention', () => retention.stop());
  retention.start();
});
