import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { seededRandom } from '../seeded-random.ts';
import {
  type Handler,
  item,
  json,
  posted,
  refused,
  refusal,
  type Reply,
  type Request,
  type World,
} from './exchange.ts';
import { profileOf, type ProfileNames } from './profiles.ts';
import { relaySockets } from './streams.ts';

/** What providers take: more is refused with 413. */
const REQUEST_MAX_BYTES = 10 * 2 ** 20;

export interface ProviderOptions {
  /** ms of a clock that never falls. Default: the machine's. */
  readonly now?: () => number;
  /** How so many ms pass. Default: they do. */
  readonly wait?: (ms: number) => Promise<void>;
  /** Of what a profile does at random. Default: 1 */
  readonly seed?: number;
  /** Some of the profile's limits, by their names in profiles.ts, for limits that a test cannot reach. */
  readonly limits?: Readonly<Record<string, number>>;
}

/** A provider's plan before a node. */
export interface Provider {
  /** For HTTP. */
  readonly url: string;
  /** For WebSockets; null where the plan has none. */
  readonly stream: string | null;
  /** How often each method was called, whatever the response. */
  readonly calls: ReadonlyMap<string, number>;
  /** HTTP requests: an array is one. */
  readonly requests: number;
  stop(): Promise<void>;
}

/**
 * Starts a proxy before a node's JSON-RPC that behaves as a provider's plan does, on a free loopback port.
 * @param names a profile, or several
 * @param target the node's URL
 * @throws Error for a limit that the profile does not have, or a profile that does not exist
 */
export async function startProvider(
  names: ProfileNames,
  target: string,
  { now = () => performance.now(), wait, seed = 1, limits = {} }: ProviderOptions = {},
): Promise<Provider> {
  const stopped = new AbortController();
  const world: World = {
    now,
    wait: wait ?? ((ms) => delay(ms, undefined, { signal: stopped.signal, ref: false }).catch(() => undefined)),
    random: seededRandom(seed),
    ask: async ({ method, params }) => {
      const reply = await toNode(target, { calls: [{ id: 0, method, params: [...params] }], isArray: false });
      return item.parse(reply.body).result;
    },
  };
  const { behaviors, sockets } = profileOf(names).start(limits);
  const handle = behaviors.reduceRight<Handler>(
    (next, behavior) => {
      const act = behavior(world);
      return (request) => act(request, next);
    },
    (request) => toNode(target, request),
  );
  const counted = new Map<string, number>();
  let requests = 0;
  const counting: Handler = (request) => {
    requests += 1;
    for (const { method } of request.calls) counted.set(method, (counted.get(method) ?? 0) + 1);
    return handle(request);
  };
  const server = createServer((incoming, outgoing) => {
    serve(counting, incoming, outgoing).catch((error: unknown) => {
      if (!outgoing.headersSent) outgoing.writeHead(502).end(error instanceof Error ? error.message : undefined);
    });
  });
  const relay = sockets && relaySockets(server, target, sockets(world));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    stream: relay && `ws://${host}`,
    calls: counted,
    get requests() {
      return requests;
    },
    async stop() {
      stopped.abort();
      relay?.stop();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serve(handle: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > REQUEST_MAX_BYTES) return void outgoing.writeHead(413).end();
    chunks.push(chunk);
  }
  const parsed = posted.safeParse(parsedJson(Buffer.concat(chunks).toString()));
  const { status, headers, body } = parsed.success
    ? await handle({ calls: [parsed.data].flat(), isArray: Array.isArray(parsed.data) })
    : refused({ calls: [], isArray: true }, refusal(400, -32_700, 'parse error'));
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  outgoing
    .writeHead(status, { 'content-type': type, ...headers })
    .end(typeof body === 'string' ? body : JSON.stringify(body));
}

async function toNode(target: string, { calls, isArray }: Request): Promise<Reply> {
  const all = calls.map((call) => ({ jsonrpc: '2.0', ...call }));
  const response = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(isArray ? all : all[0]),
  });
  return json(z.union([z.array(item), item]).parse(await response.json()));
}

/** Undefined where it is not JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
