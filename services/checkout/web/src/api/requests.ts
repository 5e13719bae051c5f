import * as z from 'zod/mini';
import { errorSchema } from './schemas.ts';

interface ApiAnswer {
  readonly code: string;
  readonly status: number;
  readonly param?: string | null;
  readonly reason?: string | null;
  readonly retryAfterMs?: number | null;
}

/** An error that the API has answered. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  readonly status: number;
  readonly param: string | null;
  /** What the chain says, in English. */
  readonly reason: string | null;
  /** Null where it does not help to ask again. */
  readonly retryAfterMs: number | null;

  constructor({ code, status, param = null, reason = null, retryAfterMs = null }: ApiAnswer) {
    super(code);
    this.code = code;
    this.status = status;
    this.param = param;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** No answer came, or none that can be read. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** Longer than the service takes for any of these. */
const TIMEOUT_MS = 25_000;
const RETRY_AFTER_DEFAULT_MS = 2_000;

/** Requests with the secret of one intent or payment link. */
export class Requests {
  readonly #path: string;
  readonly #secret: string;
  /** ms that the server's clock is ahead of this device's. */
  #skewMs = 0;

  /** @param path of what the secret opens */
  constructor(path: string, secret: string) {
    this.#path = path;
    this.#secret = secret;
  }

  /** The time of the server: devices are often wrong by minutes. */
  now(): number {
    return Date.now() + this.#skewMs;
  }

  /** What anyone may read, so no secret goes with it. */
  async readPublic<Schema extends z.ZodMiniType>(schema: Schema, path: string): Promise<z.output<Schema>> {
    return this.#read(schema, await this.#send(path, {}));
  }

  async open(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> {
    return fetch(`${this.#path}${path}`, { headers: { ...this.#headers(), ...headers }, signal, cache: 'no-store' });
  }

  async ask<Schema extends z.ZodMiniType>(
    schema: Schema,
    method: 'GET' | 'POST',
    path: string,
    body?: object,
  ): Promise<z.output<Schema>> {
    const response = await this.#send(`${this.#path}${path}`, {
      method,
      headers: {
        ...this.#headers(),
        Accept: 'application/json',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return this.#read(schema, response);
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(path, { ...init, cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) });
    } catch (cause) {
      throw new UnreachableError('no response', { cause });
    }
  }

  async #read<Schema extends z.ZodMiniType>(schema: Schema, response: Response): Promise<z.output<Schema>> {
    const time = Date.parse(response.headers.get('date') ?? '');
    if (Number.isFinite(time)) this.#skewMs = time - Date.now();
    let body: unknown;
    try {
      body = await response.json();
    } catch (cause) {
      throw new UnreachableError('the response is not JSON', { cause });
    }
    if (!response.ok) throw errorOf(response, body);
    const parsed = z.safeParse(schema, body);
    if (!parsed.success) throw new UnreachableError('the response has another shape', { cause: parsed.error });
    return parsed.data;
  }

  #headers(): Readonly<Record<string, string>> {
    return { Authorization: `Bearer ${this.#secret}` };
  }
}

function errorOf(response: Response, body: unknown): ApiError {
  const parsed = z.safeParse(errorSchema, body);
  const { status } = response;
  const isTemporary = status === 429 || status >= 500;
  if (!parsed.success)
    return new ApiError({ code: 'unknown', status, retryAfterMs: isTemporary ? RETRY_AFTER_DEFAULT_MS : null });
  const { code, param, details } = parsed.data.error;
  const seconds = details?.retry_after ?? Number(response.headers.get('retry-after') ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : RETRY_AFTER_DEFAULT_MS;
  return new ApiError({
    code,
    status,
    param,
    reason: details?.reason ?? null,
    retryAfterMs: isTemporary ? retryAfterMs : null,
  });
}
