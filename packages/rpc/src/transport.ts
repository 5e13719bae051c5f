import { USER_AGENT } from '@pf/runtime';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { pauseInData, pauseInHeaders } from './asked-pause.ts';
import { ENCODINGS, LIST_MAX_BYTES, readBody, RESPONSE_MAX_BYTES, UndecodableError } from './body.ts';
import { RpcBatchError, RpcUpstreamError } from './errors.ts';
import type { JsonBounds, ReadElement } from './json-pieces.ts';

export interface JsonRpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
  /**
   * The longest response to a request with this call, in bytes. Default: LIST_MAX_BYTES of one that is read element by
   * element, RESPONSE_MAX_BYTES of any other.
   */
  readonly maxBytes?: number;
  /** The result is a list, of which this is kept of each element: then it may be a ReadList. */
  readonly readElement?: ReadElement;
  /** How long a request of such calls alone is waited for at most, in ms. Default: the transport's limit */
  readonly withinMs?: number;
}

/** Messages of nodes end up in logs and in responses to clients. */
const MESSAGE_MAX = 1_000;
const message = z.string().transform((text) => text.slice(0, MESSAGE_MAX));

const jsonRpcResponse = z.object({
  id: z.number().nullable(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message, data: z.unknown().optional() }).nullish(),
});
export interface JsonRpcResponse extends z.infer<typeof jsonRpcResponse> {
  /** HTTP's. Default: 200 */
  readonly status?: number;
  /** How long the upstream asks to be left alone. Default: it does not say */
  readonly pauseMs?: number | null;
}

/** Of these statuses it is certain that the server rejected the request before a node saw it. */
export const deliveredWith = (status: number): 'no' | 'maybe' =>
  [401, 402, 403, 404, 429].includes(status) ? 'no' : 'maybe';

/** With these, the calls of the plan are spent: too many now, or for the day. */
const SPENT = new Set([402, 429]);

/** With these, gateways refuse a method. */
const UNSUPPORTED = new Set([405, 415]);

/** With these, providers refuse arrays without a word: publicnode's of Solana, for one. */
const ARRAYS_REFUSED = new Set([400, 405, 413, 415]);

/** Errors that occur while connecting: nothing was sent. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Errors of the system and of undici have a code; what is thrown need be no Error. */
const failure = z
  .object({
    code: z.string().optional().catch(undefined),
    name: z.string().catch('failed'),
  })
  .catch({ name: 'failed' });
/** What ended a request: the code of the system or of undici; `TimeoutError` for one that took too long. */
const reasonOf = (cause: unknown): string => {
  const { code, name } = failure.parse(cause);
  return code ?? name;
};

