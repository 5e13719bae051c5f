import type { Database } from '@pf/database';
import type { RedisClient } from '@pf/redis';
import { type HealthAnswer, type HealthChecks, liveness, type Logger, readiness } from '@pf/runtime';
import type { Screening } from '@pf/screening';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { ApiError, asApiError } from './api-error.ts';
import type { ApiKeys } from './api-keys.ts';
import type { Commands } from './commands.ts';
import { openToBrowsers, preflight } from './cors.ts';
import { type Endpoint, serve, write } from './endpoint.ts';
import { followIntent } from './events/events.ts';
import type { Feeds } from './events/feeds.ts';
import { buildIntent } from './intents/build.ts';
import { createIntent } from './intents/create.ts';
import { fetchIntent } from './intents/fetch.ts';
import { listIntents } from './intents/list.ts';
import type { Adapters } from './intents/lookup.ts';
import { cancelIntent, detectIntent } from './intents/plain-command.ts';
import { refundIntent } from './intents/refund.ts';
import { simulateIntent } from './intents/simulate.ts';
import { submitIntent } from './intents/submit.ts';
import { updateIntent } from './intents/update.ts';
import type { Limiter } from './limits/limiter.ts';
import { reference } from './reference/reference.ts';
import { requestLog } from './request-log.ts';
import { listDeliveries } from './webhooks/list.ts';
import { retryDelivery } from './webhooks/retry.ts';

export interface AppDependencies {
  readonly adapters: Adapters;
  readonly commands: Commands;
  readonly database: Database;
  readonly feeds: Feeds;
  readonly health: HealthChecks;
  readonly keys: ApiKeys;
  readonly limiter: Limiter;
  readonly log: Logger;
  readonly partitions: number;
  readonly redis: RedisClient;
  readonly screening: Screening;
  /** Between the client and this process: so many addresses of X-Forwarded-For are believed. Default 0. */
  readonly trustedProxies?: number;
}

/** The HTTP API: every request is authenticated, validated and answered in the one shape of its endpoint or of an error. */
export function createApp(parts: AppDependencies): Express {
  const { health, keys, limiter, log, trustedProxies = 0 } = parts;
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple').set('trust proxy', trustedProxies);
  app.use(requestLog(log));
  app.get('/healthz', (_request, response) => answerHealth(response, liveness(health)));
  app.get('/readyz', async (_request, response) => answerHealth(response, await readiness(health)));

  const endpoints = [
    createIntent(parts),
    listIntents(parts),
    fetchIntent(parts),
    updateIntent(parts),
    buildIntent(parts),
    submitIntent(parts),
    detectIntent(parts),
    cancelIntent(parts),
    refundIntent(parts),
    simulateIntent(parts),
    followIntent(parts),
    listDeliveries(parts),
    retryDelivery(parts),
  ];
  for (const [path, atPath] of Map.groupBy(endpoints, ({ operation }) => operation.path)) {
    // Express writes parameters as `:id`, OpenAPI as `{id}`.
    const route = app.route(`/v1${path.replaceAll(/\{(\w+)\}/g, ':$1')}`);
    // What is for apps in the hands of payers is open to their browsers.
    const forPayers = atPath.filter(({ operation }) => operation.scope === 'payer');
    if (forPayers.length > 0) route.options(preflight(methodsOf(forPayers)));
    for (const { operation } of forPayers) route[operation.method](openToBrowsers);
    for (const endpoint of atPath) route[endpoint.operation.method](serve(endpoint, keys, limiter));
    route.all(methodNotAllowed(atPath));
  }
  app.use('/v1', reference());
  app.use(() => {
    throw new ApiError('route.not_found');
  });
  app.use(errorHandler(log));
  return app;
}

function answerHealth(response: Response, { status, body }: HealthAnswer): void {
  write(response, status, JSON.stringify(body));
}

/** Express answers HEAD where there is GET. */
const methodsOf = (endpoints: readonly Endpoint[]): readonly string[] =>
  endpoints.flatMap(({ operation: { method } }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));

function methodNotAllowed(endpoints: readonly Endpoint[]): () => never {
  const allow = methodsOf(endpoints).join(', ');
  return () => {
    throw new ApiError('request.method_not_allowed', {
      message: `This path takes ${allow}.`,
      headers: { Allow: allow },
    });
  };
}

/** The last word on every failure. Four parameters: that is how Express knows it. */
const errorHandler =
  (log: Logger) =>
  (thrown: unknown, _request: Request, response: Response, _next: NextFunction): void => {
    const error = asApiError(thrown);
    response.locals['errorCode'] = error.code;
    if (error.status === 500) log.error({ err: thrown }, 'a request failed');
    else if (error.status === 503) log.warn({ code: error.code, err: error.cause }, 'a request could not be served');
    // What has begun to be answered cannot be answered otherwise: the client must see that it broke.
    if (response.headersSent) response.destroy();
    else write(response, error.status, error.body(), error.headers);
  };
