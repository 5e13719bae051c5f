import type { Logger } from '@pf/runtime';
import type { Express } from 'express';

/**
 * Says how many proxies are in front of an app, whose X-Forwarded-For entries are believed. With none, the first
 * request that a proxy seems to have forwarded is logged: at start-up nothing is known of proxies, and behind one all
 * clients have the same address.
 */
export function trustProxies(app: Express, trustedProxies: number, log: Pick<Logger, 'warn'>): void {
  app.set('trust proxy', trustedProxies);
  let warned = trustedProxies > 0;
  app.use(({ headers }, _response, next) => {
    if (!warned && (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined)) {
      warned = true;
      log.warn(
        'a request has X-Forwarded-For or Forwarded, but TRUSTED_PROXIES is 0: behind a proxy all clients share the ' +
          'limits of one address. Set TRUSTED_PROXIES to the number of proxies in front of this process. Without a ' +
          'proxy, the client has made the header up: ignore it.',
      );
    }
    next();
  });
}
