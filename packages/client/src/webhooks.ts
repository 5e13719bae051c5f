import { SignatureError } from './errors.ts';
import type { CallOptions, Http } from './http.ts';
import { Pages } from './pages.ts';
import type {
  CreateEndpoint,
  CreateReplay,
  DeliveryAttempt,
  ListDeliveries,
  ListReplays,
  UpdateEndpoint,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEvent,
  WebhookReplay,
} from './types.ts';

/** Seconds that the time of a webhook may differ from this machine's clock: the value of Standard Webhooks. */
const TOLERANCE_SECONDS = 300;

/** Headers of a request: those of `fetch`, of Node's `request.headers`, or any record; names in any case. */
export type WebhookHeaders = HeaderReader | HeaderRecord;
type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;
interface HeaderReader {
  get(name: string): string | null;
}

export interface VerifyOptions {
  /**
   * How many seconds `webhook-timestamp` may differ from this machine's clock. Default 300. `Infinity` accepts a
   * webhook of any age, and one that carries `X-PF-Signature` alone, which covers no time.
   */
  readonly toleranceSeconds?: number;
}

/**
 * Verifies who sent a webhook and when, in constant time, and parses it. It reads the headers of
 * https://www.standardwebhooks.com, which are signed with every secret in force: while a secret is rotated, the old one
 * and the new one both verify.
 *
 * @param payload the exact bytes of the body, before any JSON parser
 * @param headers the headers of the request
 * @param secret `whsec_…`, or several of them, any of which may have signed
 * @throws SignatureError if none of the secrets signed it, or it is older or newer than the tolerance
 * @example
 * const event = await webhooks.verify(await request.text(), request.headers, process.env.PF_WEBHOOK_SECRET);
 */
export async function verifyWebhook(
  payload: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const bytes = typeof payload === 'string' ? utf8(payload) : new Uint8Array(payload);
  const secrets = (typeof secret === 'string' ? [secret] : secret).filter((one) => one !== '');
  if (secrets.length === 0) throw new SignatureError('No webhook secret was passed.');
  const { signed, signatures, keyOf } = signatureOf(headerReader(headers), bytes, toleranceSeconds);
  for (const one of secrets) {
    const key = await crypto.subtle.importKey('raw', keyOf(one), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, signature, signed))
        return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
  }
  throw new SignatureError(
    'The webhook signature is invalid. Pass the unparsed request body, and the secret of the same endpoint and mode.',
  );
}

/** For webhook receivers, which need no API key. */
export const webhooks = { verify: verifyWebhook } as const;

type Bytes = Uint8Array<ArrayBuffer>;

/** What was signed, the signatures of it, and how a secret becomes their key. */
interface Signature {
  readonly signed: Bytes;
  readonly signatures: readonly Bytes[];
  readonly keyOf: (secret: string) => Bytes;
}

function signatureOf(header: (name: string) => string | null, body: Bytes, toleranceSeconds: number): Signature {
  const id = header('webhook-id');
  const timestamp = header('webhook-timestamp');
  const signatures = header('webhook-signature');
  if (id !== null && timestamp !== null && signatures !== null) {
    const age = Math.abs(Date.now() / 1_000 - (/^\d+$/.test(timestamp) ? Number(timestamp) : NaN));
    // Not `age > toleranceSeconds`: a timestamp or tolerance that is no number must not pass.
    if (!(age <= toleranceSeconds))
      throw new SignatureError(
        `The webhook's timestamp "${timestamp}" is more than ${toleranceSeconds} s from this machine's clock.`,
      );
    return {
      signed: concat(utf8(`${id}.${timestamp}.`), body),
      signatures: signatures
        .split(' ')
        .flatMap((text) => (text.startsWith('v1,') ? (fromBase64(text.slice(3)) ?? []) : [])),
      keyOf: (secret) => {
        const key = fromBase64(secret.replace(/^whsec_/, ''));
        if (key === null || key.length === 0)
          throw new SignatureError('The webhook secret is invalid: it must be whsec_ and base64.');
        return key;
      },
    };
  }
  // Whoever captured a webhook could strip its time: without one, nothing is accepted unless the caller says so.
  if (toleranceSeconds !== Infinity)
    throw new SignatureError(
      'The headers webhook-id, webhook-timestamp and webhook-signature are required. To accept X-PF-Signature alone, ' +
        'which covers no time, pass {toleranceSeconds: Infinity}.',
    );
  return { signed: body, signatures: fromHex(header('x-pf-signature') ?? ''), keyOf: utf8 };
}

function headerReader(headers: WebhookHeaders): (name: string) => string | null {
  const reader = headers as HeaderReader;
  // In a record, `get` would be a header of that name.
  if (typeof reader.get === 'function') return (name) => reader.get(name);
  const values = new Map(Object.entries(headers as HeaderRecord).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = values.get(name);
    return typeof value === 'string' ? value : null;
  };
}

function utf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}

function concat(first: Bytes, second: Bytes): Bytes {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

function fromBase64(text: string): Bytes | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function fromHex(text: string): Bytes[] {
  if (!/^[0-9a-f]{64}$/i.test(text)) return [];
  return [Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16))];
}

/** The URLs that events are sent to. */
export class WebhookEndpoints {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Sends the events of the key's mode to a URL from now on. The secret is not shown again. Generates an
   * `idempotencyKey` if you pass none, so that a retry returns the same endpoint and secret.
   */
  create(
    endpoint: CreateEndpoint,
    options?: CallOptions,
  ): Promise<{ readonly endpoint: WebhookEndpoint; readonly secret: string }> {
    return this.#http.post('webhook-endpoints', { idempotencyKey: crypto.randomUUID(), ...endpoint }, options);
  }

