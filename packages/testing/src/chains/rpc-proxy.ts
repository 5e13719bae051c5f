import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { isAnswerFault, type RpcFault, RpcFaults } from './rpc-fault.ts';
import { type Ask, behind, forgetful, type Lie, strange } from './rpc-lies.ts';

const request = z.object({
  jsonrpc: z.literal('2.0').default('2.0'),
  id: z.union([z.number(), z.string()]),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
});
const requests = z.union([request, z.array(request)]);
export type RpcRequest = z.infer<typeof request>;
const answered = z.object({ result: z.unknown().optional() });

/**
 * An upstream between a service and a node of any chain, which counts what is asked and can do all that bad nodes do.
 */
export interface RpcProxy {
  readonly url: string;
  /** Where requests go. May be moved: to another chain, say. */
  target: string;
  /**
   * From now on, until others are set: the first that is for a request counts, so those with `times` come one after the
   * other.
   */
  faults: readonly RpcFault[];
  /** Answers instead of the node, at once or later, an Error with a refusal; undefined: the node answers. */
  answer: (request: RpcRequest) => unknown;
  /** How often each method was asked for. */
  readonly calls: Map<string, number>;
  /** HTTP requests so far: a batch is one. */
  readonly requests: number;
  stop(): Promise<void>;
}

/** Starts one on a free port of loopback. */
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
    answer: (_request: RpcRequest): unknown => undefined,
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
    answered.parse(await forward({ jsonrpc: '2.0', id: 0, method, params })).result;

  /** One question's answer that the node behind has no part in; undefined: it is the node's. */
  async function own(one: RpcRequest, lie: Lie | null): Promise<unknown> {
    const told = await proxy.answer(one);
    const said = told === undefined ? await lie?.(one, ask) : told;
    if (said === undefined) return undefined;
    return {
      jsonrpc: '2.0',
      id: one.id,
      ...(said instanceof Error ? { error: { code: -32000, message: said.message } } : { result: said }),
    };
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = requests.parse(JSON.parse(await text(incoming)));
    const asked = [body].flat();
    counted += 1;
    for (const { method } of asked) calls.set(method, (calls.get(method) ?? 0) + 1);
    const fault = faults.take(asked.map(({ method }) => method));
    if (fault?.kind === 'status') return void outgoing.writeHead(fault.status).end('{}');
    if (fault?.kind === 'malformed') return void outgoing.end('<html>bad gateway');
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'cut') return void incoming.socket.destroy();
    const said = await Promise.all(asked.map((one) => own(one, lieOf(fault, one.method))));
    // As it came, where all of it is for the node: one request there for one here.
    const answers = said.every((one) => one === undefined)
      ? await forward(body)
      : await Promise.all(said.map(async (one, place) => (one === undefined ? await forward(asked[place]) : one)));
    if (fault?.kind === 'swallow') return;
    if (fault?.kind === 'lose') return void incoming.socket.destroy();
    outgoing
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(Array.isArray(answers) && !Array.isArray(body) ? answers[0] : answers));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

/** What a fault has a node say to a question of this method; null: the truth. */
function lieOf(fault: RpcFault | null, method: string): Lie | null {
  if (fault === null || !isAnswerFault(fault) || fault.methods?.includes(method) === false) return null;
  switch (fault.kind) {
    case 'refuse':
      return () => Promise.resolve(new Error(fault.reason));
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
