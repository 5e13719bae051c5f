import { ColdBundles, openStore, unfinishedIn } from '@pf/archive/cold';
import { networks } from '@pf/chains/networks';
import { MeasuredClock } from '@pf/clock';
import { observationKey } from '@pf/contracts';
import {
  BY_INDEX,
  compareSecretsKey,
  createStore,
  hasCold,
  openDatabase,
  readDatabaseTime,
  verifySchema,
} from '@pf/database';
import { createEventLog, eventLogOptions } from '@pf/event-log';
import { ConfigurationError, loadConfig, registerGauge, runService, startHealth } from '@pf/runtime';
import { Announcer } from './announcer.ts';
import { ClockedOwner } from './clocked-owner.ts';
import { createColdIntents, createLeaving } from './cold.ts';
import { intentVariables } from './config.ts';
import { createErasures } from './erasures.ts';
import { Expiry } from './expiry.ts';
import { IdlePartitions } from './idle-partitions.ts';
import { ObservationAuthors } from './observation-authors.ts';
import { createPersonalData } from './personal-data.ts';
import { createRetention } from './retention.ts';
import { IntentWriter } from './writer.ts';

/** After this time without progress of the group's loop the process is stuck, and the supervisor restarts it. */
const STUCK_MS = 60_000;
const CHECK_MS = 1_000;

runService('intent', async ({ log, crash, onShutdown }) => {
  const config = loadConfig(intentVariables);
  const keyring = config.SECRETS_KEY ?? null;
  if (config.SEAL_PERSONAL_DATA && keyring === null)
    throw new ConfigurationError('SEAL_PERSONAL_DATA needs SECRETS_KEY: set it to that of the other services.');
  if (config.LEDGER_HOT_DAYS !== undefined && config.ARCHIVE_URL === undefined)
    throw new ConfigurationError('LEDGER_HOT_DAYS needs ARCHIVE_URL: set it to that of the service archive.');
  const health = await startHealth(config.HOST, config.HEALTH_PORT, { log, onShutdown });

  const database = openDatabase({
    url: config.DATABASE_URL,
    applicationName: 'intent',
    // One for a batch of each partition, up to 16, and two for expiry and retention.
    maxConnections: config.DATABASE_CONNECTIONS ?? Math.min(config.KAFKA_PARTITIONS, 16) + 2,
    settings: BY_INDEX,
    log,
  });
  onShutdown('database', () => database.close());
  await health.until('database', async () => {
    await verifySchema(database);
    if (keyring !== null) await compareSecretsKey(database, keyring);
    if (config.ARCHIVE_URL === undefined && (await hasCold(database)))
      throw new ConfigurationError('Intents have left for the archive: set ARCHIVE_URL (docs/operations/growth.md).');
  });
  if (config.ACCEPT_UNSIGNED_OBSERVATIONS)
    log.warn('observations without a signature are believed: set ACCEPT_UNSIGNED_OBSERVATIONS back after the upgrade');
  const announcer = new Announcer(config.REDIS_URL, config.REPLY_SECRET[0], log);
  onShutdown('redis', () => announcer.close());

  const eventLog = createEventLog(eventLogOptions(config, 'intent', log));
  await health.until('kafka', () => eventLog.verifyTopics());
  const publisher = await eventLog.publisher();
  onShutdown('publisher', () => publisher.close());
  const reader = await eventLog.reader('expiry');
  onShutdown('reader', () => reader.close());

  const brokerClock = eventLog.brokerClock();
  onShutdown('broker clock', () => brokerClock.close());
  const clock = new MeasuredClock({
    references: [
      { name: 'postgres', read: () => readDatabaseTime(database) },
      { name: 'kafka', read: () => brokerClock.read() },
    ],
    log,
    whileWrong: 'it owns no partition',
  });
  onShutdown('clock', () => clock.stop());
  await clock.start();
  // Recovery keys are made for a time that is proven. A broker that has just started may not prove it at once.
  if (config.SEAL_PERSONAL_DATA) await health.until('clock', () => clock.prove());

  const { ledger } = createStore(database);
  const personalData = await createPersonalData(database, { keyring, seal: config.SEAL_PERSONAL_DATA, clock, log });
  onShutdown('recovery keys', () => personalData.stop());
  const { partitions } = eventLog;
  const store = config.ARCHIVE_URL && openStore(config.ARCHIVE_URL);
  const bundles = store && new ColdBundles(store, keyring);
  const cold = bundles && createColdIntents(database, bundles, log);
  const writer = new IntentWriter({
    partitions,
    ledger,
    publisher,
    announcer,
    log,
    clock,
    observations: {
      authors: new ObservationAuthors(config.OBSERVATION_SECRET, config.ACCEPT_UNSIGNED_OBSERVATIONS),
      key: observationKey(config.OBSERVATION_SECRET[0], 'intent'),
    },
    personalData,
    ...(cold && { cold }),
  });
  registerGauge('payments.partition.time.ahead', () =>
    [...writer.ahead].map(([partition, ms]) => [ms / 1_000, { partition: String(partition) }]),
  );
  const owner = new ClockedOwner({
    clock,
    open: () => eventLog.partitionOwner(writer, crash),
    onCrash: crash,
    log,
  });
  health.serve({
    live: () => owner.idleMs() < STUCK_MS,
    // Without Redis replies are slower, not wrong, so it is not part of readiness.
    ready: {
      kafka: () => eventLog.ready(CHECK_MS),
      database: () => database.ready(CHECK_MS),
      clock: async () => clock.standing === 'right',
    },
    reports: { clock: () => clock.report() },
  });
  onShutdown('owner', () => owner.stop());
  await owner.start();

  const expiry = new Expiry({
    owner,
    ledger,
    reader,
    expire: (partition, ids) => writer.expire(partition, ids),
    log,
    clock: () => clock.now(),
  });
  onShutdown('expiry', () => expiry.stop());
  expiry.start();
  const idle = new IdlePartitions({ owner, log });
  onShutdown('idle partitions', () => idle.stop());
  idle.start();
  const erasures = createErasures({
    database,
    owner,
    erase: (partition, ids) => writer.erase(partition, ids),
    retentionDays: config.PRIVACY_RETENTION_DAYS ?? null,
    clock,
    log,
  });
  onShutdown('erasures', () => erasures.stop());
  erasures.start();
  if (config.LEDGER_HOT_DAYS !== undefined && store && bundles) {
    const leaving = createLeaving({
      database,
      bundles,
      unfinished: (partition, others) => unfinishedIn(partition, { store, reader }, others),
      owner,
      between: (partition, work) => writer.between(partition, work),
      chains: networks.map(({ chain }) => chain),
      hotDays: config.LEDGER_HOT_DAYS,
      clock,
      log,
    });
    onShutdown('leaving intents', () => leaving.stop());
    leaving.start();
  }
  const retention = createRetention(database, clock, log);
  onShutdown('retention', () => retention.stop());
  retention.start();
});