/** A call as JSON-RPC 2.0 has it. @param params by name, in order, or absent */
export const envelope = (
  { method, params }: { readonly method: string; readonly params?: object | undefined },
  id: number,
): object => ({ jsonrpc: '2.0', id, method, params });

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

  /** @param headers sent with every request, and never logged */
  constructor(url: string, dispatcher: Dispatcher, timeoutMs: number, headers: Readonly<Record<string, string>> = {}) {
    this.#url = new URL(url);
    this.name = this.#url.host;
    const { username, password } = this.#url;
    const credentials = Buffer.from(`${unescaped(username)}:${unescaped(password)}`).toString('base64');
    this.#headers = {
      'content-type': 'application/json',
      'accept-encoding': ENCODINGS,
      'user-agent': USER_AGENT,
      ...(username === '' ? {} : { authorization: `Basic ${credentials}` }),
      ...headers,
    };
    this.#dispatcher = dispatcher;
    this.#timeoutMs = timeoutMs;
  }

  async request(request: JsonRpcRequest): Promise<JsonRpcResponse> {
    const { status, body, pauseMs } = await this.#post(envelope(request, 0), [request]);
    const response = this.#parse(jsonRpcResponse, body);
    return { ...response, status, pauseMs: pauseInData(response.error?.data) ?? pauseMs };
  }

  /**
   * All in one HTTP request. @returns the responses in the order of the requests, whatever order the node sent them in
   */
  async batch(requests: readonly JsonRpcRequest[]): Promise<readonly JsonRpcResponse[]> {
    const { status, body, pauseMs } = await this.#post(requests.map(envelope), requests);
    const { data: alone } = jsonRpcResponse.safeParse(body);
    if (alone?.error) throw new RpcBatchError(this.name, status, alone.error, pauseInData(alone.error.data) ?? pauseMs);
    const byId = Map.groupBy(this.#parse(z.array(jsonRpcResponse), body), (response) => response.id);
    return requests.map(({ method }, id) => {
      const [response, repeated] = byId.get(id) ?? [];
      // Of two, neither is known to be the response to this call.
      if (response === undefined || repeated !== undefined)
        throw new RpcUpstreamError(
          `${this.name} sent ${response === undefined ? 'no response' : 'two responses'} to ${method} of a batch`,
          'maybe',
          undefined,
          'malformed',
        );
      return { ...response, status, pauseMs: pauseInData(response.error?.data) ?? pauseMs };
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

  /** @returns the response to a request that reached a node, or a provider that says in JSON why it did not */
  async #post(body: object, requests: readonly JsonRpcRequest[]): Promise<Received> {
    let status = 0;
    let pauseMs: number | null = null;
    let parsed: unknown;
    const limit = new TimeLimit(limitOf(requests, this.#timeoutMs));
    try {
      const response = await this.#dispatcher.request({
        origin: this.#url.origin,
        path: `${this.#url.pathname}${this.#url.search}`,
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(body),
        signal: limit.signal,
      });
      status = response.statusCode;
      pauseMs = pauseInHeaders(response.headers, Date.now());
      parsed = await readBody(response.body, {
        ...boundsOf(requests),
        encoding: response.headers['content-encoding'],
        onWorked: (ms) => limit.extend(ms),
      });
    } catch (cause) {
      if (cause instanceof UndecodableError) {
        // Its status says enough.
        if (status < 400)
          throw new RpcUpstreamError(
            `${this.name} sent an unusable response: ${cause.message}`,
            'maybe',
            cause,
            'malformed',
          );
      } else {
        const reason = reasonOf(cause);
        throw new RpcUpstreamError(
          `${this.name} is unreachable (${reason})`,
          NEVER_SENT.has(reason) ? 'no' : 'maybe',
          cause,
          /TIME(D)?_?OUT/i.test(reason) ? 'timeout' : 'unreachable',
        );
      }
    } finally {
      limit.end();
    }
    // Providers put the reason into a body of any status. What is no JSON is a server's page about the status.
    if (status >= 400 && (parsed === undefined || !isJsonRpc(parsed))) {
      if (Array.isArray(body) && ARRAYS_REFUSED.has(status)) throw new RpcBatchError(this.name, status, null, pauseMs);
      throw new RpcUpstreamError(
        `${this.name} responded with HTTP ${status}`,
        deliveredWith(status),
        undefined,
        SPENT.has(status) ? 'throttled' : UNSUPPORTED.has(status) ? 'unsupported' : 'http',
        pauseMs,
      );
    }
    if (parsed === undefined)
      throw new RpcUpstreamError(`${this.name} sent a response that is not JSON`, 'maybe', undefined, 'malformed');
    return { status, body: parsed, pauseMs };
  }
}

/**
 * Of the response to all of these: the largest bound of those that have one. The others, which are short, do not lift
 * it. As an id may come behind its result, only lists of one kind are read element by element.
 */
function boundsOf(requests: readonly JsonRpcRequest[]): JsonBounds & { readonly readElement: ReadElement | null } {
  const [readElement = null, another] = new Set(requests.flatMap((one) => one.readElement ?? []));
  const stated = requests.flatMap((one) => one.maxBytes ?? (one.readElement === undefined ? [] : LIST_MAX_BYTES));
  const maxBytes = stated.length === 0 ? RESPONSE_MAX_BYTES : Math.max(...stated);
  return {
    readElement: another === undefined ? readElement : null,
    maxBytes,
    maxKeptBytes: Math.min(maxBytes, RESPONSE_MAX_BYTES),
  };
}

/** How long all of these are waited for in one request, in ms. @param timeoutMs the limit of any request */
export const limitOf = (requests: readonly JsonRpcRequest[], timeoutMs: number): number =>
  Math.min(timeoutMs, Math.max(...requests.map(({ withinMs = timeoutMs }) => withinMs)));

/** By so much timers come late in a process that does something else. */
const STALLED_MS = 20;

/** Ends a request that takes too long, not counting the time in which this process was at work itself. */
class TimeLimit {
  // A signal of AbortSignal.timeout stays behind each response until it fires: a tenth of a request's CPU.
  readonly #late = new AbortController();
  readonly #ms: number;
  #until: number;
  /** How much longer it waits, in all, as timers came late. */
  #stalled = 0;
  #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#ms = ms;
    this.#until = performance.now() + ms;
    this.#timer = setTimeout(this.#expire, ms);
  }

  get signal(): AbortSignal {
    return this.#late.signal;
  }

  extend(ms: number): void {
    this.#until += ms;
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  readonly #expire = (): void => {
    const left = this.#until - performance.now();
    // Timers come before what has arrived meanwhile: where the process stood still, that is read first.
    if (left < -STALLED_MS && this.#stalled < this.#ms) {
      const more = Math.min(-left, this.#ms - this.#stalled);
      this.#stalled += more;
      this.#until = performance.now() + more;
      this.#timer = setTimeout(this.#expire, more);
    } else if (left > 1) this.#timer = setTimeout(this.#expire, left);
    else this.#late.abort(new DOMException('Too late', 'TimeoutError'));
  };
}

/** A part of a URL; as it is where a percent sign in it begins no escape. */
function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

interface Received {
  readonly status: number;
  readonly body: unknown;
  readonly pauseMs: number | null;
}

const isJsonRpc = (body: unknown): boolean =>
  z.union([jsonRpcResponse, z.array(jsonRpcResponse)]).safeParse(body).success;
