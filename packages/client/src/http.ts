import ky, { HTTPError, isKyError, type KyInstance } from 'ky';
import { ConnectionError, errorOf } from './errors.ts';

export interface ClientOptions {
  /** `pk_test_…` or `pk_live_…`. In payers' apps, use a key with the scope `payer`. */
  readonly apiKey: string;
  /** Including the version: `https://…/v1`. */
  readonly baseUrl: string;
  /** Number of retries when the service is busy or unavailable. Default 4. */
  readonly maxRetries?: number;
  /** Timeout of one attempt, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

export type Query = Readonly<
  Record<string, string | number | boolean | readonly string[] | Readonly<Record<string, string>> | undefined>
>;

const BACKOFF_MAX_MS = 20_000;

/** HTTP transport of the API: JSON in and out, safe retries, errors as classes. */
export class Http {
  readonly #ky: KyInstance;

  constructor({ apiKey, baseUrl, maxRetries = 4, timeoutMs = 30_000, fetch }: ClientOptions) {
    this.#ky = ky.create({
      prefix: baseUrl,
      headers: { authorization: `Bearer ${apiKey}` },
      timeout: timeoutMs,
      retry: {
        limit: maxRetries,
        // Every request may be repeated: a create has an idempotency key, a submit is identified by its transaction.
        methods: ['get', 'post', 'put', 'patch'],
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
  put<T>(path: string, body: object, { signal }: CallOptions = {}): Promise<T> {
    return this.#json(this.#ky.put(path, { json: body, ...(signal && { signal }) }));
  }
  patch<T>(path: string, body: object, { signal }: CallOptions = {}): Promise<T> {
    return this.#json(this.#ky.patch(path, { json: body, ...(signal && { signal }) }));
  }
  delete<T>(path: string, { signal }: CallOptions = {}): Promise<T> {
    return this.#json(this.#ky.delete(path, { ...(signal && { signal }) }));
  }

  /** An event stream, open until one side closes it. Not retried: `follow` reconnects. */
  async stream(
    path: string,
    headers: Readonly<Record<string, string>>,
    { signal }: CallOptions = {},
  ): Promise<NonNullable<Response['body']>> {
    const { body } = await withClientErrors(
      this.#ky.get(path, {
        headers: { accept: 'text/event-stream', ...headers },
        timeout: false,
        retry: 0,
        ...(signal && { signal }),
      }),
    );
    if (body === null) throw new ConnectionError('The response has no body.');
    return body;
  }

  async #json<T>(response: Promise<Response>): Promise<T> {
    return (await (await withClientErrors(response)).json()) as T;
  }
}

/** The response, or the client's own error in place of the transport's. */
async function withClientErrors(response: Promise<Response>): Promise<Response> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof HTTPError)
      throw errorOf(error.response.status, error.data, error.response.headers.get('x-request-id'));
    // Aborted by the caller's signal.
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    if (isKyError(error) || error instanceof TypeError)
      throw new ConnectionError('The service did not respond. Check the base URL and the network.', { cause: error });
    throw error;
  }
}

/** Arrays repeat their name; a map becomes `name[key]`. */
function searchParams(query: Query): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    if (Array.isArray(value)) for (const item of value) params.append(name, String(item));
    else if (typeof value === 'object')
      for (const [key, item] of Object.entries(value)) params.append(`${name}[${key}]`, String(item));
    else params.append(name, String(value));
  }
  return params;
}
