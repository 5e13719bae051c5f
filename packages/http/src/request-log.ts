import { randomUUID } from 'node:crypto';
import { CLIENT_SECRETS, isCausedByCaller } from '@pf/contracts';
import { add, inSpan, inWork, type Logger, markFailed, recordDuration, type Span, SpanKind } from '@pf/runtime';
import type { NextFunction, Request, Response } from 'express';

const SAFE_ID = /^[A-Za-z0-9._:-]{1,64}$/;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
/** The methods of RFC 9110 and PATCH. Clients can send any other, and a metric label must not have unbounded values. */
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'CONNECT',
  'TRACE',
]);
/** What opens an intent: its tokens belong into paths, a client secret may be put there by mistake. */
const MARKS = new Set(Object.values(CLIENT_SECRETS).map(({ mark }) => mark));
const SECRET_IN_PATH = new RegExp(`(${[...MARKS].join('|')})[^/]+`, 'g');
const ATTRIBUTE_LENGTH_MAX = 200;
/** nginx' status for a client that disconnected before the response. */
const CLIENT_CLOSED_REQUEST = 499;

/** The status with which a request has ended. */
export const statusOf = ({ headersSent, statusCode }: Pick<Response, 'headersSent' | 'statusCode'>): number =>
  headersSent ? statusCode : CLIENT_CLOSED_REQUEST;

/** The path of a request as it may be kept: without secrets, and no longer than 200 characters. */
export const shownPath = ({ path }: Pick<Request, 'path'>): string =>
  path.replaceAll(SECRET_IN_PATH, '$1[redacted]').slice(0, ATTRIBUTE_LENGTH_MAX);

/** Gives each request its id and span, measures it, and logs one line when it ends: never a key or a body. */
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
    const method = METHODS.has(request.method) ? request.method : '_OTHER';
    add('http.server.active_requests', 1, { 'url.scheme': 'http' });
    void inSpan(
      method,
      { requestId, traceparent: traceparent !== undefined && TRACEPARENT.test(traceparent) ? traceparent : null },
      async (span) => {
        const closed = new Promise<void>((resolve) => response.once('close', resolve));
        const { locals } = response;
        inWork(() => `${method} ${String(locals['route'] ?? 'unknown')}`, next);
        await closed;
        const { writableFinished } = response;
        // The route's pattern, not the path, so that the number of values is bounded.
        const route = typeof locals['route'] === 'string' ? locals['route'] : null;
        const status = statusOf(response);
        add('http.server.active_requests', -1, { 'url.scheme': 'http' });
        recordDuration('http.server.request.duration', began, {
          'http.request.method': method,
          ...(route !== null && { 'http.route': route }),
          'http.response.status_code': String(status),
          'url.scheme': 'http',
          ...(status >= 500 && isCausedByCaller(String(locals['errorCode'])) && { caused_by: 'caller' }),
        });
        finish(span, { method, route, status, locals });
        const line = {
          method: request.method,
          route,
          status: response.statusCode,
          ms: Math.round((performance.now() - began) * 10) / 10,
          accountId: locals['accountId'] as unknown,
          userId: locals['userId'] as unknown,
          ...(!writableFinished && { aborted: true }),
        };
        log.info(line, 'request');
      },
      {
        kind: SpanKind.SERVER,
        ofStranger: true,
        attributes: {
          'http.request.method': method,
          'url.scheme': 'http',
          'url.path': shownPath(request),
          'network.protocol.version': request.httpVersion,
          ...agentOf(request),
        },
      },
    );
  };

function agentOf(request: Request): { readonly 'user_agent.original'?: string } {
  const agent = request.get('user-agent');
  return agent === undefined ? {} : { 'user_agent.original': agent.slice(0, ATTRIBUTE_LENGTH_MAX) };
}

function finish(
  span: Span,
  {
    method,
    route,
    status,
    locals,
  }: {
    readonly method: string;
    readonly route: string | null;
    readonly status: number;
    readonly locals: Record<string, unknown>;
  },
): void {
  if (!span.isRecording()) return;
  if (route !== null) span.updateName(`${method} ${route}`).setAttribute('http.route', route);
  span.setAttribute('http.response.status_code', status);
  const { accountId, errorCode } = locals;
  if (typeof accountId === 'string') span.setAttribute('payments.account.id', accountId);
  if (typeof errorCode === 'string') span.setAttribute('payments.error.code', errorCode);
  // A client's mistake is not a failure of the service.
  if (status >= 500) markFailed(span, typeof errorCode === 'string' ? errorCode : String(status));
}
