import type { NextFunction, Request, Response } from 'express';

/** What pages of any origin may send, and read of an answer, on the routes of payers. No cookies are ever meant. */
const REQUEST_HEADERS = 'Authorization, Content-Type, Last-Event-ID, X-Request-Id';
const ANSWER_HEADERS = 'X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, Idempotent-Replayed';
/** As long as any browser remembers it. */
const MAX_AGE_SECONDS = 7_200;

/** Lets pages of any origin read the answers, errors too: an app in a payer's browser has its key in the header, so there is nothing to ride on. */
export function openToBrowsers(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Expose-Headers', ANSWER_HEADERS);
  next();
}

/** Answers what a browser asks before it sends a request with a key: it asks without one. */
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
