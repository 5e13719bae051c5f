import { afterEach, describe, expect, it } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { errorResponse } from '@pf/contracts';
import { HttpServer } from '@pf/http';

/** Sends raw bytes, and reads until the server closes the connection. */
async function raw(
  port: number,
  text: string,
): Promise<{ readonly status: string; readonly head: string; readonly code: string | null }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  return responseOn(socket);
}

/** A write that the server no longer takes is an error of the socket, which `once` would throw. */
const closed = (socket: Socket): Promise<void> => {
  socket.on('error', () => undefined);
  return new Promise((resolve) => void socket.once('close', () => resolve()));
};

async function responseOn(
  socket: Socket,
): Promise<{ readonly status: string; readonly head: string; readonly code: string | null }> {
  let response = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (response += chunk));
  await closed(socket);
  const [head = '', body = ''] = response.split('\r\n\r\n');
  const code = body === '' ? null : errorResponse.parse(JSON.parse(body)).error.code;
  return { status: head.split(' ')[1] ?? '', head, code };
}

describe('HttpServer with malformed or slow clients', () => {
  let server: HttpServer;
  const listen = (
    listener: RequestListener = (_request, response) => response.end('{}'),
    headersTimeout = 10_000,
  ): Promise<number> => {
    server = new HttpServer(listener, {
      headersTimeout,
      requestTimeout: headersTimeout * 2,
      keepAliveTimeout: 1_000,
      connectionsCheckingInterval: 50,
    });
    return server.listen('127.0.0.1', 0);
  };
  afterEach(() => server.close());

  it.each([
    [
      'headers that are too large',
      `GET /v1/intents HTTP/1.1\r\nCookie: ${'a'.repeat(17_000)}\r\n\r\n`,
      '431',
      'request.headers_too_large',
    ],
    ['a path that is too long', `GET /v1/${'a'.repeat(17_000)} HTTP/1.1\r\n\r\n`, '414', 'request.uri_too_long'],
    [
      'bytes that are not HTTP',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
      '400',
      'request.malformed_http',
    ],
    ['a header without a colon', 'GET / HTTP/1.1\r\nnonsense\r\n\r\n', '400', 'request.malformed_http'],
    [
      'two Content-Length headers',
      'POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n',
      '400',
      'request.malformed_http',
    ],
    [
      'Content-Length with chunked encoding',
      'POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      '400',
      'request.malformed_http',
    ],
  ])('responds to %s with an error body and closes the connection', async (_name, text, status, code) => {
    const response = await raw(await listen(), text);
    expect([response.status, response.code]).toEqual([status, code]);
    expect(response.head).toMatch(/^Connection: close$/m);
    expect(response.head).toMatch(/^Content-Type: application\/json; charset=utf-8$/m);
  });

  it('times out when the headers trickle in', async () => {
    const socket = connect(await listen(undefined, 150), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\n');
    const drops = setInterval(() => socket.write('X: y\r\n'), 20);
    const response = await responseOn(socket);
    clearInterval(drops);
    expect([response.status, response.code]).toEqual(['408', 'request.timeout']);
  });

  it('times out when the body does not arrive', async () => {
    const port = await listen((request, response) => request.resume().on('end', () => response.end()), 150);
    const response = await raw(port, 'POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nhalf');
    expect([response.status, response.code]).toEqual(['408', 'request.timeout']);
  });

  it('writes nothing into a response that has begun', async () => {
    const port = await listen((request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders();
      request.on('error', () => undefined);
    }, 150);
    const socket = connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nhalf');
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await closed(socket);
    expect(text).toMatch(/^HTTP\/1.1 200 OK/);
    expect(text).not.toContain('request.timeout');
  });

  it.each(['', 'Expect: miracles\r\n'])('accepts a request without a Host header (%j)', async (header) => {
    const socket = connect(await listen(), '127.0.0.1');
    socket.end(`GET / HTTP/1.1\r\n${header}Connection: close\r\n\r\n`);
    let text = '';
    for await (const chunk of socket.setEncoding('utf8')) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1.1 200 OK/);
  });
});
