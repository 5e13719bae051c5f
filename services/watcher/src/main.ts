import { createChains, upstreamsOf } from '@pf/chains';
import { MeasuredClock } from '@pf/clock';
import {
  createStore,
  openDatabase,
  readDatabaseTime,
  readToldOf,
  UnscreenedPayments,
  verifySchema,
} from '@pf/database';
import { createEventLog, eventLogOptions } from '@pf/event-log';
import { ConfigurationError, count, loadConfig, PeriodicTask, runService, startHealth } from '@pf/runtime';
import { openScreening } from '@pf/screening';
import { watcherVariables } from './config.ts';
import { MoneyCheck } from './money-check.ts';
import { NetworkWatch } from './network-watch.ts';
import { Rebroadcaster } from './rebroadcaster.ts';
import { screenSenders } from './sender-screening.ts';
import { WatchSets } from './watch-sets.ts';

const READY_WITHIN_MS = 1_000;
/** Neither a step nor a failure for this long means a promise that never settles: only a restart helps. */
const STUCK_AFTER_MS = 120_000;
/** Not urgent: the money has moved. */
const SCREEN_EVERY_MS = 5_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

runService('watcher', async (service) => {
  const { log } = service;
  const config = loadConfig(watcherVariables);
  const health = await startHealth(config.HOST, config.HEALTH_PORT, service);

  const database = openDatabase({
    url: config.DATABASE_URL,
    applicationName: 'watcher',
    maxConnections: config.DATABASE_CONNECTIONS ?? 8,
    log,
  });
  service.onShutdown('database', () => database.close());
  await health.until('database', () => verifySchema(database));
  const eventLog = createEventLog(eventLogOptions(config, 'watcher', log));
  await health.until('kafka', () => eventLog.verifyTopics());
  const brokerClock = eventLog.brokerClock();
  service.onShutdown('broker clock', () => brokerClock.close());
  const clock = new MeasuredClock({
    references: [
      { name: 'postgres', read: () => readDatabaseTime(database) },
      { name: 'kafka', read: () => brokerClock.read() },
    ],
    log,
    whileWrong: 'it broadcasts nothing again',
  });
  service.onShutdown('clock', () => clock.stop());
  await clock.start();

  const { signedTransactions: transactions, watches, watchedIntents } = createStore(database);
  const chains = createChains({
    upstreams: upstreamsOf(config),
    log,
    now: () => clock.referenceTime(),
    keptBytes: async (chain, hash) => (await transactions.find(chain, [hash])).get(hash) ?? null,
  });
  service.onShutdown('chains', () => chains.close());
  const networks = config.NETWORKS.map((text) => {
    const observer = [...chains.observers.values()].find(({ network }) => network.chain === text);
    const adapter = observer && chains.adapters.get(observer.network.chain);
    if (!observer || !adapter)
      throw new ConfigurationError(
        `The configuration is invalid:\n  NETWORKS: ${text} has no upstream: set its RPC_… variable, or RPC_CONFIG`,
      );
    const observationKey = config.OBSERVATION_KEYS.get(text);
    if (!observationKey)
      throw new ConfigurationError(
        `The configuration is invalid:\n  OBSERVATION_KEYS: has no key of ${text}: make it from OBSERVATION_SECRET ` +
          '(docs/operations/deploy.md)',
      );
    return { observer, adapter, observationKey };
  });

  const reader = await eventLog.reader('watcher');
  service.onShutdown('reader', () => reader.close());
  const publisher = await eventLog.publisher();
  service.onShutdown('publisher', () => publisher.close());

  const screening = openScreening(config, log);
  service.onShutdown('screening', () => screening.close());
  const unscreened = new UnscreenedPayments(database);
  const screeners = new PeriodicTask({
    work: (stopping) =>
      screenSenders(
        { payments: unscreened, screening, chains: networks.map(({ observer }) => observer.network.chain), log },
        stopping,
      ),
    pauseMs: SCREEN_EVERY_MS,
    onFailure: (error) => log.warn({ err: error }, 'screening the senders of some payments failed: will retry'),
  });
  screeners.start();
  service.onShutdown('screeners', () => screeners.stop());

  const sets = new WatchSets(
    watchedIntents,
    reader,
    networks.map(({ observer }) => observer.network.chain),
    config.WATCH_DAYS * DAY_MS,
    () => clock.referenceTime(),
    {
      onHeld(intentId) {
        count('payments.alarms', { alarm: 'held_intent' });
        log.error(
          { intentId, alarm: 'held_intent', runbook: 'docs/operations/runbooks/intent-held.md' },
          'the row of an intent cannot be understood: its payments are looked for, but none is broadcast again',
        );
      },
      onLoading(intents, isDone) {
        log.info({ intents }, isDone ? 'the intents are loaded' : 'loading intents');
      },
    },
    config.WATCH_SHARD,
    undefined,
    config.DEPOSITS ? { partitions: eventLog.partitions, watchMs: config.WALLET_DAYS * DAY_MS } : null,
  );
  const running = networks.map(({ observer, adapter, observationKey }) => {
    const child = log.child({ network: observer.network.name });
    const history = chains.histories.get(observer.network.chain);
    const rebroadcaster = new Rebroadcaster(
      adapter,
      transactions,
      observer.network.rebroadcastAfterMs,
      child,
      config.WATCH_SHARD,
    );
    const watch = new NetworkWatch({
      observer,
      sets,
      watches,
      publisher,
      observationKey,
      rebroadcaster,
      unscreened,
      shard: config.WATCH_SHARD,
      leaseMs: config.WATCH_LEASE_SECONDS * 1_000,
      clock,
      log: child,
    });
    if (history !== undefined && config.DEPOSITS && config.WALLET_CHECK_SECONDS > 0) {
      const check = new MoneyCheck({
        network: observer.network,
        history,
        watching: () => {
          const [head, set] = [watch.readTo, sets.setOf(observer.network.chain)];
          return head === null || set === null ? null : { head, set };
        },
        readTold: (...asked) => readToldOf(database, ...asked),
        now: () => Date.now(),
        log: child,
      });
      const checks = new PeriodicTask({
        work: () => check.check(),
        pauseMs: config.WALLET_CHECK_SECONDS * 1_000,
        onFailure: (error) => child.warn({ err: error }, 'a wallet could not be compared with the ledger: will retry'),
      });
      checks.start();
      service.onShutdown(`checks of ${observer.network.name}`, () => checks.stop());
    }
    return watch;
  });
  const stop = new AbortController();
  const ended = Promise.all(
    running.map((watch) =>
      watch
        .run(stop.signal)
        .catch((error: unknown) => service.crash(error instanceof Error ? error : new Error(String(error)))),
    ),
  );
  service.onShutdown('watches', async () => {
    stop.abort();
    await ended;
  });

  health.serve({
    live: () => running.every((watch) => watch.idleMs() < STUCK_AFTER_MS),
    ready: {
      database: () => database.ready(READY_WITHIN_MS),
      kafka: () => eventLog.ready(READY_WITHIN_MS),
      clock: async () => clock.standing === 'right',
      // A rollout takes no watcher away before the next one could take over at once.
      intents: async () => sets.wasLoaded,
    },
    // An unavailable chain does not make the process unready: taking it out of service would not help.
    reports: {
      clock: () => clock.report(),
      networks: () => Object.fromEntries(running.map((watch) => [watch.name, watch.status])),
    },
  });
});
