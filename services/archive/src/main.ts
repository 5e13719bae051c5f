import { Archiver, openStore, ParquetFiles, Signer } from '@pf/archive';
import { BY_INDEX, openDatabase } from '@pf/database';
import { createEventLog, eventLogOptions } from '@pf/event-log';
import { loadConfig, registerGauge, runService, startHealth } from '@pf/runtime';
import { archiveVariables } from './config.ts';
import { archiveDeliveries } from './deliveries.ts';

/** Without progress for so long the process is stuck: the store's and the brokers' time-outs are shorter. */
const STUCK_MS = 120_000;

runService('archive', async ({ log, onShutdown, crash }) => {
  const config = loadConfig(archiveVariables);
  const health = await startHealth(config.HOST, config.HEALTH_PORT, { log, onShutdown });
  const eventLog = createEventLog(eventLogOptions(config, 'archive', log));
  await health.until('kafka', () => eventLog.verifyTopics());
  const parquet = await ParquetFiles.open();
  onShutdown('parquet', () => parquet.close());
  const reader = await eventLog.reader('archive');
  onShutdown('reader', () => reader.close());
  const signer = new Signer(config.ARCHIVE_SIGNING_KEY);
  const store = openStore(config.ARCHIVE_URL);
  const archiver = new Archiver({
    store,
    parquet,
    signer,
    reader,
    partitions: eventLog.partitions,
    flushMs: config.ARCHIVE_FLUSH_SECONDS * 1_000,
    log,
    now: () => Date.now(),
  });
  registerGauge('payments.archive.lag', () => [[archiver.lagMs / 1_000, {}]]);
  onShutdown('archiver', () => archiver.stop());
  archiver.start(crash);
  // The events need no Postgres: nothing waits for it, and the process is ready without it.
  if (config.DATABASE_URL === undefined) log.info('the outcomes of deliveries are not archived: set DATABASE_URL');
  else {
    const database = openDatabase({
      url: config.DATABASE_URL,
      applicationName: 'archive',
      maxConnections: 1,
      settings: BY_INDEX,
      log,
    });
    onShutdown('database', () => database.close());
    const deliveries = archiveDeliveries({
      database,
      store,
      parquet,
      everyMs: config.ARCHIVE_DELIVERIES_SECONDS * 1_000,
      log,
    });
    onShutdown('deliveries', () => deliveries.stop());
  }
  health.serve({
    live: () => archiver.idleMs < STUCK_MS,
    ready: {
      kafka: () => eventLog.ready(1_000),
      archive: () => Promise.resolve(archiver.isFollowing),
    },
    reports: { lag_seconds: () => archiver.lagMs / 1_000 },
  });
  log.info({ archive: config.ARCHIVE_URL.href, key: signer.id, publicKey: signer.publicKey }, 'archiving');
});
