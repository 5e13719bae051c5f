import { randomUUID } from 'node:crypto';
import { ColdBundles, openStore } from '@pf/archive/cold';
import { createChains, upstreamsOf } from '@pf/chains';
import { MeasuredClock } from '@pf/clock';
import { type Reply, STREAM_LIMITS } from '@pf/contracts';
import {
  commandSeal,
  createStore,
  type Database,
  findSponsors,
  hasSponsor,
  openDatabase,
  readDatabaseTime,
  shareOf,
  verifySchema,
  verifySecretsKey,
} from '@pf/database';
import type { AccountId, ChainId } from '@pf/domain';
import { createSender, egressOptions } from '@pf/egress';
import { createEventLog, eventLogOptions } from '@pf/event-log';
import { HttpServer } from '@pf/http';
import { RedisClient } from '@pf/redis';
import { loadConfig, runService, startHealth, within } from '@pf/runtime';
import { openScreening } from '@pf/screening';
import { ApiKeys } from './api-keys.ts';
import { AmountKeeper } from './deposits/amount-keeper.ts';
import { createApp } from './app.ts';
import { ClientSecrets } from './client-secrets.ts';
import { Commands } from './commands.ts';
import { gatewayVariables } from './config.ts';
import { Feeds } from './events/feeds.ts';
import { MppChallenges } from './mpp/challenges.ts';
import { ColdIntents, withCold } from './intents/cold-intents.ts';
import { IntentHolders } from './intent-holders.ts';
import { KeyUses } from './key-uses.ts';
import { LatePublisher } from './late-publisher.ts';
import { CommandTurns } from './limits/command-turns.ts';
import { Limiter } from './limits/limiter.ts';
import { OpenStreams } from './limits/open-streams.ts';
import { Readings } from './limits/readings.ts';
import { RateLimits } from './limits/rate-limits.ts';
import { SharedBuckets } from './limits/shared-buckets.ts';
import { Strangers } from './limits/strangers.ts';
import { LinkTurns } from './limits/link-turns.ts';
import { Waits } from './limits/waits.ts';
import { Outcomes } from './outcomes.ts';
import { PaymentLinkKeeper } from './payment-links/keeper.ts';
import { ReplyChannel } from './reply-channel.ts';
import { RequestRecords } from './request-records.ts';
import { SPONSOR_KEPT_BYTES, SPONSOR_TIMEOUT_MS, SponsorCalls } from './sponsors/sponsor-calls.ts';
import { LateWakeQueue } from './webhooks/wake.ts';

/** A dependency that does not respond to a probe within this time is unavailable. */
const PROBE_MS = 1_000;
/** How long the start waits for Kafka. */
const LOG_WITHIN_MS = 10_000;
/** Connections to Postgres. */
const CONNECTIONS = 8;
/** Those of them for lists by metadata, which may read many rows, and for the records of requests. */
const SCANS = 2;
/** Those of either kind that test mode leaves free. Keys that may be guesses are looked up on two of them at most. */
const NOT_TEST = { sql: 3, scans: 1 } as const;
/**
 * Those of either kind that the requests of one account in one mode have at once, and as many those of its payers. One
 * key, person or address of them leaves the others one.
 */
const PER_OWNER = 2;
/** Connections of clients; further ones are closed. Twice as many as streams, so that requests have room. */
const CLIENTS_MAX = 2 * STREAM_LIMITS.all;

