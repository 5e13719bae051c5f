import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Resolve } from '../src/resolver.ts';
import { createSender, type SendResult } from '../src/sender.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) await clean();
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** An HTTP proxy that logs whereto it opens tunnels, or refuses with a status. */
async function startProxy(refuse?: number): Promise<{ readonly url: URL; readonly asked: (string | undefined)[] }> {
  const asked: (string | undefined)[] = [];
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', (request, client) => {
    asked.push(request.url, request.headers['proxy-authorization']);
    if (refuse !== undefined) return void client.end(`HTTP/1.1 ${refuse} No\r\n\r\n`);
    const { hostname, port } = new URL(`http://${request.url}`);
    const target = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    target.on('error', () => client.destroy());
    client.on('error', () => target.destroy());
    cleanUp.push(() => [client, target].map((socket) => socket.destroy()));
  });
  return { url: new URL(`http://us:se%40cret@127.0.0.1:${await listening(server)}/`), asked };
}

const toLoopback: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];
function send(url: string, proxy: URL): Promise<SendResult> {
  const sender = createSender({ allowPrivate: true, timeoutMs: 30_000, resolve: toLoopback, proxy });
  cleanUp.push(() => sender.close());
  return sender.send(url, { 'content-type': 'application/json' }, Buffer.from('{"a":1}'));
}

describe('The egress proxy', () => {
  it('opens a tunnel to the address that was checked, not to the name', async () => {
    const proxy = await startProxy();
    let host: string | undefined;
    const port = await listening(
      createServer((request, response) => {
        host = request.headers.host;
        request.pipe(response);
      }),
    );
    expect(await send(`http://shop.example:${port}/hooks`, proxy.url)).toMatchObject({
      status: 200,
      bodyStart: '{"a":1}',
    });
    expect(host).toBe(`shop.example:${port}`);
    expect(proxy.asked).toEqual([`127.0.0.1:${port}`, `Basic ${Buffer.from('us:se@cret').toString('base64')}`]);
  });

  it('carries TLS to the receiver, which is verified by its name', async () => {
    const proxy = await startProxy();
    // What answers is no TLS server: the handshake has reached it.
    const greeted: Buffer[] = [];
    const server = createTcpServer((socket) =>
      socket.once('data', (bytes) => {
        greeted.push(bytes);
        socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      }),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanUp.push(() => server.close());
    const sent = await send(`https://shop.example:${(server.address() as AddressInfo).port}/`, proxy.url);
    expect(sent).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/TLS/) });
    expect(String(greeted[0])).toContain('shop.example');
  });

  it.each([
    [403, { kind: 'failed', reason: 'The host leads to an address that is not allowed.' }],
    [502, { kind: 'failed', reason: 'The host cannot be reached.' }],
    [407, { kind: 'not_sent', message: 'the egress proxy responded 407' }],
    [500, { kind: 'not_sent', message: 'the egress proxy responded 500' }],
  ])('decides by %s whose fault it is', async (status, result) => {
    expect(await send('http://shop.example/', (await startProxy(status)).url)).toEqual(result);
  });

  it('is our fault while it is unavailable', async () => {
    const closed = createServer();
    const port = await listening(closed);
    closed.close();
    expect(await send('http://shop.example/', new URL(`http://127.0.0.1:${port}`))).toMatchObject({
      kind: 'not_sent',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('comes from our own variable, and from no other one', async () => {
    const { url: theirs, asked: byVariables } = await startProxy();
    const plain: (string | undefined)[] = [];
    const named = createServer((request, response) => {
      plain.push(request.url);
      response.end();
    });
    const other = `http://127.0.0.1:${await listening(named)}`;
    const port = await listening(createServer((_request, response) => response.end()));
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
    const program = `
      const { createSender } = await import(${JSON.stringify(import.meta.resolve('../src/sender.ts'))});
      for (const proxy of [undefined, new URL(${JSON.stringify(theirs.href)})]) {
        const sender = createSender({ allowPrivate: true, proxy });
        const { kind, status } = await sender.send('http://127.0.0.1:${port}/', {}, Buffer.from('{}'));
        console.log(kind, status);
        await sender.close();
      }`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...Object.fromEntries(names.map((name) => [name, other])), NODE_USE_ENV_PROXY: '1', NO_PROXY: '' },
    });
    expect(stdout.trim().split('\n')).toEqual(['response 200', 'response 200']);
    expect(plain).toEqual([]);
    expect(byVariables).toHaveLength(2);
  });
});
