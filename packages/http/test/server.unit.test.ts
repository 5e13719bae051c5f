import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
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
});
