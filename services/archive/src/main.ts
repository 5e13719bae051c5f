import { Archiver, openStore, ParquetFiles, Signer } from '@pf/archive';
import { createEventLog, eventLogOptions } from '@pf/event-log';
import { loadConfig, registerGauge, runService, startHealth } from '@pf/runtime';
import { archiveVariables } from './config.ts';

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
  const archiver = new Archiver({
    store: openStore(config.ARCHIVE_URL),
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
