import { SignatureError } from './errors.ts';
import type { CallOptions, Http } from './http.ts';
import { Pages } from './pages.ts';
import type { ListDeliveries, WebhookDelivery, WebhookEvent } from './types.ts';

/**
 * Checks a webhook and reads it. Compared in constant time by the platform's own HMAC check.
 *
 * @param payload the exact bytes of the body, before any JSON parser
 * @param header the value of `X-PF-Signature`
 * @param secret `whsec_…`
 * @throws SignatureError where the payload was not signed with this secret
 */
export async function verifyWebhook(
  payload: string | Uint8Array,
  header: string | null | undefined,
  secret: string,
): Promise<WebhookEvent> {
  const text = new TextEncoder();
  const bytes = typeof payload === 'string' ? text.encode(payload) : new Uint8Array(payload);
  const signature = fromHex(header ?? '');
  const key = await crypto.subtle.importKey('raw', text.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);
  if (signature === null || !(await crypto.subtle.verify('HMAC', key, signature, bytes))) {
    throw new SignatureError(
      'The webhook was not signed with this secret. Use the bytes as they came, and the secret of the right mode.',
    );
  }
  return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
}

/** For receivers of webhooks, which need no client. */
export const webhooks = { verify: verifyWebhook } as const;

function fromHex(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[0-9a-f]{64}$/i.test(text)) return null;
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

/** Deliveries of webhooks. */
export class Webhooks {
  readonly verify = verifyWebhook;
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Deliveries, newest first. */
  list(filter: ListDeliveries = {}, options?: CallOptions): Pages<WebhookDelivery> {
    return new Pages(async (cursor) => {
      const { deliveries, nextCursor } = await this.#http.get<{
        deliveries: WebhookDelivery[];
        nextCursor: string | null;
      }>('webhooks', { ...filter, cursor }, options);
      return { items: deliveries, nextCursor };
    }, filter.cursor);
  }

  /** Sends one delivery again, at once: the same event and bytes. */
  async retry(id: string, options?: CallOptions): Promise<WebhookDelivery> {
    const { delivery } = await this.#http.post<{ delivery: WebhookDelivery }>(
      `webhooks/${encodeURIComponent(id)}/retry`,
      {},
      options,
    );
    return delivery;
  }
}
