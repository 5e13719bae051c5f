import { OPERATIONS } from '@pf/contracts';
import { DASHBOARD_OPERATIONS, dashboardDocument, type DashboardOperationId } from '@pf/contracts/dashboard';
import type { Database } from '@pf/database';
import { errorHandler, methodNotAllowed, requestLog, trustProxies, write } from '@pf/http';
import type { Logger } from '@pf/runtime';
import express, { type Express, type RequestHandler } from 'express';
import { accountEndpoints } from './accounts/endpoints.ts';
import { auditEndpoints } from './audit/endpoints.ts';
import type { Background } from './background.ts';
import { asHttpError, DashboardError } from './dashboard-error.ts';
import { type Handler, serve } from './endpoint.ts';
import { signInEndpoints } from './identity/endpoints.ts';
import type { Identity } from './identity/identity.ts';
import type { OidcProvider } from './identity/oidc.ts';
import { oidcEndpoints } from './identity/oidc-endpoints.ts';
import { passkeyEndpoints } from './identity/passkey-endpoints.ts';
import { insightEndpoints } from './insights/endpoints.ts';
import type { AccountNotices } from './insights/notices.ts';
import { keyEndpoints } from './keys/endpoints.ts';
import type { Limits } from './limits.ts';
import type { Mailer } from './mail/mailer.ts';
import type { Mails } from './mail/mails.ts';
import type { Forwarding } from './payments/forwarding.ts';
import { settingsEndpoints } from './settings/endpoints.ts';
import type { Streams } from './streams.ts';
import { deviceEndpoints } from './tokens/device-endpoints.ts';
import { tokenEndpoints } from './tokens/endpoints.ts';
import type { TokenHolders } from './tokens/token-holders.ts';
import { webApplication } from './web-application.ts';

export interface AppDependencies {
  /** Of the payment API, for programs. */
  readonly apiUrl: string;
  readonly background: Background;
  readonly database: Database;
  readonly forwarding: Forwarding;
  readonly identity: Identity;
  readonly limits: Limits;
  readonly log: Logger;
  readonly mailer: Mailer;
  readonly mails: Mails;
  readonly notices: AccountNotices;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Null: people do not sign in elsewhere. */
  readonly oidc: OidcProvider | null;
  /** Of the dashboard. */
  readonly origin: string;
  readonly streams: Streams;
  readonly tokens: TokenHolders;
  /** Number of proxies in front of this process, whose X-Forwarded-For entries are believed. */
  readonly trustedProxies: number;
}

/** An operation and what serves it. */
interface Route {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Relative to `/api`, parameters in braces. */
  readonly path: string;
  readonly serve: RequestHandler;
}

/**
 * The dashboard's API: every operation of packages/contracts/src/dashboard/operations.ts has an endpoint, and every
 * operation of the payment API is forwarded. Beside it the web application.
 */
export function createApp(dependencies: AppDependencies): Express {
  const { log, trustedProxies } = dependencies;
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
  trustProxies(app, trustedProxies, log);
  app.use(requestLog(log));
  app.use(({ ip }, _response, next) => {
    dependencies.limits.admitAddress(ip);
    next();
  });
  const handlers: { readonly [Id in DashboardOperationId]: Handler<(typeof DASHBOARD_OPERATIONS)[Id]> } = {
    ...signInEndpoints(dependencies),
    ...passkeyEndpoints(dependencies),
    ...oidcEndpoints(dependencies),
    ...accountEndpoints(dependencies),
    ...keyEndpoints(dependencies),
    ...settingsEndpoints(dependencies),
    ...tokenEndpoints(dependencies),
    ...deviceEndpoints(dependencies),
    ...auditEndpoints(dependencies),
    ...insightEndpoints(dependencies),
  };
  // Each handler is that of its operation: the type of `handlers` says so.
  const own = Object.values(DASHBOARD_OPERATIONS).map((operation): Route => ({
    ...operation,
    serve: serve(operation, handlers[operation.id] as never, dependencies),
  }));
  const forwarded = (['test', 'live'] as const).flatMap((mode) =>
    Object.values(OPERATIONS).map((operation): Route => ({
      method: operation.method,
      path: `/accounts/{accountId}/${mode}/v1${operation.path}`,
      serve: dependencies.forwarding.serve(operation, mode),
    })),
  );
  for (const [path, atPath] of Map.groupBy([...own, ...forwarded], (route) => route.path)) {
    // Express writes parameters as `:id`, OpenAPI as `{id}`.
    const route = app.route(`/api${path.replaceAll(/\{(\w+)\}/g, ':$1')}`);
    for (const { method, serve: handler } of atPath) route[method](handler);
    route.all(methodNotAllowed(atPath.map(({ method }) => method.toUpperCase())));
  }
  const document = JSON.stringify(dashboardDocument(Object.values(DASHBOARD_OPERATIONS), '/api'));
  app.get('/api/openapi.json', (_request, response) => write(response, 200, document));
  app.get(/^\/(?!api(\/|$))/, webApplication());
  app.use(() => {
    throw new DashboardError('route.not_found');
  });
  app.use(errorHandler(log, asHttpError));
  return app;
}
