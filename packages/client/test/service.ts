import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { PaymentClient } from '../src/index.ts';

interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
export type Respond = (response: ServerResponse) => void;

/** An HTTP server that sends the responses of a test in order, and repeats the last one. */
export interface Service {
  readonly requests: readonly ReceivedRequest[];
  readonly client: PaymentClient;
  readonly baseUrl: string;
  close(): Promise<void>;
}

export async function startService(...responses: readonly Respond[]): Promise<Service> {
  const requests: ReceivedRequest[] = [];
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests.push({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: await text(request),
    });
    (responses[requests.length - 1] ?? responses.at(-1))?.(response);
  }
  const server = createServer((request, response) => void respond(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  return {
    requests,
    client: new PaymentClient({ baseUrl, apiKey: 'pk_test_x', timeoutMs: 10_000 }),
    baseUrl,
    close: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

export const json =
  (status: number, body: object, headers: Record<string, string> = {}): Respond =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

export const failure = (
  status: number,
  code: string,
  details: object | null = null,
  headers: Record<string, string> = {},
): Respond =>
  json(
    status,
    { error: { code, message: `The code is ${code}.`, param: null, details } },
    { 'x-request-id': 'req-1', ...headers },
  );

/** An event stream that sends these messages and ends. */
export const stream =
  (...messages: readonly { readonly event: string; readonly id?: string; readonly data: object }[]): Respond =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const { event, id, data } of messages)
      response.write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
    response.end(': bye\n\n');
  };
