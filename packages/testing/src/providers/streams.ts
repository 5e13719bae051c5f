import type { Server } from 'node:http';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import type { World } from './exchange.ts';

/** Notifications that a subscription's socket holds back at a time; more are lost. */
const LATE_MAX = 100;
const MESSAGE_MAX_BYTES = 2 ** 20;

/** What happens to a notification. */
type Delivery = 'once' | 'twice' | 'late' | 'never';
/** What happens to the notifications of a new socket, the first to the last. Counts sockets from 0. */
type Sockets = (socket: number) => (notification: number) => Delivery;

/** A socket relays every response, and notifications as this says. */
export interface SocketBehavior {
  readonly deliveries: Sockets;
  /** How late a late notification is. */
  readonly late: () => Promise<void>;
}

export const asTheyCome = (): SocketBehavior => ({
  deliveries: () => () => 'once',
  late: () => Promise.resolve(),
});

/**
 * The first socket and every second one after it is silent: subscribed, and without a notification. The others miss
 * the first notifications, as after the gap of a reconnection; then one comes once, one twice, one late, one never.
 */
export const unreliable =
  (gap: number, lateMs: number) =>
  ({ wait }: World): SocketBehavior => ({
    deliveries: (socket) => (notification) => {
      if (socket % 2 === 0 || notification < gap) return 'never';
      return (['once', 'twice', 'late', 'never'] as const)[(notification - gap) % 4] ?? 'once';
    },
    late: () => wait(lateMs),
  });

const message = z.object({ method: z.string() });
const textOf = (data: RawData): string =>
  (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString();
const isNotification = (text: string): boolean => {
  try {
    return message.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
};

/** Relays WebSockets of this server to the node at the same place as its HTTP. */
export function relaySockets(server: Server, target: string, behavior: SocketBehavior): { stop(): void } {
  const sockets = new WebSocketServer({ server, maxPayload: MESSAGE_MAX_BYTES });
  let opened = 0;
  // The HTTP server reports its errors to its caller.
  sockets.on('error', () => undefined);
  sockets.on('connection', (client) => {
    const deliveryOf = behavior.deliveries(opened++);
    const node = new WebSocket(target.replace(/^http/, 'ws'), { maxPayload: MESSAGE_MAX_BYTES });
    const waiting: string[] = [];
    let notifications = 0;
    let late = 0;
    const deliver = (text: string): void => {
      if (client.readyState === WebSocket.OPEN) client.send(text);
    };
    client.on('message', (data) => {
      if (node.readyState === WebSocket.OPEN) node.send(textOf(data));
      else if (waiting.length < LATE_MAX) waiting.push(textOf(data));
    });
    node.on('open', () => waiting.splice(0).forEach((text) => node.send(text)));
    node.on('message', (data) => {
      const text = textOf(data);
      const delivery = isNotification(text) ? deliveryOf(notifications++) : 'once';
      if (delivery === 'once' || delivery === 'twice') deliver(text);
      if (delivery === 'twice') deliver(text);
      if (delivery !== 'late' || late === LATE_MAX) return;
      late += 1;
      void behavior.late().then(() => {
        late -= 1;
        deliver(text);
      });
    });
    for (const [one, other] of [
      [client, node],
      [node, client],
    ] as const) {
      // `close` follows.
      one.on('error', () => undefined);
      one.on('close', () => other.terminate());
    }
  });
  return {
    stop() {
      for (const client of sockets.clients) client.terminate();
      sockets.close();
    },
  };
}
