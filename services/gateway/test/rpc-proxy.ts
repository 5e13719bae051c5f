import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const call = z.looseObject({ id: z.unknown(), method: z.string() });
const calls = z.union([z.array(call), call.transform((single) => [single])]);

/**
 * refuse: the node says no, with this reason. lose: the transaction arrives, the answer does not. cut: neither does.
 */
export type Fault = { readonly kind: 'refuse'; readonly reason: string } | { readonly kind: 'lose' } | { readonly kind: 'cut' };

/** Stands between the gateway and a real node, and spoils the next broadcasts as it is told. */
export interface RpcProxy {
  readonly url: string;
  /** For each of the next broadcasts, in turn; then they pass. */
  readonly broadcastFaults: Fault[];
  /** While true no call gets through. */
  down: boolean;
  close(): Promise<void>;
}

export async function rpcProxy(target: string): Promise<RpcProxy> {
  const faults: Fault[] = [];
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: RpcProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    broadcastFaults: faults,
    down: false,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (proxy.down) return void request.socket.destroy();
    const broadcast = calls.parse(JSON.parse(body)).find(({ method }) => method === 'eth_sendRawTransaction');
    const fault = broadcast && faults.shift();
    if (fault?.kind === 'cut') return void request.socket.destroy();
    if (fault?.kind === 'refuse') {
      const answer = { jsonrpc: '2.0', id: broadcast?.id, error: { code: -32000, message: fault.reason } };
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(body.startsWith('[') ? [answer] : answer));
    }
    const answer = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const said = await answer.text();
    if (fault?.kind === 'lose') return void request.socket.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(said);
  }
  return proxy;
}
