import type { Operation } from '@pf/contracts';
import { USER_AGENT } from '@pf/runtime';
import type { Request, Response } from 'express';
import { type Dispatcher, Pool } from 'undici';
import { z } from 'zod';
import { ApiError } from './http-error.ts';
import { writeParts } from './streams.ts';

const CONNECT_MS = 2_000;
/** Longer than any request takes: a test event waits 20 s for its receiver. */
const HEADERS_MS = 30_000;
/** Longer than a stream is silent: a comment is due every 15 s. */
const SILENCE_MS = 40_000;
/** Larger than any response but a stream. */
const RESPONSE_BYTES_MAX = 32 * 1024 * 1024;
/** The headers of a response that reach the client. Those of the connection, and for other origins, do not. */
const RETURNED = [
  'cache-control',
  'content-length',
  'content-type',
  'idempotent-replayed',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'vary',
  'x-accel-buffering',
] as const;
const STREAM = 'text/event-stream';
const BODY_TYPES = /^(application\/json|text\/event-stream)\b/;

/** The most requests at once, and the most open streams, of this process. */
export interface GatewayCapacity {
  readonly requests: number;
  readonly streams: number;
}

/** A request to the gateway. */
export interface GatewayRequest {
  readonly method: Dispatcher.HttpMethod;
  /** With `/v1` and the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  readonly signal: AbortSignal;
}

/** The gateway's response. */
export interface GatewayResponse extends Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'> {
  readonly body: AsyncIterable<Uint8Array> | readonly string[];
  /** The whole body; instead of `body`. */
  readonly text: () => Promise<string>;
  /** Of a 5xx: which error it is, for the log and the metrics of the service that asked. */
  readonly errorCode?: string | undefined;
}

const failed = z.object({ error: z.object({ code: z.string() }) });

/**
 * The gateway as other services call it for their clients. Streams have connections of their own: they take none of the
 * requests'.
 */
export class Gateway {
  readonly #requests: Pool;
  readonly #streams: Pool;

  /** @param url its origin */
  constructor(url: URL, { requests, streams }: GatewayCapacity) {
    const options: Pool.Options = {
      connect: { timeout: CONNECT_MS },
      headersTimeout: HEADERS_MS,
      bodyTimeout: SILENCE_MS,
    };
    this.#requests = new Pool(url.origin, {
      ...options,
      connections: requests,
      maxResponseSize: RESPONSE_BYTES_MAX,
    });
    this.#streams = new Pool(url.origin, { ...options, connections: streams });
  }

  /** @throws ApiError `service.unavailable` if the gateway does not respond, or not as the payment API does */
  async request(request: GatewayRequest): Promise<GatewayResponse> {
    return ask(this.#requests, request);
  }

  /** The same for a response that may be a stream. */
  async stream(request: GatewayRequest): Promise<GatewayResponse> {
    return ask(this.#streams, request);
  }

  async close(): Promise<void> {
    await Promise.all([this.#requests.destroy(), this.#streams.destroy()]);
  }
}

async function ask(pool: Pool, request: GatewayRequest): Promise<GatewayResponse> {
  const { statusCode, headers, body } = await pool.request(named(request)).catch((error: unknown) => {
    throw gatewayUnavailable(error);
  });
  if (!BODY_TYPES.test(String(headers['content-type']))) {
    body.destroy();
    throw gatewayUnavailable(new Error(`the gateway responded with ${statusCode} and no JSON`));
  }
  if (statusCode < 500) return { statusCode, headers, body, text: () => body.text() };
  const text = await body.text().catch((error: unknown) => {
    throw gatewayUnavailable(error);
  });
  const errorCode = failed.safeParse(jsonIn(text)).data?.error.code;
  return { statusCode, headers, body: [text], text: async () => text, errorCode };
}

const named = (request: GatewayRequest): GatewayRequest => ({
  ...request,
  headers: { 'user-agent': USER_AGENT, ...request.headers },
});

/** Undefined for what is not JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** 503: the gateway could not be asked. */
export const gatewayUnavailable = (cause: unknown): ApiError =>
  new ApiError('service.unavailable', { message: 'The payment API does not respond.', cause });

/** Begins the client's response as the gateway's began. */
export function passHead({ statusCode, headers, errorCode }: GatewayResponse, response: Response): void {
  response.locals['errorCode'] = errorCode;
  for (const name of RETURNED) {
    const value = headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
  response.writeHead(statusCode);
}

/**
 * Passes the body on as fast as the client reads it, and ends the response.
 * @param ending aborted when the client has disconnected, its stream ends, or its time is over: what it has not read
 *   by then is broken off
 * @param onBroken told why the gateway's response broke off
 */
export async function passBody(
  { body }: GatewayResponse,
  response: Response,
  ending: AbortSignal,
  onBroken: (error: unknown) => void,
): Promise<void> {
  try {
    await writeParts(body, response, ending);
    if (!response.writableEnded) response.destroy();
  } catch (error) {
    onBroken(error);
    // It cannot become an error anymore: the connection is closed, so that the client notices.
    response.destroy();
  }
}

/** Whether the client asks for a stream, and the operation has one. */
export function wantsStream(operation: Operation, request: Request): boolean {
  const types = Object.keys(operation.responses[200]?.content ?? {});
  return request.method === 'GET' && types.includes(STREAM) && request.accepts(types) === STREAM;
}

/** The path with the decoded parameters of the request, which cannot lead to another one, and the query. */
export function gatewayPath({ path }: Operation, { params, originalUrl }: Request): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) =>
    encodeURIComponent(String(params[name])).replaceAll('.', '%2E'),
  );
  const query = originalUrl.indexOf('?');
  return `/v1${filled}${query === -1 ? '' : originalUrl.slice(query)}`;
}
