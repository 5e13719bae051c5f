import { randomUUID } from 'node:crypto';
import { inSpan, type Logger, SpanKind } from '@pf/runtime';
import type { NextFunction, Request, Response } from 'express';

const SAFE_ID = /^[A-Za-z0-9._:-]{1,64}$/;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Gives each request its id and its span, and writes one line when it is over. Never a key or a body. */
export const requestLog =
  (log: Logger) =>
  (request: Request, response: Response, next: NextFunction): void => {
    const inbound = request.get('x-request-id');
    const requestId = inbound !== undefined && SAFE_ID.test(inbound) ? inbound : `req_${randomUUID()}`;
    const traceparent = request.get('traceparent');
    response.setHeader('X-Request-Id', requestId);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cache-Control', 'no-store');
    const began = performance.now();
    void inSpan(
      request.method,
      { requestId, traceparent: traceparent !== undefined && TRACEPARENT.test(traceparent) ? traceparent : null },
      async (span) => {
        const over = new Promise<void>((resolve) => response.once('close', resolve));
        next();
        await over;
        const { locals, statusCode, writableFinished } = response;
        // The pattern, not the path: as few names as there are routes.
        const route = typeof locals['route'] === 'string' ? locals['route'] : null;
        if (route !== null) span.updateName(`${request.method} ${route}`);
        span.setAttributes({ 'http.request.method': request.method, 'http.response.status_code': statusCode, ...(route !== null && { 'http.route': route }) });
        const line = { method: request.method, route, status: statusCode, ms: Math.round((performance.now() - began) * 10) / 10, accountId: locals['accountId'] as unknown, ...(!writableFinished && { aborted: true }) };
        if (locals['quiet'] === true) log.debug(line, 'request');
        else log.info(line, 'request');
      },
      { kind: SpanKind.SERVER },
    );
  };