  /** All endpoints, oldest first. */
  async list(options?: CallOptions): Promise<readonly WebhookEndpoint[]> {
    const { endpoints } = await this.#http.get<{ endpoints: WebhookEndpoint[] }>('webhook-endpoints', {}, options);
    return endpoints;
  }

  async get(id: string, options?: CallOptions): Promise<WebhookEndpoint> {
    return (await this.#http.get<{ endpoint: WebhookEndpoint }>(pathOf(id), {}, options)).endpoint;
  }

  /** Changes the given fields. While `paused`, deliveries wait. */
  async update(id: string, change: UpdateEndpoint, options?: CallOptions): Promise<WebhookEndpoint> {
    return (await this.#http.patch<{ endpoint: WebhookEndpoint }>(pathOf(id), change, options)).endpoint;
  }

  /** Sends nothing more to it; its outstanding deliveries fail. */
  async remove(id: string, options?: CallOptions): Promise<void> {
    await this.#http.delete(pathOf(id), options);
  }

  /** Enables one that was disabled because it failed. @param replay whether what it has missed is sent, too */
  enable(
    id: string,
    { replay = false }: { readonly replay?: boolean } = {},
    options?: CallOptions,
  ): Promise<{ readonly endpoint: WebhookEndpoint; readonly replayed: number }> {
    return this.#http.post(`${pathOf(id)}/enable`, { replay }, options);
  }

  /**
   * Creates another secret, which signs from `validFrom` (ISO 8601, default: now); the former one for 24 h more. A
   * retry returns the same secret.
   */
  rotateSecret(
    id: string,
    request: { readonly validFrom?: string; readonly idempotencyKey?: string } = {},
    options?: CallOptions,
  ): Promise<{ readonly secret: string; readonly validFrom: string }> {
    const body = { idempotencyKey: crypto.randomUUID(), ...request };
    return this.#http.post(`${pathOf(id)}/rotate-secret`, body, options);
  }

  /** Sends a test event, and returns the response; null if nothing was sent within 20 s. */
  async test(id: string, options?: CallOptions): Promise<DeliveryAttempt | null> {
    return (await this.#http.post<{ attempt: DeliveryAttempt | null }>(`${pathOf(id)}/test`, {}, options)).attempt;
  }
}

const pathOf = (endpointId: string): string => `webhook-endpoints/${encodeURIComponent(endpointId)}`;

/** Deliveries that are sent again, many at once. */
export class WebhookReplays {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Sends again what failed since a time, or what else `replay` selects. It goes on in the background. Generates an
   * `idempotencyKey` if you pass none, so that a retry begins no second one.
   * @example
   * const { id } = await client.webhooks.replays.create({ since: '2026-11-21T09:00:00Z', toEndpointId: 'whe_…' });
   */
  async create(replay: CreateReplay, options?: CallOptions): Promise<WebhookReplay> {
    const body = { idempotencyKey: crypto.randomUUID(), ...replay };
    return (await this.#http.post<{ replay: WebhookReplay }>('webhook-replays', body, options)).replay;
  }

  /** Lists replays, newest first. Pages are fetched as you iterate. */
  list(filter: ListReplays = {}, options?: CallOptions): Pages<WebhookReplay> {
    return new Pages(async (cursor) => {
      const { replays, nextCursor } = await this.#http.get<{ replays: WebhookReplay[]; nextCursor: string | null }>(
        'webhook-replays',
        { ...filter, cursor },
        options,
      );
      return { items: replays, nextCursor };
    }, filter.cursor);
  }

  /** How far it is. */
  async get(id: string, options?: CallOptions): Promise<WebhookReplay> {
    const path = `webhook-replays/${encodeURIComponent(id)}`;
    return (await this.#http.get<{ replay: WebhookReplay }>(path, {}, options)).replay;
  }

  /** Ends it: it sends nothing more but for what is due already. Cancelling a replay that has ended changes nothing. */
  async cancel(id: string, options?: CallOptions): Promise<WebhookReplay> {
    const path = `webhook-replays/${encodeURIComponent(id)}/cancel`;
    return (await this.#http.post<{ replay: WebhookReplay }>(path, {}, options)).replay;
  }
}

/** Webhook deliveries. */
export class Webhooks {
  readonly verify = verifyWebhook;
  readonly endpoints: WebhookEndpoints;
  readonly replays: WebhookReplays;
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
    this.endpoints = new WebhookEndpoints(http);
    this.replays = new WebhookReplays(http);
  }

  /** Lists deliveries, newest first. Pages are fetched as you iterate. */
  list(filter: ListDeliveries = {}, options?: CallOptions): Pages<WebhookDelivery> {
    return new Pages(async (cursor) => {
      const { deliveries, nextCursor } = await this.#http.get<{
        deliveries: WebhookDelivery[];
        nextCursor: string | null;
      }>('webhooks', { ...filter, cursor }, options);
      return { items: deliveries, nextCursor };
    }, filter.cursor);
  }

  /** Sends the same event with the same body again, immediately. */
  async retry(id: string, options?: CallOptions): Promise<WebhookDelivery> {
    const { delivery } = await this.#http.post<{ delivery: WebhookDelivery }>(
      `webhooks/${encodeURIComponent(id)}/retry`,
      {},
      options,
    );
    return delivery;
  }

  /** What was tried, oldest first, what is sent, and when it is tried again. */
  attempts(
    id: string,
    options?: CallOptions,
  ): Promise<{
    readonly attempts: readonly DeliveryAttempt[];
    readonly nextAttemptAt: string | null;
    readonly requestBody: string | null;
  }> {
    return this.#http.get(`webhooks/${encodeURIComponent(id)}/attempts`, {}, options);
  }
}
