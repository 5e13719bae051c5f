import ky, { HTTPError, isKyError, type KyInstance } from 'ky';
import { ConnectionError, errorOf } from './errors.ts';

export interface ClientOptions {
  /** `pk_test_…` or `pk_live_…`. In apps of payers: a key of scope `payer`. */
  readonly apiKey: string;
  /** With the version: `https://…/v1`. */
  readonly baseUrl: string;
  /** How often a request is sent again when the service is busy or away. Default 4. */
  readonly maxRetries?: number;
  /** For one attempt, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  /** In place of the platform's own. */
  readonly fetch?: typeof fetch;
}

/** Passed to every call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

export type Query = Readonly<
  Record<string, string | number | boolean | readonly string[] | Readonly<Record<string, string>> | undefined>
>;

const BACKOFF_MAX_MS = 20_000;

/** The API over HTTP: JSON in and out, retries where repeating is safe, errors as classes. */
export class Http {
  readonly #ky: KyInstance;

  constructor({ apiKey, baseUrl, maxRetries = 4, timeoutMs = 30_000, fetch }: ClientOptions) {
    this.#ky = ky.create({
      prefix: baseUrl,
      headers: { authorization: `Bearer ${apiKey}` },
      timeout: timeoutMs,
      retry: {
        limit: maxRetries,
        // Every request of this API may be repeated: creates carry a key, submits are known by their transaction.
        methods: ['get', 'post', 'patch'],
        statusCodes: [429, 502, 503, 504],
        backoffLimit: BACKOFF_MAX_MS,
        maxRetryAfter: BACKOFF_MAX_MS,
        jitter: (delay) => delay * (0.5 + Math.random()),
        retryOnTimeout: true,
      },
      ...(fetch && { fetch }),
    });
  }

  get<T>(path: string, query: Query = {}, { signal }: CallOptions = {}): Promise<T> {
    return this.#json(this.#ky.get(path, { searchParams: searchParams(query), ...(signal && { signal }) }));
  }
  post<T>(path: string, body: object = {}, { signal }: CallOptions = {}): Promise<T> {
    return this.#json(this.#ky.post(path, { json: body, ...(signal && { signal }) }));
  }
  patch<T>(path: string, body: object, { signal }: CallOptions = {}): Promise<T> {
    return this.#json(this.#ky.patch(path, { json: body, ...(signal && { signal }) }));
  }

  /** An event stream, open until one side ends it. One attempt: whoever follows knows when to come back. */
  async stream(
    path: string,
    headers: Readonly<Record<string, string>>,
    { signal }: CallOptions = {},
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const { body } = await told(
      this.#ky.get(path, {
        headers: { accept: 'text/event-stream', ...headers },
        timeout: false,
        retry: 0,
        ...(signal && { signal }),
      }),
    );
    if (body === null) throw new ConnectionError('The answer has no body.');
    return body;
  }

  async #json<T>(response: Promise<Response>): Promise<T> {
    return (await (await told(response)).json()) as T;
  }
}

/** A success, or an error of ours in place of the transport's. */
async function told(response: Promise<Response>): Promise<Response> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof HTTPError)
      throw errorOf(error.response.status, error.data, error.response.headers.get('x-request-id'));
    // The caller's own signal.
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    if (isKyError(error) || error instanceof TypeError)
      throw new ConnectionError('The service could not be reached.', { cause: error });
    throw error;
  }
}

/** Lists repeat their name; a map becomes `name[key]`. */
function searchParams(query: Query): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    if (Array.isArray(value)) for (const one of value) params.append(name, String(one));
    else if (typeof value === 'object')
      for (const [key, one] of Object.entries(value)) params.append(`${name}[${key}]`, String(one));
    else params.append(name, String(value));
  }
  return params;
}
