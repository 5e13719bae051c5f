import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A JSON-RPC call as a provider receives it. */
export interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly number[];
}
export interface Response {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** As it is where it is text or bytes, otherwise as JSON. */
  readonly body: unknown;
}
export interface Provider {
  readonly url: string;
  /** Of the last request. */
  readonly headers: IncomingHttpHeaders;
  stop(): Promise<void>;
}

/** The error of a call, or of a whole request (null). */
export const error = (id: number | null, code: number, message: string, data?: object): object => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...(data && { data }) },
});
/** What Base Sepolia responds: its chain, a head, and otherwise the first parameter. */
export const result = ({ id, method, params }: Call): object => ({
  jsonrpc: '2.0',
  id,
  result: method === 'eth_chainId' ? '0x14a34' : method === 'eth_blockNumber' ? '0x1' : (params[0] ?? null),
});
/** All calls answered. */
export const served = (calls: readonly Call[], isArray: boolean): Response => ({
  body: isArray ? calls.map(result) : result(calls[0] as Call),
});

/** A real HTTP server of which the test says how it responds. */
export async function startProvider(
  respond: (calls: readonly Call[], isArray: boolean) => Response,
): Promise<Provider> {
  let received: IncomingHttpHeaders = {};
  const server = createServer((request, response) => {
    received = request.headers;
    void json(request).then((body) => {
      const { status = 200, headers = {}, body: sent } = respond([body].flat() as Call[], Array.isArray(body));
      const isRaw = typeof sent === 'string' || sent instanceof Uint8Array;
      response.writeHead(status, headers).end(isRaw ? sent : JSON.stringify(sent));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get headers() {
      return received;
    },
    stop: async () => {
      const ended = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await ended;
    },
  };
}