runService('gateway', async ({ log, onShutdown }) => {
  const config = loadConfig(gatewayVariables);
  const health = await startHealth(config.HOST, config.HEALTH_PORT, { log, onShutdown });
  const connections = config.DATABASE_CONNECTIONS ?? CONNECTIONS;

  const database = openDatabase({
    url: config.DATABASE_URL,
    applicationName: 'gateway',
    maxConnections: connections,
    maxScans: SCANS,
    log,
  });
  const most = { sql: connections - SCANS, scans: SCANS, perOwner: PER_OWNER };
  const liveDatabase = { ...database, ...shareOf(database, most) };
  const ofTest = { ...most, sql: most.sql - NOT_TEST.sql, scans: most.scans - NOT_TEST.scans };
  const testDatabase = { ...database, ...shareOf(database, ofTest) };
  onShutdown('database', () => database.close());
  await health.until('database', async () => {
    await verifySchema(database);
    await verifySecretsKey(database, config.SECRETS_KEY);
  });
  const clock = new MeasuredClock({
    references: [{ name: 'postgres', read: () => readDatabaseTime(database) }],
    log,
    whileWrong: 'it uses the time of Postgres, as always',
  });
  onShutdown('clock', () => clock.stop());
  await clock.start();
  const now = (): number => clock.referenceTime();
  const chains = createChains({ upstreams: upstreamsOf(config), log, now });
  onShutdown('chains', () => chains.close());
  const screening = openScreening(config, log);
  onShutdown('screening', () => screening.close());

  const archive = config.ARCHIVE_URL && openStore(config.ARCHIVE_URL);
  const storeOf = (of: Database) => {
    const store = createStore(of);
    const cold = new ColdIntents(of, archive ? new ColdBundles(archive, config.SECRETS_KEY) : null);
    const findSponsor = async (accountId: AccountId, chain: ChainId) =>
      (await findSponsors(of, config.SECRETS_KEY, accountId, [chain]))[0] ?? null;
    return {
      cold,
      database: of,
      ...store,
      intents: withCold(store.intents, cold),
      findSponsor,
      hasSponsor: (accountId: AccountId, chain: ChainId) => hasSponsor(of, accountId, chain),
    };
  };
  const stores = { live: storeOf(liveDatabase), test: storeOf(testDatabase) };
  const outcomes = new Outcomes(stores.live.intents, log);
  const listener = { replied: (reply: Reply) => outcomes.settle(reply), lost: outcomes.lookUpAll.bind(outcomes) };
  const replies = new ReplyChannel(config.REDIS_URL, randomUUID(), config.REPLY_SECRET, listener, log);
  replies.open();
  onShutdown('replies', () => replies.close());

  const eventLog = createEventLog(eventLogOptions(config, 'gateway', log));
  const publisher = new LatePublisher();
  onShutdown('publisher', () => publisher.close());
  const connected = health.until('kafka', async () => {
    await eventLog.verifyTopics();
    publisher.opened(await eventLog.publisher());
  });
  // Longer than it takes where Kafka is there. After that the gateway serves what needs none.
  await within(LOG_WITHIN_MS, connected);

  const redis = new RedisClient(config.REDIS_URL, { log, withoutRedis: 'each gateway counts requests by itself' });
  redis.open();
  onShutdown('redis', () => redis.close());
  const wakes = new LateWakeQueue({ redisUrl: config.REDIS_URL, prefix: config.REDIS_PREFIX, log });
  onShutdown('wakes', () => wakes.close());
  const feeds = new Feeds(database, config.REDIS_URL, log);
  feeds.open();

  const uses = new KeyUses({ database, log, now });
  uses.start();
  onShutdown('key uses', () => uses.stop());
  const records = new RequestRecords({ database, log });
  records.start();
  onShutdown('request records', () => records.stop());

  const turns = new CommandTurns(config.RATE_LIMIT_FACTOR);
  const seal = config.SEAL_PERSONAL_DATA ? commandSeal(config.SECRETS_KEY) : null;
  const commands = new Commands(publisher, replies, outcomes, turns, seal);
  const keeper = new PaymentLinkKeeper({ commands, database, log, now, wakes });
  keeper.start();
  onShutdown('payment links', () => keeper.stop());
  const matches = new AmountKeeper({ adapters: chains.adapters, commands, log, now, screening, stores });
  matches.start();
  onShutdown('matches by amount', () => matches.stop());

  const sender = createSender({
    ...egressOptions(config),
    timeoutMs: SPONSOR_TIMEOUT_MS,
    keptBytes: SPONSOR_KEPT_BYTES,
  });
  onShutdown('sponsors', () => sender.close());

  let listening = false;
  const strangers = new Strangers(config.RATE_LIMIT_FACTOR);
  const server = new HttpServer(
    createApp({
      adapters: chains.adapters,
      payByAmount: config.PAY_BY_AMOUNT,
      clientSecrets: new ClientSecrets(config.SECRETS_KEY, config.CHECKOUT_URL),
      commands,
      feeds,
      mppChallenges: new MppChallenges(config.SECRETS_KEY),
      intentHolders: new IntentHolders({ live: database, test: testDatabase }),
      keyring: config.SECRETS_KEY,
      keys: new ApiKeys(database, {
        now,
        passSecrets: config.DASHBOARD_PASS_SECRET,
        strangers,
      }),
      limiter: new Limiter(new RateLimits(new SharedBuckets(redis, config.REDIS_PREFIX)), config.RATE_LIMIT_FACTOR),
      log,
      now,
      partitions: eventLog.partitions,
      readings: new Readings(config.RATE_LIMIT_FACTOR),
      records,
      screening,
      sponsorCalls: new SponsorCalls({ sender, log }),
      stores,
      strangers,
      streams: new OpenStreams(config.RATE_LIMIT_FACTOR),
      turns: new LinkTurns(),
      waits: new Waits(config.RATE_LIMIT_FACTOR),
      trustedProxies: config.TRUSTED_PROXIES,
      webhookAllowHttp: config.WEBHOOK_ALLOW_HTTP,
      uses,
      wakes,
    }),
    { keepAliveTimeout: config.KEEP_ALIVE_SECONDS * 1_000 },
    CLIENTS_MAX,
  );
  health.serve({
    live: () => true,
    // Not Redis: without it replies are only slower. Not the chains: most requests need none.
    ready: {
      database: () => database.ready(PROBE_MS),
      server: () => Promise.resolve(listening && !server.closing),
    },
    // Reads, lists and streams need no Kafka; commands get a 503 meanwhile, which counts as an error.
    partly: { kafka: () => eventLog.ready(PROBE_MS) },
  });
  onShutdown('server', async () => {
    const closed = server.close();
    // The gateway is not ready anymore, so clients of the streams reconnect to another one.
    feeds.close();
    await closed;
  });
  // Opens the connections first: once ready, the gateway gets its full share of requests. Starts without the database
  // too.
  await Promise.all(Array.from({ length: connections }, () => database.ready(PROBE_MS)));
  const port = await server.listen(config.HOST, config.GATEWAY_PORT);
  listening = true;
  log.info({ host: config.HOST, port, chains: [...chains.adapters.keys()] }, 'listening');
});
