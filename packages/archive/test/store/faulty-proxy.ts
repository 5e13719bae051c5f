import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * What goes wrong with a request: it is answered with an error and never arrives; it arrives and its response is lost,
 * or ends in the middle; nothing is ever answered; or the text of the response is another.
 */
export type Fault =
  | { readonly status: number; readonly code: string }
  | 'lost'
  | 'cut'
  | 'silent'
  | { readonly rewrite: (text: string) => string };

/** Stands before an S3 server, and does to requests what networks and busy servers do. */
export interface FaultyProxy {
  readonly url: string;
  /** The next requests with this method, whose path has this text, each meet one of these. */
  fail(method: string, text: string, ...faults: readonly Fault[]): void;
  /** `PUT /bucket/key` for each request since the last reset. */
  readonly seen: string[];
  reset(): void;
  close(): Promise<void>;
}

/** @param target the address of the server */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  let planned: { method: string; text: string; fault: Fault }[] = [];
  const seen: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = request;
    const content = await buffer(request);
    seen.push(`${method} ${path.split('?')[0]}`);
    const place = planned.findIndex((plan) => plan.method === method && decodeURIComponent(path).includes(plan.text));
    const fault = place < 0 ? null : planned.splice(place, 1)[0]?.fault;
    if (fault === 'silent') return;
    if (fault && typeof fault === 'object' && 'status' in fault) {
      response.writeHead(fault.status, { 'content-type': 'application/xml' });
      response.end(`<Error><Code>${fault.code}</Code><Message>injected</Message></Error>`);
      return;
    }
    const forwarded = send(target + path, { method, headers, agent: false });
    forwarded.end(content);
    const [upstream] = (await once(forwarded, 'response')) as [IncomingMessage];
    const body = await buffer(upstream);
    if (fault === 'lost') return void request.socket.destroy();
    const text = fault && typeof fault === 'object' ? Buffer.from(fault.rewrite(body.toString())) : body;
    const { 'transfer-encoding': _chunked, connection: _connection, ...kept } = upstream.headers;
    response.writeHead(upstream.statusCode ?? 500, {
      ...kept,
      ...(method !== 'HEAD' && upstream.statusCode !== 204 && { 'content-length': text.length }),
    });
    if (fault !== 'cut') return void response.end(text);
    response.write(text.subarray(0, text.length / 2), () => request.socket.destroy());
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail: (method, text, ...faults) => planned.push(...faults.map((fault) => ({ method, text, fault }))),
    seen,
    reset() {
      planned = [];
      seen.length = 0;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
