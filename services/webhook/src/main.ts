import { MeasuredClock } from '@pf/clock';
import { BY_INDEX, openDatabase, readDatabaseTime, verifySchema, verifySecretsKey } from '@pf/database';
import { egressOptions } from '@pf/egress';
import { createEventLog, eventLogOptions } from '@pf/event-log';
import { loadConfig, runService, startHealth } from '@pf/runtime';
import { webhookVariables } from './config.ts';
import { startWebhookService } from './service.ts';

runService('webhook', async ({ log, onShutdown, crash }) => {
  const config = loadConfig(webhookVariables);
  const health = await startHealth(config.HOST, config.HEALTH_PORT, { log, onShutdown });
  const database = openDatabase({
    url: config.DATABASE_URL,
    applicationName: 'webhook',
    maxConnections: config.DATABASE_CONNECTIONS ?? 16,
    settings: BY_INDEX,
    log,
  });
  onShutdown('database', () => database.close());
  await health.until('database', async () => {
    await verifySchema(database);
    await verifySecretsKey(database, config.SECRETS_KEY);
  });
  const eventLog = createEventLog(eventLogOptions(config, 'webhook', log));
  await health.until('kafka', () => eventLog.verifyTopics());
  const clock = new MeasuredClock({
    references: [{ name: 'postgres', read: () => readDatabaseTime(database) }],
    log,
    whileWrong: 'it uses the time of Postgres, as always',
  });
  onShutdown('clock', () => clock.stop());
  await clock.start();
  const service = await startWebhookService({
    database,
    eventLog,
    redisUrl: config.REDIS_URL,
    redisPrefix: config.REDIS_PREFIX,
    secretsKey: config.SECRETS_KEY,
    egress: egressOptions(config),
    replaysPerSecond: config.WEBHOOK_REPLAY_RATE,
    log,
    onCrash: crash,
    now: () => clock.referenceTime(),
  });
  onShutdown('webhook service', () => service.stop());
  health.serve({
    live: () => service.live(),
    ready: {
      database: () => database.ready(1_000),
      redis: () => service.redisReady(),
      kafka: () => eventLog.ready(1_000),
    },
  });
});
