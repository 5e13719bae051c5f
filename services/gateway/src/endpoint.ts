import type { Operation } from '@pf/contracts';
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

/** How one operation of the API is done. What it takes and can answer stands in the contract, and so in the OpenAPI document. */
export interface Endpoint {
  readonly operation: Operation;
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
    response.locals['route'] = `/v1${endpoint.operation.path}`;
    const holder = await keys.holder(request.headers.authorization);
    response.locals['accountId'] = holder.accountId;
    await limiter.admit(holder, request, response);
    requireScope(holder, endpoint.operation.scope);
    const answer = await endpoint.handle({ holder, request, response });
    if (answer) write(response, answer.status, JSON.stringify(answer.body), answer.headers);
  };

/** Writes JSON text as the whole answer. */
export function write(
  response: Response,
  status: number,
  json: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  // Written at once, past Express' own helpers: they would hash the body for an ETag that nobody asked for.
  response
    .writeHead(status, {
      ...headers,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(json),
    })
    .end(json);
}
