import type { Operation } from '@pf/contracts';
import { write } from '@pf/http';
import type { Request, Response } from 'express';
import { type ApiKeys, type Holder, requireScope } from './api-keys.ts';
import type { KeyUses } from './key-uses.ts';
import type { Limiter } from './limits/limiter.ts';

/** The successful response of an endpoint; `body` becomes JSON. */
export interface EndpointResponse {
  readonly status: 200 | 201;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The implementation of one operation. The operation itself, and so the OpenAPI document, is in packages/contracts. */
export interface Endpoint {
  readonly operation: Operation;
  /** Resolves with null if it has written the response itself. */
  handle(call: Call): Promise<EndpointResponse | null>;
}

/** A request with a valid key of sufficient scope, or a pass; its body has not been read yet. */
export interface Call {
  readonly holder: Holder;
  readonly request: Request;
  readonly response: Response;
}

/** What decides whether a request is served, and remembers that it was. */
interface Admission {
  readonly keys: ApiKeys;
  readonly limiter: Limiter;
  readonly uses: Pick<KeyUses, 'used'>;
}

/** Authenticates, rate-limits and authorizes a request, calls its endpoint and writes the response. */
export const serve =
  (endpoint: Endpoint, { keys, limiter, uses }: Admission) =>
  async (request: Request, response: Response): Promise<void> => {
    response.locals['route'] = `/v1${endpoint.operation.path}`;
    const holder = await keys.holder(request.headers.authorization);
    response.locals['accountId'] = holder.accountId;
    if (holder.userId === undefined) uses.used(holder.keyId);
    else response.locals['userId'] = holder.userId;
    await limiter.admit(holder, request, response);
    requireScope(holder, endpoint.operation.scope);
    const result = await endpoint.handle({ holder, request, response });
    if (result) write(response, result.status, JSON.stringify(result.body), result.headers);
  };
