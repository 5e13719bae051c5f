import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { loadConfig, variables } from '@pf/runtime';
import { serveApp } from '../src/serve-app.ts';
import { HttpServer } from '../src/server.ts';

describe('HttpServer.close', () => {
  it('serves a last request on a kept connection and closes it with the response', async () => {
    const server = new HttpServer((_request, response) => response.end('ok'));
    const port = await server.listen('127.0.0.1', 0);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (): Promise<Readonly<Record<string, unknown>>> => {
      const request = get({ host: '127.0.0.1', port, agent });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return {
        kept: request.reusedSocket,
        connection: response.headers.connection,
        hint: response.headers['keep-alive'],
        body: await text(response),
      };
    };
    // A client that honors the hint closes an idle connection before the server would.
    expect(await ask()).toEqual({ kept: false, connection: 'keep-alive', hint: 'timeout=2', body: 'ok' });
    const closed = server.close();
    expect(await ask()).toEqual({ kept: true, connection: 'close', hint: undefined, body: 'ok' });
    await closed;
    await expect(ask()).rejects.toThrow('ECONNREFUSED');
    agent.destroy();
  });
});

describe('HttpServer', () => {
  it('closes connections beyond its most at once, and takes new ones when others are closed', async () => {
    const server = new HttpServer((_request, response) => response.end('ok'), undefined, 2);
    const port = await server.listen('127.0.0.1', 0);
    const open = async (): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined).resume();
      await once(socket, 'connect');
      return socket;
    };
    const [first, second, third] = [await open(), await open(), await open()];
    await once(third, 'close');
    expect([first.destroyed, second.destroyed]).toEqual([false, false]);
    first.destroy();
    await once(first, 'close');
    // The server may hear of it a moment later.
    let answer: string | null = null;
    while (answer === null) {
      answer = await fetch(`http://127.0.0.1:${port}/`).then(
        (response) => response.text(),
        () => null,
      );
    }
    expect(answer).toBe('ok');
    second.destroy();
    await server.close();
  });

  it('closes the connection that was idle for longest where there is no room for another', async () => {
    const server = new HttpServer((_request, response) => response.end('ok'), undefined, 3);
    const port = await server.listen('127.0.0.1', 0);
    const sockets = Array.from({ length: 2 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    const ask = async (socket: Socket): Promise<void> => {
      socket.write('GET / HTTP/1.1\r\nHost: gateway\r\n\r\n');
      await once(socket, 'data');
    };
    const [first, second] = sockets as [Socket, Socket];
    await ask(first);
    await ask(second);
    await ask(first);
    const third = connect(port, '127.0.0.1').on('error', () => undefined);
    await Promise.all([once(second.resume(), 'close'), ask(third)]);
    expect(first.destroyed).toBe(false);
    for (const socket of [first, third]) socket.destroy();
    await server.close();
  });

  /** @returns for how many milliseconds a connection stays open after its only response */
  async function keptOpen(port: number): Promise<number> {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: gateway\r\n\r\n');
    await once(socket, 'data');
    const since = performance.now();
    await once(socket.resume(), 'close');
    return performance.now() - since;
  }

  it('keeps an idle connection for its time, though none may be silent for so long in a response', async () => {
    const unread = { ms: 50, bytes: 1_024 * 1_024 };
    const app: RequestListener = (_request, response) => response.end('ok');
    const server = new HttpServer(app, { keepAliveTimeout: 600 }, undefined, unread);
    expect(await keptOpen(await server.listen('127.0.0.1', 0))).toBeGreaterThan(600);
    await server.close();
  });

  it('keeps connections of a service for as long as its variable says, which is longer than proxies do', async () => {
    const { KEEP_ALIVE_SECONDS } = loadConfig({ KEEP_ALIVE_SECONDS: variables.keepAliveSeconds }, {});
    expect(KEEP_ALIVE_SECONDS).toBeGreaterThan(620);
    let end: unknown;
    const serving = {
      host: '127.0.0.1',
      port: 0,
      health: { serve: () => undefined, until: (_dependency: string, attempt: () => Promise<never>) => attempt() },
      keepAliveSeconds: 0.3,
      clientsMax: 2,
      database: { ready: () => Promise.resolve(true) },
      endStreams: () => undefined,
    };
    const app: RequestListener = (_request, response) => response.end('ok');
    const port = await serveApp(app, serving, (_name, close) => (end = close));
    const ms = await keptOpen(port);
    expect([ms > 300, ms < 60_000]).toEqual([true, true]);
    await (end as () => Promise<void>)();
  });
});
