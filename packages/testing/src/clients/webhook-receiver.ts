import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PublicClaim, PublicEventType, PublicIntent, PublicPayment } from '@pf/domain';

export interface ReceivedWebhook {
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  readonly body: {
    readonly eventId: string;
    readonly type: PublicEventType;
    readonly createdAt: string;
    readonly livemode: boolean;
    readonly data: { readonly intent: PublicIntent; readonly payment?: PublicPayment; readonly claim?: PublicClaim };
  };
  /** When it arrived: ms since 1970. */
  readonly at: number;
}

/**
 * An integrator's endpoint on loopback. `respond` may be changed at any time: a status, or a function of the delivery.
 */
export interface WebhookReceiver {
  readonly url: string;
  readonly received: readonly ReceivedWebhook[];
  respond: number | ((webhook: ReceivedWebhook) => number | Promise<number>);
  close(): Promise<void>;
}

/**
 * @param host the name by which senders in containers reach this machine: the receiver then listens on all addresses
 * instead of loopback
 */
export async function webhookReceiver(
  onWebhook: (webhook: ReceivedWebhook) => void = () => undefined,
  host?: string,
): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const receiver = { respond: 200 as WebhookReceiver['respond'] };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks).toString('utf8');
      const webhook = {
        headers: request.headers,
        raw,
        body: JSON.parse(raw) as ReceivedWebhook['body'],
        at: Date.now(),
      };
      received.push(webhook);
      onWebhook(webhook);
      void Promise.resolve(typeof receiver.respond === 'number' ? receiver.respond : receiver.respond(webhook)).then(
        (status) => response.writeHead(status).end(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host === undefined ? '127.0.0.1' : '0.0.0.0', resolve));
  return Object.assign(receiver, {
    url: `http://${host ?? '127.0.0.1'}:${(server.address() as AddressInfo).port}/webhooks`,
    received,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

/**
 * Verifies X-PF-Signature as a receiver does: the HMAC of the raw bytes with the whole secret, compared in constant
 * time.
 */
export function hasValidSignature(webhook: ReceivedWebhook, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(webhook.raw).digest();
  const given = Buffer.from(String(webhook.headers['x-pf-signature'] ?? ''), 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
