import { forgetExpired, openDatabase, verifySchema } from '@pf/database';
import { Gateway, serveApp } from '@pf/http';
import { loadConfig, PeriodicTask, runService, startHealth } from '@pf/runtime';
import { createApp } from './app.ts';
import { Background } from './background.ts';
import { dashboardVariables, oidcOptions } from './config.ts';
import { createAuth } from './identity/auth.ts';
import { Identity } from './identity/identity.ts';
import { OidcProvider } from './identity/oidc.ts';
import { Passkeys } from './identity/passkeys.ts';
import { AccountNotices } from './insights/notices.ts';
import { Limits } from './limits.ts';
import { createMailer } from './mail/mailer.ts';
import { mailsOf } from './mail/mails.ts';
import { CAPACITY, Forwarding } from './payments/forwarding.ts';
import { Streams } from './streams.ts';
import { TokenHolders } from './tokens/token-holders.ts';

const CONNECTIONS = 6;
/** Those of them for summaries and exports, which may read many rows. */
const SCANS = 2;
/** Connections of clients; further ones are closed. */
const CLIENTS_MAX = 2_000;
const FORGET_EVERY_MS = 60_000;
/** Deleted by one statement. */
const FORGOTTEN_MAX = 1_000;

runService('dashboard', async ({ log, onShutdown }) => {
  const config = loadConfig(dashboardVariables);
  const health = await startHealth(config.HOST, config.HEALTH_PORT, { log, onShutdown });
  const { DASHBOARD_URL: url } = config;
  const oidc = oidcOptions(config);
  const database = openDatabase({
    url: config.DATABASE_URL,
    applicationName: 'dashboard',
    maxConnections: config.DATABASE_CONNECTIONS ?? CONNECTIONS,
    maxScans: SCANS,
    log,
  });
  onShutdown('database', () => database.close());
  await health.until('database', () => verifySchema(database));
  const mailer = createMailer({ url: config.MAIL_URL, from: config.MAIL_FROM, log });
  onShutdown('mail', () => mailer.close());
  const background = new Background(log);
  onShutdown('what follows responses', () => background.close());
  const mails = mailsOf(url.origin);
  const limits = new Limits(database, config.RATE_LIMIT_FACTOR);
  const auth = createAuth({ database, limits, url, secret: config.SESSION_SECRET, mailer, mails, log });
  const retention = new PeriodicTask({
    work: (stopping) => forgetExpired(database, new Date(), FORGOTTEN_MAX, stopping),
    pauseMs: FORGET_EVERY_MS,
    onFailure: (error) => log.warn({ err: error }, 'expired rows could not be deleted'),
  });
  retention.start();
  onShutdown('retention', () => retention.stop());
  const gateway = new Gateway(config.GATEWAY_URL, CAPACITY);
  onShutdown('gateway', () => gateway.close());
  const notices = new AccountNotices(config.REDIS_URL, log);
  onShutdown('notices', () => Promise.resolve(notices.close()));
  const streams = new Streams({ database, log, now: Date.now });
  const serving = {
    database,
    identity: new Identity(auth, database, new Passkeys(url)),
    limits,
    tokens: new TokenHolders(database, config.RATE_LIMIT_FACTOR),
    streams,
    log,
    now: Date.now,
    apiUrl: `${config.API_URL.origin}/v1`,
    origin: url.origin,
  };
  const [passSecret] = config.DASHBOARD_PASS_SECRET;
  const forwarding = new Forwarding({ ...serving, gateway, passSecret });
  const app = createApp({
    ...serving,
    background,
    forwarding,
    mailer,
    mails,
    notices,
    oidc: oidc && new OidcProvider(oidc, url.origin, log),
    trustedProxies: config.TRUSTED_PROXIES,
  });
  const { DASHBOARD_PORT: listensOn, HOST: host, KEEP_ALIVE_SECONDS: keepAliveSeconds } = config;
  const listening = { host, port: listensOn, health, keepAliveSeconds, clientsMax: CLIENTS_MAX, database };
  const port = await serveApp(app, { ...listening, endStreams: () => streams.close() }, onShutdown);
  log.info({ host, port, url: url.origin }, 'listening');
});
