import type { Database } from '@pf/database';
import { type HealthAnswer, type HealthChecks, liveness, type Logger, readiness } from '@pf/runtime';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { ApiError, asApiError } from './api-error.ts';
import type { ApiKeys } from './api-keys.ts';
import type { Commands } from './commands.ts';
import { type Endpoint, serve, write } from './endpoint.ts';
import { buildIntent } from './intents/build.ts';
import { createIntent } from './intents/create.ts';
import { fetchIntent } from './intents/fetch.ts';
import type { Adapters } from './intents/lookup.ts';
import { cancelIntent, detectIntent } from './intents/plain-command.ts';
import { refundIntent } from './intents/refund.ts';
import { simulateIntent } from './intents/simulate.ts';
import { submitIntent } from './intents/submit.ts';
import { updateIntent } from './intents/update.ts';
import { requestLog } from './request-log.ts';

export interface AppParts {
  readonly adapters: Adapters;
  readonly commands: Commands;
  readonly database: Database;
  readonly health: HealthChecks;
  readonly keys: ApiKeys;
  readonly log: Logger;
  readonly partitions: number;
}

/** The HTTP API: every request is authenticated, validated and answered in the one shape of its endpoint or of an error. */
export function createApp(parts: AppParts): Express {
  const { health, keys, log } = parts;
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
  app.use(requestLog(log));
  app.get('/healthz', (_request, response) => answerHealth(response, liveness(health)));
  app.get('/readyz', async (_request, response) => answerHealth(response, await readiness(health)));

  const endpoints = [
    createIntent(parts),
    fetchIntent(parts),
    updateIntent(parts),
    buildIntent(parts),
    submitIntent(parts),
    detectIntent(parts),
    cancelIntent(parts),
    refundIntent(parts),
    simulateIntent(parts),
  ];
  for (const [path, operations] of Map.groupBy(endpoints, (endpoint) => endpoint.path)) {
    const route = app.route(`/v1${path}`);
    for (const operation of operations) route[operation.method](serve(operation, keys));
    route.all(methodNotAllowed(operations));
  }
  app.use(() => {
    throw new ApiError('route.not_found');
  });
  app.use(errorHandler(log));
  return app;
}

function answerHealth(response: Response, { status, body }: HealthAnswer): void {
  response.locals['quiet'] = true;
  write(response, status, JSON.stringify(body));
}

function methodNotAllowed(operations: readonly Endpoint[]): () => never {
  // Express answers HEAD where there is GET.
  const allow = operations.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()])).join(', ');
  return () => {
    throw new ApiError('request.method_not_allowed', { message: `This path takes ${allow}.`, headers: { Allow: allow } });
  };
}

/** The last word on every failure. Four parameters: that is how Express knows it. */
const errorHandler =
  (log: Logger) =>
  (thrown: unknown, _request: Request, response: Response, _next: NextFunction): void => {
    const error = asApiError(thrown);
    if (error.status === 500) log.error({ err: thrown }, 'a request failed');
    else if (error.status === 503) log.warn({ code: error.code, err: error.cause }, 'a request could not be served');
    // What has begun to be answered cannot be answered otherwise: the client must see that it broke.
    if (response.headersSent) response.destroy();
    else write(response, error.status, error.body(), error.headers);
  };
