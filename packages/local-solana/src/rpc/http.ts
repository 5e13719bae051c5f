import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { answerText, type Dispatch } from './dispatcher.ts';

/** Enough for a batch of transactions; a real node accepts 50 KB. */
const MAX_BODY = 1_048_576;
/** Browser wallets need CORS. */
const HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': 'POST, GET, OPTIONS',
  'content-type': 'application/json',
};

/** Longer than clients keep an idle connection, so that none sends on a connection that is being closed. */
const KEEP_ALIVE_MS = 65_000;

/**
 * The body as text; null: it is too long. It is read to its end anyway, or the client would not receive the response.
 */
async function bodyOf(incoming: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY) chunks.push(chunk);
  }
  return length <= MAX_BODY ? Buffer.concat(chunks).toString() : null;
}

async function serve(incoming: IncomingMessage, outgoing: ServerResponse, dispatch: Dispatch): Promise<void> {
  if (incoming.method === 'OPTIONS') return void outgoing.writeHead(204, HEADERS).end();
  if (incoming.method === 'GET' && incoming.url === '/health')
    return void outgoing.writeHead(200, { ...HEADERS, 'content-type': 'text/plain' }).end('ok');
  if (incoming.method !== 'POST')
    return void outgoing
      .writeHead(405, { ...HEADERS, 'content-type': 'text/plain' })
      .end('Used HTTP Method is not allowed. POST or OPTIONS is required\n');
  const body = await bodyOf(incoming);
  if (body === null) return void outgoing.writeHead(413, HEADERS).end();
  outgoing.writeHead(200, HEADERS).end((await answerText(body, dispatch)) ?? '');
}

/** JSON-RPC over HTTP, as on a node's RPC port. */
export function httpServer(dispatch: Dispatch): Server {
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (incoming, outgoing) => {
    serve(incoming, outgoing, dispatch).catch(() => {
      // The client disconnected during its request: there is nowhere to respond.
      outgoing.destroy();
    });
  });
}
