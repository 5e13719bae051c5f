import { openDatabase, verifySchema } from '@pf/database';
import { Gateway, serveApp } from '@pf/http';
import { loadConfig, runService, startHealth } from '@pf/runtime';
import { createApp } from './app.ts';
import { checkoutVariables } from './config.ts';
import { Forwarding } from './forwarding.ts';
import { CONNECTIONS, Limits } from './limits.ts';
import { Merchants } from './merchants.ts';
import { readPage } from './page.ts';

const DATABASE_CONNECTIONS = 4;
/** Connections of clients; further ones are closed. Twice as many as streams, so that requests have room. */
const CLIENTS_MAX = 2 * CONNECTIONS.streams;

runService('checkout', async ({ log, onShutdown }) => {
  const config = loadConfig(checkoutVariables);
  const health = await startHealth(config.HOST, config.HEALTH_PORT, { log, onShutdown });
  const { CHECKOUT_URL: url } = config;
  const page = await readPage();
  const database = openDatabase({
    url: config.DATABASE_URL,
    applicationName: 'checkout',
    maxConnections: config.DATABASE_CONNECTIONS ?? DATABASE_CONNECTIONS,
    log,
  });
  onShutdown('database', () => database.close());
  await health.until('database', () => verifySchema(database));
  const gateway = new Gateway(config.GATEWAY_URL, CONNECTIONS);
  onShutdown('gateway', () => gateway.close());
  const limits = new Limits(config.RATE_LIMIT_FACTOR);
  const merchants = new Merchants(database);
  const forwarding = new Forwarding({ gateway, limits, log, merchants });
  const app = createApp({
    forwarding,
    gateway,
    limits,
    log,
    merchants,
    page,
    trustedProxies: config.TRUSTED_PROXIES,
    url,
  });
  const { CHECKOUT_PORT: listensOn, HOST: host, KEEP_ALIVE_SECONDS: keepAliveSeconds } = config;
  const serving = { host, port: listensOn, health, keepAliveSeconds, clientsMax: CLIENTS_MAX, database };
  const port = await serveApp(app, { ...serving, endStreams: () => forwarding.close() }, onShutdown);
  log.info({ host, port, url: url.origin }, 'listening');
});
