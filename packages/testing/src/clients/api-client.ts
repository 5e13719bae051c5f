import { setTimeout as delay } from 'node:timers/promises';
import type { BuiltTransaction, WebhookDelivery } from '@pf/contracts';
import type { PublicIntent } from '@pf/domain';
import { isBehindProviders } from '../stack/behind-providers.ts';
import { checkAgainstContract } from './contract.ts';
import { type OpenStream, openStream } from './event-stream.ts';
import type { ReceivedWebhook } from './webhook-receiver.ts';

export interface ApiError {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly details: Record<string, unknown> | null;
}
export interface ApiResponse<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body & { readonly error?: ApiError };
}
export interface IntentBody {
  readonly intent: PublicIntent;
}
export interface CreatedBody extends IntentBody {
  readonly clientSecret: string;
  readonly paymentUrl: string | null;
}
export interface ListBody {
  readonly intents: readonly PublicIntent[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}
export interface BuildBody extends IntentBody {
  readonly transaction: BuiltTransaction;
}
export interface SubmitBody extends IntentBody {
  readonly txSignature: string;
}

export interface EventsBody {
  readonly events: readonly ReceivedWebhook['body'][];
}
export interface DeliveriesBody {
  readonly deliveries: readonly WebhookDelivery[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}
export interface DeliveryBody {
  readonly delivery: WebhookDelivery;
}

/** The HTTP API as a plain client sees it: no retries, unless simulated providers are before the chains. */
export interface ApiClient {
  request<Body = IntentBody>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiResponse<Body>>;
  create(body: Record<string, unknown>): Promise<ApiResponse<CreatedBody>>;
  get(id: string): Promise<ApiResponse<IntentBody>>;
  /** @param query the text after the question mark */
  list(query?: string): Promise<ApiResponse<ListBody>>;
  update(id: string, body: Record<string, unknown>): Promise<ApiResponse<IntentBody>>;
  refund(id: string): Promise<ApiResponse<CreatedBody>>;
  simulate(id: string, targetState: string): Promise<ApiResponse<IntentBody>>;
  detected(id: string): Promise<ApiResponse<IntentBody>>;
  cancel(id: string): Promise<ApiResponse<IntentBody>>;
  build(id: string, fulfiller?: string): Promise<ApiResponse<BuildBody>>;
  submit(id: string, signedTransaction: string, fulfiller: string): Promise<ApiResponse<SubmitBody>>;
  /** The history. */
  events(id: string): Promise<ApiResponse<EventsBody>>;
  /** The event stream, optionally after the last seen version. */
  follow(id: string, lastEventId?: string): Promise<OpenStream>;
  deliveries(query?: Readonly<Record<string, string>>): Promise<ApiResponse<DeliveriesBody>>;
  retry(deliveryId: string): Promise<ApiResponse<DeliveryBody>>;
}

export interface ApiClientOptions {
  /** The service may be an earlier release: its responses lack what was added since, and are not checked. */
  readonly ofAnyRelease?: boolean;
}

/** Attempts at what may be otherwise later, by the code of the error, and the pause between them. */
const LATER: Readonly<Record<string, number>> = {
  'rpc.unavailable': 10,
  'transaction.rejected': 6,
  'transaction.mismatch': 6,
  'transaction.malformed': 6,
};
const PAUSE_MS = 500;

/**
 * A client that checks every response against the contract.
 *
 * @param baseUrl with `/v1`
 * @param apiKey null: requests have no key
 */
export function apiClient(
  baseUrl: string,
  apiKey: string | null,
  { ofAnyRelease = false }: ApiClientOptions = {},
): ApiClient {
  /**
   * Behind providers that fail now and then, as clients do that are told to retry. A node that lags refuses what was
   * true a moment ago: that the payer was given the tokens, or the wallet its code.
   */
  async function request<Body>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse<Body>> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await once<Body>(method, path, body, headers);
      const code = response.body.error?.code ?? '';
      if (!isBehindProviders() || attempt >= (LATER[code] ?? 1)) return response;
      await delay(PAUSE_MS);
    }
  }
  async function once<Body>(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<ApiResponse<Body>> {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const received = {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as ApiResponse<Body>['body'],
    };
    if (!ofAnyRelease) checkAgainstContract({ method, path, ...received });
    return received;
  }
  return {
    request,
    create: (body) => request('POST', '/intents', body),
    get: (id) => request('GET', `/intents/${id}`),
    list: (query = '') => request('GET', `/intents?${query}`),
    update: (id, body) => request('PATCH', `/intents/${id}`, body),
    refund: (id) => request('POST', `/intents/${id}/refund`),
    simulate: (id, targetState) => request('POST', `/test/intents/${id}/simulate`, { targetState }),
    detected: (id) => request('POST', `/intents/${id}/detected`),
    cancel: (id) => request('POST', `/intents/${id}/cancel`),
    build: (id, fulfiller) => request('POST', `/intents/${id}/build`, fulfiller === undefined ? {} : { fulfiller }),
    events: (id) => request('GET', `/intents/${id}/events`),
    follow: (id, lastEventId) =>
      openStream(`${baseUrl}/intents/${id}/events`, {
        ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      }),
    deliveries: (query = {}) => request('GET', `/webhooks?${new URLSearchParams(query).toString()}`),
    retry: (deliveryId) => request('POST', `/webhooks/${deliveryId}/retry`),
    submit: (id, signedTransaction, fulfiller) =>
      request('POST', `/intents/${id}/submit`, { signedTransaction, fulfiller }),
  };
}
