import type { Server } from 'node:http';
import { WebSocketServer } from 'ws';
import { answerText, type Dispatch } from '../rpc/dispatcher.ts';
import type { Node } from '../rpc/method.ts';

/** JSON-RPC over WebSockets, and subscriptions, on these servers. */
export function serveSubscriptions(_node: Node, dispatch: Dispatch, servers: readonly Server[]): { stop(): void } {
  const sockets = servers.map((server) => new WebSocketServer({ server }));
  for (const server of sockets) {
    server.on('connection', (socket) => {
      socket.on('message', (data: Buffer) => {
        void answerText(data.toString(), dispatch).then((text) => socket.send(text));
      });
    });
  }
  return {
    stop: () => {
      for (const server of sockets) {
        for (const client of server.clients) client.terminate();
        server.close();
      }
    },
  };
}
