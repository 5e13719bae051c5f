import { createServer, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/**
 * Receivers in a process of their own, so that the sender is measured and not this benchmark:
 *
 *   node receivers.ts QUICK HANGING DRIBBLING
 *
 * Prints one line of JSON with the URLs of each kind, then answers GET on `control` with what arrived at the quick
 * ones.
 */
const [quick = 1, hanging = 0, dribbling = 0] = process.argv.slice(2).map(Number);
const DRIBBLE_MS = 1_000;

/** Arrivals at each quick URL: event id to milliseconds since 1970, the first of each. */
let arrived = quickLog();
function quickLog(): Map<string, number>[] {
  return Array.from({ length: quick }, () => new Map<string, number>());
}

const answer =
  (index: number): RequestListener =>
  (request, response) => {
    request.resume();
    request.on('end', () => {
      const log = arrived[index];
      const id = String(request.headers['webhook-id']);
      if (log && !log.has(id)) log.set(id, Date.now());
      response.writeHead(200).end();
    });
  };
/** A valid response that takes minutes: a byte a second, from the status line on. */
const dribble: RequestListener = (request, response) => {
  request.resume();
  const text = `HTTP/1.1 200 OK\r\nX-Slow: ${'x'.repeat(600)}\r\n\r\n`;
  let sent = 0;
  const timer = setInterval(() => response.socket?.write(text[sent++] ?? ''), DRIBBLE_MS);
  response.on('close', () => clearInterval(timer));
};

const servers: Server[] = [];
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer({ keepAliveTimeout: 60_000 }, listener).listen(0, '127.0.0.1', 4_096);
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
}
const all = (count: number, listener: (index: number) => RequestListener): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => serve(listener(index))));

const urls = {
  quick: await all(quick, answer),
  hanging: await all(hanging, () => (request) => request.resume()),
  dribbling: await all(dribbling, () => dribble),
  control: await serve((request, response) => {
    if (request.method === 'DELETE') arrived = quickLog();
    const times = arrived.map((log) => [...log.values()]);
    const summary = {
      count: times.reduce((sum, { length }) => sum + length, 0),
      first: times.flat().reduce((least, at) => Math.min(least, at), Number.MAX_SAFE_INTEGER),
      last: times.flat().reduce((most, at) => Math.max(most, at), 0),
    };
    response.end(JSON.stringify(request.url?.endsWith('/times') ? arrived.map((log) => [...log]) : summary));
  }),
};
console.log(JSON.stringify(urls));
