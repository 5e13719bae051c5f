import type { KeyScope } from '@pf/contracts';
import type { KeyHolder } from '@pf/database';
import type { Request, Response } from 'express';
import { type ApiKeys, requireScope } from './api-keys.ts';
import type { Limiter } from './limits/limiter.ts';

/** What an endpoint answers; `body` becomes JSON. */
export interface Answer {
  readonly status: 200 | 201;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One operation of the API. `path` is the pattern below /v1; `scope` the least that a key needs. */
export interface Endpoint {
  readonly method: 'get' | 'patch' | 'post';
  readonly path: string;
  readonly scope: KeyScope;
  /** Null: it has written its answer itself. */
  handle(call: Call): Promise<Answer | null>;
}

/** A request whose key is known and may do this; its body is not read yet. */
export interface Call {
  readonly holder: KeyHolder;
  readonly request: Request;
  readonly response: Response;
}

/** Authenticates, counts, lets the endpoint work, writes its answer. What it throws goes to the application's error handler. */
export const serve =
  (endpoint: Endpoint, keys: ApiKeys, limiter: Limiter) =>
  async (request: Request, response: Response): Promise<void> => {
    response.locals['route'] = `/v1${endpoint.path}`;
    const holder = await keys.holder(request.headers.authorization);
    response.locals['accountId'] = holder.accountId;
    await limiter.admit(holder, request, response);
    requireScope(holder, endpoint.scope);
    const answer = await endpoint.handle({ holder, request, response });
    if (answer) write(response, answer.status, JSON.stringify(answer.body), answer.headers);
  };

/** Writes JSON text as the whole answer. */
export function write(response: Response, status: number, json: string, headers: Readonly<Record<string, string>> = {}): void {
  // Written at once, past Express' own helpers: they would hash the body for an ETag that nobody asked for.
  response.writeHead(status, { ...headers, 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(json) }).end(json);
}
