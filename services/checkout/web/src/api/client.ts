import * as z from 'zod/mini';
import {
  builtSchema,
  errorSchema,
  fetchedSchema,
  historySchema,
  type Intent,
  intentSchema,
  type Merchant,
  merchantSchema,
  type Unsigned,
  type UnexpectedPayment,
} from './schemas.ts';

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

const intentAnswer = z.object({ intent: intentSchema });
const submitAnswer = z.object({ intent: intentSchema, txSignature: z.string() });

/** Longer than the service takes for any of these. */
const TIMEOUT_MS = 25_000;
const RETRY_AFTER_DEFAULT_MS = 2_000;

/** What happened to an intent beside its states. */
export interface Unexpected {
  readonly type: 'intent.mismatched_payment' | 'intent.late_payment' | 'intent.extra_payment';
  readonly payment: UnexpectedPayment;
}
export const UNEXPECTED: ReadonlySet<string> = new Set([
  'intent.mismatched_payment',
  'intent.late_payment',
  'intent.extra_payment',
]);

/** The requests that a client secret allows, for its one intent. */
export class Client {
  readonly #path: string;
  readonly #merchantPath: string;
  readonly #secret: string;
  /** ms that the server's clock is ahead of this device's. */
  #skewMs = 0;

  constructor(intentId: string, clientSecret: string) {
    this.#merchantPath = `/pay/${encodeURIComponent(intentId)}/merchant`;
    this.#path = `/v1/intents/${encodeURIComponent(intentId)}`;
    this.#secret = clientSecret;
  }

  /** The time of the server: devices are often wrong by minutes. */
  now(): number {
    return Date.now() + this.#skewMs;
  }

  async fetchIntent(): Promise<{ readonly intent: Intent; readonly solanaPayToken: string | null }> {
    const { intent, solanaPayToken } = await this.#ask(fetchedSchema, 'GET', '');
    return { intent, solanaPayToken: solanaPayToken ?? null };
  }

  /** What arrived otherwise than asked for, oldest first. */
  async fetchUnexpected(): Promise<readonly Unexpected[]> {
    const { events } = await this.#ask(historySchema, 'GET', '/events');
    return events.flatMap(({ type, data: { payment } }) =>
      payment && UNEXPECTED.has(type) ? [{ type: type as Unexpected['type'], payment }] : [],
    );
  }

  async detected(): Promise<Intent> {
    return (await this.#ask(intentAnswer, 'POST', '/detected', {})).intent;
  }

  async build(fulfiller: string): Promise<{ readonly intent: Intent; readonly transaction: Unsigned }> {
    return this.#ask(builtSchema, 'POST', '/build', { fulfiller });
  }

  async submit(signedTransaction: string, fulfiller: string): Promise<Intent> {
    return (await this.#ask(submitAnswer, 'POST', '/submit', { signedTransaction, fulfiller })).intent;
  }

  /** Opens the stream of events. @param after the version that was read last */
  async openStream(after: string | null, signal: AbortSignal): Promise<Response> {
    const headers = { ...this.#headers(), Accept: 'text/event-stream', ...(after ? { 'Last-Event-ID': after } : {}) };
    return fetch(`${this.#path}/events`, { headers, signal, cache: 'no-store' });
  }

  /** Who is paid. It is public, so no secret goes with it. */
  async fetchMerchant(): Promise<Merchant> {
    return this.#read(merchantSchema, await this.#send(this.#merchantPath, {}));
  }

  #headers(): Readonly<Record<string, string>> {
    return { Authorization: `Bearer ${this.#secret}` };
  }

  async #ask<Schema extends z.ZodMiniType>(
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
      throw new UnreachableError('no answer', { cause });
    }
  }

  async #read<Schema extends z.ZodMiniType>(schema: Schema, response: Response): Promise<z.output<Schema>> {
    const time = Date.parse(response.headers.get('date') ?? '');
    if (Number.isFinite(time)) this.#skewMs = time - Date.now();
    let body: unknown;
    try {
      body = await response.json();
    } catch (cause) {
      throw new UnreachableError('the answer is no JSON', { cause });
    }
    if (!response.ok) throw errorOf(response, body);
    const parsed = z.safeParse(schema, body);
    if (!parsed.success) throw new UnreachableError('the answer has another shape', { cause: parsed.error });
    return parsed.data;
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
