import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a gateway received. */
export interface ReceivedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
}
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server in the gateway's place, for what is forwarded to it. */
export interface GatewayDouble {
  readonly url: string;
  /** Newest last. */
  readonly received: readonly ReceivedRequest[];
  /** Forgets what was received, and answers so from now on. */
  answerWith(answer: Answer): void;
  close(): Promise<void>;
}

/** An answer in JSON. */
export const json =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
    response.end(JSON.stringify(body));
  };

/** The body of an error response. */
export const refusalOf = (code: string) => ({ error: { code, message: 'No.', param: null, details: null } });

export async function gatewayDouble(): Promise<GatewayDouble> {
  const received: ReceivedRequest[] = [];
  let answer: Answer = json(500, {});
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ request, response, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answerWith(next) {
      received.length = 0;
      answer = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
