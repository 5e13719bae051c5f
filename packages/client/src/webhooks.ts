import { SignatureError } from './errors.ts';
import type { CallOptions, Http } from './http.ts';
import { Pages } from './pages.ts';
import type { ListDeliveries, WebhookDelivery, WebhookEvent } from './types.ts';

/**
 * Verifies the signature of a webhook, in constant time, and parses it.
 *
 * @param payload the exact bytes of the body, before any JSON parser
 * @param header the value of `X-PF-Signature`
 * @param secret `whsec_…`
 * @throws SignatureError if the payload was not signed with this secret
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
      'The webhook signature is invalid. Pass the unparsed request body, and the secret of the same mode.',
    );
  }
  return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
}

/** For webhook receivers, which need no API key. */
export const webhooks = { verify: verifyWebhook } as const;

function fromHex(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[0-9a-f]{64}$/i.test(text)) return null;
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

/** Webhook deliveries. */
export class Webhooks {
  readonly verify = verifyWebhook;
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
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
}
