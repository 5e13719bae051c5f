import ky, { HTTPError, isKyError, type KyInstance } from 'ky';
import { ConnectionError, errorOf, NotFoundError, ReusedKeyError } from './errors.ts';
import type { PayableIntent, PayableLink } from './types.ts';

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

/** Options of a create. */
export interface CreateOptions extends CallOptions {
  /**
   * Returns what an earlier request with the `idempotencyKey` made, with `differs`, even where it asked for something
   * else. Default: a `ReusedKeyError` is thrown.
   */
  readonly takeExisting?: boolean;
}

/** Options of a call that has to know whether it was sent more than once. */
interface RepeatedOptions extends CallOptions {
  readonly onRepeat?: () => void;
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
        methods: ['get', 'post', 'put', 'patch', 'delete'],
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
  post<T>(path: string, body: object = {}, options?: RepeatedOptions): Promise<T> {
    return this.#json(this.#ky.post(path, { json: body, ...sent(options) }));
  }
  /** @throws ReusedKeyError */
  async create<T extends PayableIntent | PayableLink>(
    path: string,
    body: object,
    { takeExisting = false, ...options }: CreateOptions = {},
  ): Promise<T> {
    const created = await this.post<T>(path, { idempotencyKey: crypto.randomUUID(), ...body }, options);
    if (created.differs && !takeExisting) throw new ReusedKeyError(created, created.differs);
    return created;
  }
  put<T>(path: string, body: object, { signal }: CallOptions = {}): Promise<T> {
    return this.#json(this.#ky.put(path, { json: body, ...(signal && { signal }) }));
  }
  patch<T>(path: string, body: object, options?: RepeatedOptions): Promise<T> {
    return this.#json(this.#ky.patch(path, { json: body, ...sent(options) }));
  }
  async delete(path: string, { signal }: CallOptions = {}): Promise<void> {
    await repeatable(
      (onRepeat) => this.#json<unknown>(this.#ky.delete(path, sent({ ...(signal && { signal }), onRepeat }))),
      // An attempt whose response was lost has removed it.
      async (error) => error instanceof NotFoundError || null,
    );
  }

  /**
   * An event stream, open until one side closes it. Not retried: `follow` reconnects.
   * @returns null where something else than a stream was returned: the page of a proxy
   */
  async stream(
    path: string,
    headers: Readonly<Record<string, string>>,
    { signal }: CallOptions = {},
  ): Promise<Response['body']> {
    const { body, headers: received } = await withClientErrors(
      this.#ky.get(path, {
        headers: { accept: 'text/event-stream', ...headers },
        timeout: false,
        retry: 0,
        ...(signal && { signal }),
      }),
    );
    if (received.get('content-type')?.startsWith('text/event-stream')) return body;
    await body?.cancel();
    return null;
  }

  async #json<T>(response: Promise<Response>): Promise<T> {
    const received = await withClientErrors(response);
    try {
      return (await received.json()) as T;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new ConnectionError(
        'The response is not JSON. Check the base URL, and what is between it and the service.',
        {
          cause: error,
        },
      );
    }
  }
}

/**
 * A call that may have taken effect before it is refused: an attempt's response may have been lost.
 * @param recover the result where such an attempt has done what was asked; null: it has not, and the error is thrown
 */
export async function repeatable<T>(
  call: (onRepeat: () => void) => Promise<T>,
  recover: (error: unknown) => Promise<NonNullable<T> | null>,
): Promise<T> {
  let isRepeated = false;
  try {
    return await call(() => void (isRepeated = true));
  } catch (error) {
    const recovered = isRepeated ? await recover(error) : null;
    if (recovered === null) throw error;
    return recovered;
  }
}

/** The options of one request. */
const sent = ({ signal, onRepeat }: RepeatedOptions = {}) => ({
  ...(signal && { signal }),
  ...(onRepeat && { hooks: { beforeRetry: [onRepeat] } }),
});

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
