import type { Server } from 'node:http';
import { type RawData, WebSocketServer } from 'ws';
import type { Node } from '../rpc/method.ts';
import { Connection } from './connection.ts';

const MAX_MESSAGE = 65_536;

/** Notifications follow a response after a delay: clients, kit among them, lose those that arrive with it. */
const FIRST_LOOK_MS = 20;

/** The text of a message, in whichever form the library provides it. */
const textOf = (data: RawData): string =>
  (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString();

/**
 * Subscriptions over WebSockets on these servers. Sends notifications after every change; while a client waits, a
 * timer fires at every slot.
 */
export function serveSubscriptions(node: Node, servers: readonly Server[]): { stop(): void } {
  const { clock } = node.chain;
  const connections = new Set<Connection>();
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  function wakeIn(milliseconds: number): void {
    if (stopped) return;
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(() => node.chain.changed(), milliseconds);
  }
  function notify(): void {
    for (const connection of connections) connection.notify();
    const clientsWait = [...connections].some((connection) => !connection.isIdle);
    if (clock.running && clientsWait) wakeIn(Math.max(1, clock.timeOf(clock.slot() + 1) - Date.now()));
  }
  const stopListening = node.chain.onChange(notify);

  const sockets = servers.map((server) => new WebSocketServer({ server, maxPayload: MAX_MESSAGE }));
  for (const server of sockets) {
    // The HTTP server already reports its errors to its caller; here they would be reported twice.
    server.on('error', () => undefined);
    server.on('connection', (socket) => {
      const connection = new Connection(node, socket);
      connections.add(connection);
      socket.on('message', (data) => {
        connection
          .receive(textOf(data))
          .then(() => wakeIn(FIRST_LOOK_MS))
          .catch((error: unknown) => {
            console.error(error);
            socket.terminate();
          });
      });
      // The library disconnects a client that breaks the protocol: `close` follows.
      socket.on('error', () => undefined);
      socket.on('close', () => connections.delete(connection));
    });
  }
  return {
    stop: () => {
      stopped = true;
      stopListening();
      if (timer !== null) clearTimeout(timer);
      for (const server of sockets) {
        for (const client of server.clients) client.terminate();
        server.close();
      }
    },
  };
}
