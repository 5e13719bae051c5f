import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const request = z.object({ id: z.number(), method: z.string(), params: z.array(z.unknown()) });
const requests = z.union([request, z.array(request)]);
export type RpcRequest = z.infer<typeof request>;

/** What an upstream does to a whole HTTP request instead of answering it. */
export type RpcFault =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'malformed' }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' }
  /** Hands the request on, and then never answers. */
  | { readonly kind: 'swallow' };

/** An upstream between a test and a node, which counts what is asked and can do all that bad nodes do. */
export interface RpcProxy {
  readonly url: string;
  /** Where requests go. May be moved: to another chain, say. */
  target: string;
  /** For all requests from now on; null: none. */
  fault: RpcFault | null;
  /** Answers instead of the node; undefined: the node answers. */
  answer: (request: RpcRequest) => unknown;
  /** How often each method was asked for. */
  readonly calls: Map<string, number>;
  stop(): Promise<void>;
}

/** Starts one on a free port of loopback. */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const calls = new Map<string, number>();
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.writeHead(502).end());
  });
  const proxy = {
    url: '',
    target,
    fault: null as RpcFault | null,
    answer: (_request: RpcRequest): unknown => undefined,
    calls,
    stop: async (): Promise<void> => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };

  async function forward(body: unknown): Promise<unknown> {
    const response = await fetch(proxy.target, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    return response.json();
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = requests.parse(JSON.parse(await text(incoming)));
    const asked = [body].flat();
    for (const { method } of asked) calls.set(method, (calls.get(method) ?? 0) + 1);
    const { fault } = proxy;
    if (fault?.kind === 'status') return void outgoing.writeHead(fault.status).end('{}');
    if (fault?.kind === 'malformed') return void outgoing.end('<html>bad gateway');
    if (fault?.kind === 'hang') return;
    const answers = await Promise.all(
      asked.map(async (one) => {
        const own = proxy.answer(one);
        return own === undefined ? forward({ jsonrpc: '2.0', ...one }) : { jsonrpc: '2.0', id: one.id, ...(own instanceof Error ? { error: { code: -32000, message: own.message } } : { result: own }) };
      }),
    );
    if (fault?.kind === 'swallow') return;
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}
