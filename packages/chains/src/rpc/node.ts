import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { RpcRefusedError, RpcUnreachedError } from './errors.ts';

/** One JSON-RPC question and the schema that its answer has to meet: what does not is no answer. */
export interface RpcCall<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly parse: (answer: unknown) => T;
  readonly refusable?: true;
  /** The newest block or slot of the chain, where the answer says it. */
  readonly head?: (answer: unknown) => bigint | null;
}

export const rpcCall = <T>(method: string, params: readonly unknown[], schema: z.ZodType<T>): RpcCall<T> => ({
  method,
  params,
  parse: (answer) => schema.parse(answer),
});

/** The same question, where a node's no is an answer to work with. */
export const refusable = <T>(call: RpcCall<T>): RpcCall<T | RpcRefusedError> => ({ ...call, refusable: true });

/** The same question, from whose answer the pool learns how far this upstream is. */
export const tellingHead = <T>(call: RpcCall<T>, head: (answer: T) => bigint | null): RpcCall<T> => ({
  ...call,
  head: (answer) => head(call.parse(answer)),
});

export type Answers<Calls extends readonly RpcCall<unknown>[]> = {
  -readonly [Place in keyof Calls]: Calls[Place] extends RpcCall<infer T> ? T : never;
};

/**
 * One upstream. Answers that belong together (a head and the logs up to it) are asked of one and the same.
 * Throws RpcUnreachedError where no usable answer comes: also where the node says no to what is not `refusable`.
 */
export interface RpcNode {
  /** The upstream's host: for logs and metrics. Its URL may hold a key. */
  readonly name: string;
  call<T>(call: RpcCall<T>): Promise<T>;
  /** Several questions in one HTTP request, answered in their order. */
  batch<const Calls extends readonly RpcCall<unknown>[]>(calls: Calls): Promise<Answers<Calls>>;
}

/** Codes by which providers say "not now" or "not here": the question itself was not answered. */
const BUSY = new Set([-32005, -32016, -32029, -32002, -32004, -32601, -32603, -32700]);
/** Some nodes call it an internal error when a simulated transaction fails; it is an answer. */
const EXECUTED = /revert|out ?of ?gas|EVM error/i;

/** Errors of the connection's beginning: nothing was sent. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Providers limit the length of a batch; longer ones go in parts. */
const BATCH_MAX = 100;

const reply = z.object({
  id: z.number().nullable(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).nullish(),
});
type Reply = z.infer<typeof reply>;

// Not `instanceof Error`: where modules run in a context of their own, errors of the system come from another one.
const failure = z
  .object({ code: z.string().optional().catch(undefined), name: z.string().catch('failed') })
  .catch({ name: 'failed' });
/** What ended a request: the code of the system or of undici, `TimeoutError` for one that took too long. */
const reasonOf = (cause: unknown): string => {
  const { code, name } = failure.parse(cause);
  return code ?? name;
};

/** Told of each head that an upstream gave, with when it was asked for. */
export type OnHead = (head: bigint, askedAt: number) => void;

/** JSON-RPC over HTTP to one URL, each request within `timeoutMs`. */
export class HttpRpcNode implements RpcNode {
  readonly name: string;
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #dispatcher: Dispatcher;
  readonly #timeoutMs: number;
  readonly #onHead: OnHead;

  constructor(url: string, dispatcher: Dispatcher, timeoutMs: number, onHead: OnHead) {
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
    this.#onHead = onHead;
  }

  async call<T>(call: RpcCall<T>): Promise<T> {
    const askedAt = performance.now();
    const answer = await this.#post({ jsonrpc: '2.0', id: 0, method: call.method, params: call.params });
    return this.#read(call, this.#parse(reply, answer), askedAt);
  }

  async batch<const Calls extends readonly RpcCall<unknown>[]>(calls: Calls): Promise<Answers<Calls>> {
    const answers: unknown[] = [];
    for (let start = 0; start < calls.length; start += BATCH_MAX)
      answers.push(...(await this.#part(calls.slice(start, start + BATCH_MAX))));
    return answers as Answers<Calls>;
  }

  async #part(calls: readonly RpcCall<unknown>[]): Promise<unknown[]> {
    const askedAt = performance.now();
    const answer = await this.#post(calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params })));
    const byId = new Map(this.#parse(z.array(reply), answer).map((one) => [one.id, one]));
    return calls.map((call, id) => {
      const one = byId.get(id);
      if (one === undefined)
        throw new RpcUnreachedError(`${this.name} left ${call.method} of a batch unanswered`, 'maybe');
      return this.#read(call, one, askedAt);
    });
  }

  #read<T>(call: RpcCall<T>, { error, result }: Reply, askedAt: number): T {
    if (error !== undefined && error !== null) {
      if (call.refusable === true && (!BUSY.has(error.code) || EXECUTED.test(error.message)))
        return new RpcRefusedError(error.message, error.code, error.data) as T;
      throw new RpcUnreachedError(
        `${this.name} did not answer ${call.method}: ${error.message} (${error.code})`,
        'maybe',
      );
    }
    const answer = this.#parsed(call, result);
    const head = call.head?.(result) ?? null;
    if (head !== null) this.#onHead(head, askedAt);
    return answer;
  }

  #parsed<T>(call: RpcCall<T>, result: unknown): T {
    try {
      return call.parse(result);
    } catch (cause) {
      throw new RpcUnreachedError(
        `${this.name} answered ${call.method} with what it is not`,
        'maybe',
        cause,
        'malformed',
      );
    }
  }

  #parse<T>(schema: z.ZodType<T>, answer: unknown): T {
    const parsed = schema.safeParse(answer);
    if (!parsed.success)
      throw new RpcUnreachedError(`${this.name} answered what is no JSON-RPC`, 'maybe', parsed.error, 'malformed');
    return parsed.data;
  }

  async #post(body: unknown): Promise<unknown> {
    let status: number;
    let text: string;
    try {
      const answer = await this.#dispatcher.request({
        origin: this.#url.origin,
        path: `${this.#url.pathname}${this.#url.search}`,
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(this.#timeoutMs),
      });
      status = answer.statusCode;
      text = await answer.body.text();
    } catch (cause) {
      const reason = reasonOf(cause);
      throw new RpcUnreachedError(
        `${this.name} cannot be reached (${reason})`,
        NEVER_SENT.has(reason) ? 'no' : 'maybe',
        cause,
        /TIME(D)?_?OUT/i.test(reason) ? 'timeout' : 'unreachable',
      );
    }
    // Below 500 the server turned the request away before a node saw it; some providers put a JSON-RPC error into a 400.
    if (status === 429 || status === 401 || status === 403 || status === 404)
      throw new RpcUnreachedError(
        `${this.name} answered HTTP ${status}`,
        'no',
        undefined,
        status === 429 ? 'throttled' : 'http',
      );
    if (status >= 500) throw new RpcUnreachedError(`${this.name} answered HTTP ${status}`, 'maybe', undefined, 'http');
    try {
      return JSON.parse(text) as unknown;
    } catch (cause) {
      throw new RpcUnreachedError(`${this.name} answered what is no JSON`, 'maybe', cause, 'malformed');
    }
  }
}
