import type { NextFunction, Request, Response } from 'express';

/** The headers that pages of any origin may send and read on the routes for payers. Cookies are never used. */
const REQUEST_HEADERS = 'Accept-Payment, Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Request-Id';
const RESPONSE_HEADERS =
  'X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, Idempotent-Replayed, WWW-Authenticate, Payment-Receipt';
/** The longest time that any browser caches a preflight response. */
const MAX_AGE_SECONDS = 7_200;

/**
 * Lets pages of any origin read responses and errors. Safe without cookies: the key is in a header that a page must
 * set.
 */
export function openToBrowsers(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Expose-Headers', RESPONSE_HEADERS);
  next();
}

/** Responds to a browser's preflight request, which has no API key. */
export const preflight =
  (methods: readonly string[]) =>
  (_request: Request, response: Response): void => {
    response
      .writeHead(204, {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Methods': methods.join(', '),
        'Access-Control-Allow-Headers': REQUEST_HEADERS,
        'Access-Control-Max-Age': MAX_AGE_SECONDS,
      })
      .end();
  };
