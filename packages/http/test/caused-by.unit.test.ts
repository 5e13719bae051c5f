import { EventEmitter, once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ErrorCode } from '@pf/contracts';
import { createLogger, recordTo } from '@pf/runtime';
import express, { type Express } from 'express';
import { ApiError, errorHandler, Gateway, HttpError, passBody, passHead, requestLog } from '../src/index.ts';

const log = createLogger('test', 'silent');
const recorded = new EventEmitter();
const measured: Readonly<Record<string, string>>[] = [];
const closing: (() => Promise<unknown>)[] = [];

beforeAll(() =>
  recordTo({
    add: () => undefined,
    record: (name, _value, labels) => {
      if (name !== 'http.server.request.duration') return;
      measured.push(labels);
      recorded.emit('measured');
    },
  }),
);
afterEach(async () => {
  measured.length = 0;
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => recordTo(null));

async function listen(app: RequestListener): Promise<string> {
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => once(server.close(), 'close'));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A service that measures its requests, and answers each with what this does. */
function service(answer: (response: express.Response) => Promise<void>): Express {
  const app = express();
  app.use(requestLog(log), async (_request, response) => answer(response));
  app.use(errorHandler(log, (error) => (error instanceof HttpError ? error : new ApiError('internal.error'))));
  return app;
}
const failing = (code: ErrorCode): Express => service(() => Promise.reject(new ApiError(code)));

/** What the services on its way measure of one request. */
async function measuredAt(url: string, services: number): Promise<readonly (readonly (string | undefined)[])[]> {
  const response = await fetch(url, { headers: { connection: 'close' } });
  await response.text();
  while (measured.length < services) await once(recorded, 'measured');
  return measured.map(({ 'http.response.status_code': status, caused_by: by }) => [status, by]);
}

const CASES: readonly (readonly [ErrorCode, string, string | undefined])[] = [
  ['sponsor.unavailable', '503', 'caller'],
  ['transaction.not_visible', '503', 'caller'],
  ['rpc.unavailable', '503', undefined],
  ['service.unavailable', '503', undefined],
  ['internal.error', '500', undefined],
  ['rate_limit.exceeded', '429', undefined],
];

describe('the duration of a request', () => {
  it.each(CASES)('has the labels of the error %s: status %s, caused by %s', async (code, status, by) => {
    expect(await measuredAt(await listen(failing(code)), 1)).toEqual([[status, by]]);
  });

  it.each(CASES)('has them where a gateway returns %s: status %s, caused by %s', async (code, status, by) => {
    const gateway = new Gateway(new URL(await listen(failing(code))), { requests: 1, streams: 1 });
    closing.push(() => gateway.close());
    const page = service(async (response) => {
      const signal = AbortSignal.timeout(5_000);
      const answer = await gateway.request({ method: 'GET', path: '/', headers: {}, body: null, signal });
      passHead(answer, response);
      await passBody(answer, response, signal, () => undefined);
    });
    expect(await measuredAt(await listen(page), 2)).toEqual([
      [status, by],
      [status, by],
    ]);
  });
});
