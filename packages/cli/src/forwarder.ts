import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** URLs of forwarders begin so: they are known again, where one was killed before it could be removed. */
export const FORWARDER_URL = /^http:\/\/127\.0\.0\.1:\d+\/pf-listen\//;
/** Less than the service waits for us. */
const PATIENCE_MS = 14_000;
/** What belongs to one connection and not to the message. */
const OF_THE_CONNECTION = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
]);

/** A delivery that was passed on. */
export interface Forwarded {
  readonly at: Date;
  readonly deliveryId: string;
  readonly eventId: string;
  readonly attempt: number;
  /** The raw body. */
  readonly body: string;
  /** The receiver's response; null if there was none, and the service got 502: it retries. */
  readonly status: number | null;
  readonly error: string | null;
  readonly ms: number;
}

/**
 * Stands in for a receiver that the service cannot reach, or should not know: takes deliveries on loopback and passes
 * them on, byte for byte.
 */
export interface Forwarder {
  /** To be added to the account's URLs. */
  readonly url: string;
  close(): Promise<void>;
}

/** @param passes false: the delivery is taken and goes no further */
export async function startForwarder(
  target: URL,
  passes: (body: string) => boolean,
  onForwarded: (forwarded: Forwarded) => void,
): Promise<Forwarder> {
  const path = `/pf-listen/${randomUUID()}`;
  const server = createServer((request, response) => {
    const answer = (status: number): void => void response.writeHead(status).end();
    if (request.url !== path || request.method !== 'POST') {
      answer(404);
      return;
    }
    buffer(request).then(
      async (body) => {
        if (!passes(body.toString('utf8'))) {
          answer(200);
          return;
        }
        const forwarded = await forward(target, request, body);
        answer(forwarded.status ?? 502);
        onForwarded(forwarded);
      },
      // The service went away in the middle: it comes again.
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, close: () => close(server) };
}

async function forward(target: URL, request: IncomingMessage, body: Buffer): Promise<Forwarded> {
  const at = new Date();
  const began = performance.now();
  const headers = Object.entries(request.headers)
    .filter(([name]) => !OF_THE_CONNECTION.has(name))
    .map(([name, value]): [string, string] => [name, String(value)]);
  const known = {
    at,
    deliveryId: String(request.headers['x-pf-delivery-id'] ?? ''),
    eventId: String(request.headers['x-pf-event-id'] ?? ''),
    attempt: Number(request.headers['x-pf-attempt'] ?? 1),
    body: body.toString('utf8'),
  };
  const ms = (): number => Math.round(performance.now() - began);
  try {
    const answer = await fetch(target, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    await answer.body?.cancel();
    return { ...known, status: answer.status, error: null, ms: ms() };
  } catch (error) {
    // No server there, or a slow one: the service hears 502, and tries again by its schedule.
    return { ...known, status: null, error: reasonOf(error), ms: ms() };
  }
}

/** fetch says "fetch failed", and why one level down. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  await closed;
}
