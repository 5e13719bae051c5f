import { OPERATIONS } from '@pf/contracts';
import type { Merchant } from '@pf/database';
import { errorHandler, type Gateway, methodNotAllowed, requestLog, trustProxies, write } from '@pf/http';
import type { Logger } from '@pf/runtime';
import express, { type Express, type RequestHandler } from 'express';
import { asHttpError, notFound } from './errors.ts';
import type { Forwarding } from './forwarding.ts';
import { type Paid, requestedId, unknownIntent } from './ids.ts';
import type { Limits } from './limits.ts';
import { icon, ICON_PATH, logo } from './logo.ts';
import type { Merchants } from './merchants.ts';
import { FILES, pageFiles, pageHeaders } from './page.ts';
import { paymaster } from './paymaster.ts';
import { plainForm, plainPayment, plainStyle, STYLE_PATH } from './plain.ts';
import { solanaPay } from './solana-pay.ts';

export interface AppDependencies {
  readonly forwarding: Forwarding;
  readonly gateway: Gateway;
  readonly limits: Limits;
  readonly log: Logger;
  readonly merchants: Merchants;
  /** The HTML of the page. */
  readonly page: string;
  /** Where people reach this service. */
  readonly url: URL;
  /** Number of proxies in front of this process, whose X-Forwarded-For entries are believed. */
  readonly trustedProxies: number;
}

/** What a client secret allows (docs/reference/contract.md): all that the page needs of the payment API. */
const FORWARDED = [
  OPERATIONS.getIntent,
  OPERATIONS.intentEvents,
  OPERATIONS.detectIntent,
  OPERATIONS.buildIntent,
  OPERATIONS.submitIntent,
  OPERATIONS.getPaymentLink,
  OPERATIONS.chooseOffer,
];
/** The pages, by what is paid there. */
const PAGES = [
  ['/pay/:id', 'intent'],
  ['/link/:id', 'link'],
] as const;
/** Browsers keep to https for two years, once they have seen it. */
const STRICT_TRANSPORT_SECONDS = 63_072_000;

/** The page on which a person pays, what it asks of the payment API, and the merchant that it shows. */
export function createApp(dependencies: AppDependencies): Express {
  const { forwarding, limits, log, merchants, trustedProxies, url } = dependencies;
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
  trustProxies(app, trustedProxies, log);
  app.use(requestLog(log));
  app.use(({ ip }, response, next) => {
    if (url.protocol === 'https:')
      response.setHeader('Strict-Transport-Security', `max-age=${STRICT_TRANSPORT_SECONDS}`);
    limits.admit(ip);
    next();
  });
  for (const [path, kind] of PAGES) {
    app
      .route(path)
      .get(page(dependencies, path, kind))
      .all(methodNotAllowed(['GET']));
    app
      .route(`${path}/merchant`)
      .get(merchant(merchants, path, kind))
      .all(methodNotAllowed(['GET']));
  }
  app
    .route('/logo/:id')
    .get(logo(merchants))
    .all(methodNotAllowed(['GET']));
  app
    .route(ICON_PATH)
    .get(icon)
    .all(methodNotAllowed(['GET']));
  app.get(FILES, pageFiles());
  app
    .route('/plain')
    .get(plainForm)
    .post(plainPayment(dependencies))
    .all(methodNotAllowed(['GET', 'POST']));
  app
    .route(STYLE_PATH)
    .get(plainStyle)
    .all(methodNotAllowed(['GET']));
  app.use(solanaPay(dependencies));
  app.use(paymaster(dependencies));
  for (const operation of FORWARDED)
    app
      .route(`/v1${operation.path.replace('{id}', ':id')}`)
      [operation.method](forwarding.serve(operation))
      .all(methodNotAllowed([operation.method.toUpperCase()]));
  app.use(() => {
    throw notFound();
  });
  app.use(errorHandler(log, asHttpError));
  return app;
}

/** The page. An id alone shows whom it pays (docs/internals/decisions/0025-what-an-id-shows.md). */
const page =
  (
    { log, merchants, page: html }: Pick<AppDependencies, 'log' | 'merchants' | 'page'>,
    path: string,
    kind: Paid,
  ): RequestHandler =>
  async (request, response) => {
    response.locals['route'] = path.replace(':id', '{id}');
    const id = requestedId(request, kind);
    let found: Merchant | null = null;
    let status = 200;
    try {
      found = id === null ? null : await merchants.of(id);
      if (found === null) status = 404;
    } catch (error) {
      // The page tries again and says so. Until it is known whom it pays, no site may frame it.
      log.warn({ err: error }, 'the merchant of a page could not be looked up');
    }
    response.locals['accountId'] = found?.accountId;
    response
      .writeHead(status, {
        ...pageHeaders(found),
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Length': Buffer.byteLength(html),
      })
      .end(html);
  };

/** What the page shows of whom it pays. */
const merchant =
  (merchants: Merchants, path: string, kind: Paid): RequestHandler =>
  async (request, response) => {
    response.locals['route'] = `${path.replace(':id', '{id}')}/merchant`;
    const id = requestedId(request, kind);
    const found = id === null ? null : await merchants.of(id);
    if (!found) throw unknownIntent();
    const { accountId, ...shown } = found;
    response.locals['accountId'] = accountId;
    write(response, 200, JSON.stringify(shown));
  };
