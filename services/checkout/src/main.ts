import { openDatabase } from '@pf/database';
import { Gateway, HttpServer } from '@pf/http';
import { loadConfig, runService, serveHealth } from '@pf/runtime';
import { createApp } from './app.ts';
import { checkoutVariables } from './config.ts';
import { Forwarding } from './forwarding.ts';
import { CAPACITY, Limits } from './limits.ts';
import { Merchants } from './merchants.ts';
import { readPage } from './page.ts';

/** A dependency that does not respond to a probe within this time is unavailable. */
const PROBE_MS = 1_000;
const CONNECTIONS = 4;
/** Connections of clients; further ones are closed. Twice as many as streams, so that requests have room. */
const CLIENTS_MAX = 2 * CAPACITY.streams;

runService('checkout', async ({ log, onShutdown }) => {
  const config = loadConfig(checkoutVariables);
  const { CHECKOUT_URL: url } = config;
  const page = await readPage();
  const database = openDatabase({
    url: config.DATABASE_URL,
    applicationName: 'checkout',
    maxConnections: config.DATABASE_CONNECTIONS ?? CONNECTIONS,
    onError: (error) => log.warn({ err: error }, 'a database connection broke'),
  });
  onShutdown('database', () => database.close());
  const gateway = new Gateway(config.GATEWAY_URL, CAPACITY);
  onShutdown('gateway', () => gateway.close());
  const limits = new Limits(config.RATE_LIMIT_FACTOR);
  const forwarding = new Forwarding({ gateway, limits, log });
  const app = createApp({
    forwarding,
    gateway,
    limits,
    log,
    merchants: new Merchants(database),
    page,
    trustedProxies: config.TRUSTED_PROXIES,
    url,
  });
  const server = new HttpServer(app, undefined, CLIENTS_MAX);
  const health = await serveHealth(config.HOST, config.HEALTH_PORT, {
    live: () => true,
    ready: {
      database: () => database.ready(PROBE_MS),
      server: () => Promise.resolve(!server.closing),
    },
  });
  onShutdown('health', () => health.close());
  const port = await server.listen(config.HOST, config.CHECKOUT_PORT);
  onShutdown('server', async () => {
    const closed = server.close();
    // The service is not ready anymore, so clients of the streams reconnect to another process.
    forwarding.close();
    await closed;
  });
  log.info({ host: config.HOST, port, url: url.origin }, 'listening');
});
