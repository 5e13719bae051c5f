import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { isResponseFault, type RpcFault, RpcFaults } from './rpc-fault.ts';
import { type Ask, behind, forgetful, type Lie, strange } from './rpc-lies.ts';

const request = z.object({
  jsonrpc: z.literal('2.0').default('2.0'),
  id: z.union([z.number(), z.string()]),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
});
const requests = z.union([request, z.array(request)]);
export type RpcRequest = z.infer<typeof request>;
const rpcResponse = z.object({ result: z.unknown().optional() });

/**
 * An upstream between a service and a node of any chain, which counts calls and injects faults.
 */
export interface RpcProxy {
  readonly url: string;
  /** The URL of the node. May be changed, for example to another chain. */
  target: string;
  /**
   * The active faults. The first that applies to a request counts, so faults with `times` follow one another.
   */
  faults: readonly RpcFault[];
  /**
   * Responds instead of the node, now or later; an Error becomes a JSON-RPC error, of its `code` or else -32000.
   * undefined: the node responds.
   */
  respond: (request: RpcRequest) => unknown;
  /** The number of calls by method. */
  readonly calls: Map<string, number>;
  /** The number of HTTP requests: a batch is one. */
  readonly requests: number;
  stop(): Promise<void>;
}

const coded = z.object({ code: z.number() });
const errorOf = (error: Error): object => ({
  code: coded.safeParse(error).data?.code ?? -32_000,
  message: error.message,
});

/** What a proxy without a node behind it responds: these answers, beside those of a Base node at block 100. */
export const answering =
  (answers: Readonly<Record<string, unknown>>): RpcProxy['respond'] =>
  ({ method }) =>
    ({ eth_chainId: '0x14a34', eth_blockNumber: '0x64', ...answers })[method] ?? new Error(`no ${method} here`);

/** Starts a proxy on a free loopback port. */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const calls = new Map<string, number>();
  const faults = new RpcFaults();
  let counted = 0;
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.writeHead(502).end());
  });
  const proxy = {
    url: '',
    target,
    get faults(): readonly RpcFault[] {
      return faults.all;
    },
    set faults(all: readonly RpcFault[]) {
      faults.set(all);
    },
    respond: (_request: RpcRequest): unknown => undefined,
    calls,
    get requests(): number {
      return counted;
    },
    stop: async (): Promise<void> => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };

  async function forward(body: unknown): Promise<unknown> {
    const response = await fetch(proxy.target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.json();
  }
  const ask: Ask = async ({ method, params }) =>
    rpcResponse.parse(await forward({ jsonrpc: '2.0', id: 0, method, params })).result;

  /** The proxy's own response to a call; undefined: the node responds. */
  async function ownResponse(call: RpcRequest, lie: Lie | null): Promise<unknown> {
    const chosen = await proxy.respond(call);
    const result = chosen === undefined ? await lie?.(call, ask) : chosen;
    if (result === undefined) return undefined;
    return {
      jsonrpc: '2.0',
      id: call.id,
      ...(result instanceof Error ? { error: errorOf(result) } : { result }),
    };
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = requests.parse(JSON.parse(await text(incoming)));
    const rpcCalls = [body].flat();
    counted += 1;
    for (const { method } of rpcCalls) calls.set(method, (calls.get(method) ?? 0) + 1);
    const fault = faults.take(rpcCalls.map(({ method }) => method));
    if (fault?.kind === 'status') return void outgoing.writeHead(fault.status).end('{}');
    if (fault?.kind === 'malformed') return void outgoing.end('<html>bad gateway');
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'cut') return void incoming.socket.destroy();
    const own = await Promise.all(rpcCalls.map((call) => ownResponse(call, lieOf(fault, call.method))));
    // Forwarded unchanged when the node responds to all of it, so that one request here is one request there.
    const responses = own.every((response) => response === undefined)
      ? await forward(body)
      : await Promise.all(own.map(async (response, index) => response ?? (await forward(rpcCalls[index]))));
    if (fault?.kind === 'swallow') return;
    if (fault?.kind === 'lose') return void incoming.socket.destroy();
    outgoing
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(Array.isArray(responses) && !Array.isArray(body) ? responses[0] : responses));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

/** How a fault makes the node respond to this method; null: truthfully. */
function lieOf(fault: RpcFault | null, method: string): Lie | null {
  if (fault === null || !isResponseFault(fault) || fault.methods?.includes(method) === false) return null;
  switch (fault.kind) {
    case 'refuse':
      return () => Promise.resolve(Object.assign(new Error(fault.reason), { code: fault.code ?? -32_000 }));
    case 'forgetful':
      return forgetful;
    case 'behind':
      return behind(fault.blocks);
    case 'stranger':
      return strange;
    default:
      return fault satisfies never;
  }
}
