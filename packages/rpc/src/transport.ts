import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { RpcUpstreamError } from './errors.ts';

export interface JsonRpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

const jsonRpcResponse = z.object({
  id: z.number().nullable(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).nullish(),
});
export type JsonRpcResponse = z.infer<typeof jsonRpcResponse>;

/** Errors that occur while connecting: nothing was sent. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

// Not `instanceof Error`: system errors come from another realm where modules run in a context of their own (Jest).
const failure = z
  .object({ code: z.string().optional().catch(undefined), name: z.string().catch('failed') })
  .catch({ name: 'failed' });
/** What ended a request: the code of the system or of undici; `TimeoutError` for one that took too long. */
const reasonOf = (cause: unknown): string => {
  const { code, name } = failure.parse(cause);
  return code ?? name;
};

const envelope = ({ method, params }: JsonRpcRequest, id: number): object => ({ jsonrpc: '2.0', id, method, params });

/** How requests reach one upstream. Both methods throw RpcUpstreamError without a usable response. */
export interface RpcTransport {
  /** For logs and metrics. */
  readonly name: string;
  request(request: JsonRpcRequest): Promise<JsonRpcResponse>;
  /** @returns the responses in the order of the requests */
  batch(requests: readonly JsonRpcRequest[]): Promise<readonly JsonRpcResponse[]>;
}

/** JSON-RPC 2.0 over HTTP to one URL, each request within `timeoutMs`. */
export class JsonRpcTransport implements RpcTransport {
  /** The host, as the URL may hold a key. */
  readonly name: string;
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #dispatcher: Dispatcher;
  readonly #timeoutMs: number;

  constructor(url: string, dispatcher: Dispatcher, timeoutMs: number) {
    this.#url = new URL(url);
    this.name = this.#url.host;
    const { username, password } = this.#url;
    const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString(
      'base64',
    );
    this.#headers = {
      'content-type': 'application/json',
      ...(username === '' ? {} : { authorization: `Basic ${credentials}` }),
    };
    this.#dispatcher = dispatcher;
    this.#timeoutMs = timeoutMs;
  }

  async request(request: JsonRpcRequest): Promise<JsonRpcResponse> {
    return this.#parse(jsonRpcResponse, await this.#post(envelope(request, 0)));
  }

  /**
   * All in one HTTP request. @returns the responses in the order of the requests, whatever order the node sent them in
   */
  async batch(requests: readonly JsonRpcRequest[]): Promise<readonly JsonRpcResponse[]> {
    const responses = this.#parse(z.array(jsonRpcResponse), await this.#post(requests.map(envelope)));
    const byId = new Map(responses.map((response) => [response.id, response]));
    return requests.map(({ method }, id) => {
      const response = byId.get(id);
      if (response === undefined)
        throw new RpcUpstreamError(`${this.name} sent no response to ${method} of a batch`, 'maybe');
      return response;
    });
  }

  #parse<T>(schema: z.ZodType<T>, body: unknown): T {
    const parsed = schema.safeParse(body);
    if (!parsed.success)
      throw new RpcUpstreamError(
        `${this.name} sent a response that is not JSON-RPC`,
        'maybe',
        parsed.error,
        'malformed',
      );
    return parsed.data;
  }

  async #post(body: unknown): Promise<unknown> {
    let status: number;
    let text: string;
    try {
      const response = await this.#dispatcher.request({
        origin: this.#url.origin,
        path: `${this.#url.pathname}${this.#url.search}`,
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(this.#timeoutMs),
      });
      status = response.statusCode;
      text = await response.body.text();
    } catch (cause) {
      const reason = reasonOf(cause);
      throw new RpcUpstreamError(
        `${this.name} is unreachable (${reason})`,
        NEVER_SENT.has(reason) ? 'no' : 'maybe',
        cause,
        /TIME(D)?_?OUT/i.test(reason) ? 'timeout' : 'unreachable',
      );
    }
    // With these the server rejected the request before a node saw it. Any other status below 500 is read: some
    // providers put a JSON-RPC error into a 400.
    if (status === 429 || status === 401 || status === 403 || status === 404)
      throw new RpcUpstreamError(
        `${this.name} responded with HTTP ${status}`,
        'no',
        undefined,
        status === 429 ? 'throttled' : 'http',
      );
    if (status >= 500)
      throw new RpcUpstreamError(`${this.name} responded with HTTP ${status}`, 'maybe', undefined, 'http');
    try {
      return JSON.parse(text) as unknown;
    } catch (cause) {
      throw new RpcUpstreamError(`${this.name} sent a response that is not JSON`, 'maybe', cause, 'malformed');
    }
  }
}
