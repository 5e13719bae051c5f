import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createSender, type SendResult } from '../src/sender.ts';

const cleanUp: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) await clean();
});

async function receiver(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function send(url: string, timeoutMs = 30_000, more: Readonly<Record<string, string>> = {}): Promise<SendResult> {
  const sender = createSender({ allowPrivate: true, timeoutMs });
  cleanUp.push(() => sender.close());
  return sender.send(url, { 'content-type': 'application/json', ...more }, Buffer.from('{"a":"ü"}'));
}

describe('The sender', () => {
  it('posts the exact bytes and returns the response', async () => {
    const received: Buffer[] = [];
    const url = await receiver((request, response) => {
      request.on('data', (chunk: Buffer) => received.push(chunk));
      request.on('end', () => response.writeHead(429, { 'retry-after': '120' }).end('busy'));
    });
    expect(await send(url)).toEqual({ kind: 'response', status: 429, bodyStart: 'busy', retryAfter: '120' });
    expect(Buffer.concat(received).toString('utf8')).toBe('{"a":"ü"}');
  });

  it('names itself, unless its caller gives another name', async () => {
    const url = await receiver((request, response) => response.end(String(request.headers['user-agent'])));
    expect(await send(url)).toMatchObject({ bodyStart: 'PaymentIntents/1.0' });
    expect(await send(url, undefined, { 'User-Agent': 'shop' })).toMatchObject({ bodyStart: 'shop' });
  });

  it('does not follow a redirect', async () => {
    let requests = 0;
    const url = await receiver((_request, response) => {
      requests += 1;
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect(await send(url)).toMatchObject({ kind: 'response', status: 302 });
    expect(requests).toBe(1);
  });

  it('keeps 1 KiB of a response that never ends and drops the connection', async () => {
    let closed: Promise<unknown> | undefined;
    const url = await receiver((_request, response) => {
      closed = once(response, 'close');
      response.writeHead(200);
      const pour = (): void => {
        while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
        response.once('drain', pour);
      };
      pour();
    });
    const result = await send(url);
    expect(result).toMatchObject({ kind: 'response', status: 200 });
    expect(result.kind === 'response' && result.bodyStart.length).toBe(1_024);
    await closed;
  });

  it('cuts a body between characters and keeps no NUL', async () => {
    const url = await receiver((_request, response) => response.end(`\0${'é'.repeat(1_024)}`));
    const result = await send(url);
    expect(result.kind === 'response' && result.bodyStart).toBe(`\uFFFD${'é'.repeat(511)}`);
  });

  it('returns a response whose body never ends, within a second or so', async () => {
    const url = await receiver((_request, response) => {
      response.writeHead(200);
      response.write('begun');
    });
    const began = performance.now();
    expect(await send(url, 60_000)).toEqual({ kind: 'response', status: 200, bodyStart: 'begun', retryAfter: null });
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  it.each([200, 1_000, 5_000, 15_000])('sends within whatever timeout it has, such as %i ms', async (timeoutMs) => {
    const url = await receiver((_request, response) => response.writeHead(204).end());
    expect(await send(url, timeoutMs)).toMatchObject({ kind: 'response', status: 204 });
  });

  it('gives up after its timeout', async () => {
    const url = await receiver(() => undefined);
    expect(await send(url, 200)).toEqual({ kind: 'failed', reason: 'No response within 0.2 s.' });
  });

  it('gives up on headers that never end', async () => {
    const sockets = new Set<Socket>();
    const server = createTcpServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\nX-Drip: ');
      const drip = setInterval(() => socket.write('.'), 20);
      socket.on('close', () => clearInterval(drip));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanUp.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    expect(await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, 300)).toMatchObject({
      kind: 'failed',
    });
  });

  it('describes errors in words for the account', async () => {
    const closed = createTcpServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ kind: 'failed', reason: 'The connection was refused.' });
    expect(await send(await receiver((request) => request.socket.destroy()))).toEqual({
      kind: 'failed',
      reason: 'The connection was closed before a response arrived.',
    });
  });
});
