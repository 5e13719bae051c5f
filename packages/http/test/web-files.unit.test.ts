import { once } from 'node:events';
import { mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import { webFiles } from '../src/web-files.ts';

const addressOf = (server: Server): { readonly host: string; readonly port: number } => ({
  host: '127.0.0.1',
  port: (server.address() as AddressInfo).port,
});

const fileHeaders = (response: ServerResponse, pathname: string): void => {
  response.setHeader('x-file', pathname);
  response.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
};

describe('The files of a web application', () => {
  let folder: string;
  let server: Server;
  let url: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'pf-web-'));
    await writeFile(path.join(folder, 'index.html'), '<p>The application</p>');
    await writeFile(path.join(folder, 'script.js'), 'let x;');
    await writeFile(path.join(folder, 'script.js.br'), 'brotli');
    await writeFile(path.join(folder, 'large.js'), '');
    await truncate(path.join(folder, 'large.js'), 50_000_000);
    const app = express().use(webFiles(folder, { single: true, setHeaders: fileHeaders }));
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${addressOf(server).port}`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });

  it.each([
    ['/', 200, '/index.html'],
    ['/payments/pi_1?state=paid', 200, '/index.html'],
    ['/script.js', 200, '/script.js'],
    ['/missing.js', 404, null],
    ['/../package.json', 404, null],
    ['/%2e%2e%2fpackage.json', 404, null],
    ['/%E0%A4%A', 400, null],
  ])('respond to %s with %d and the file %s', async (asked, status, file) => {
    const [response] = (await once(get({ ...addressOf(server), path: asked }), 'response')) as [IncomingMessage];
    response.resume();
    expect([response.statusCode, response.headers['x-file'] ?? null]).toEqual([status, file]);
  });

  it('are sent as they were compressed, to those who can read that', async () => {
    const read = async (encodings: string): Promise<readonly (string | null)[]> => {
      const [response] = (await once(
        get({ ...addressOf(server), path: '/script.js', headers: { 'accept-encoding': encodings } }),
        'response',
      )) as [IncomingMessage];
      const { 'content-encoding': encoding = null, vary = null } = response.headers;
      return [encoding, vary, await text(response)];
    };
    expect(await read('gzip, br')).toEqual(['br', 'Accept-Encoding', 'brotli']);
    expect(await read('identity')).toEqual([null, 'Accept-Encoding', 'let x;']);
  });

  const openFiles = async (): Promise<number> => (await readdir('/proc/self/fd')).length;

  it('are closed when the client disconnects', async () => {
    const before = await openFiles();
    for (let n = 0; n < 20; n++) {
      const [response] = (await once(get(`${url}/large.js`), 'response')) as [IncomingMessage];
      response.destroy();
    }
    for (let looks = 0; looks < 200 && (await openFiles()) > before; looks++) await delay(20);
    expect(await openFiles()).toBeLessThanOrEqual(before);
  });

  it.each([{ range: 'bytes=999999999-' }, { 'if-match': '"another"' }])(
    'are sent whole to a client that asks with %j',
    async (headers: Record<string, string>) => {
      const response = await fetch(`${url}/script.js`, { headers });
      expect([response.status, response.headers.get('content-range')]).toEqual([200, null]);
    },
  );

  it('leave nothing of theirs in the error when they disappear', async () => {
    await rm(path.join(folder, 'script.js.br'));
    const response = await fetch(`${url}/script.js`, { headers: { 'accept-encoding': 'br' } });
    expect(response.status).toBe(404);
    expect(['content-encoding', 'cache-control', 'etag'].map((name) => response.headers.get(name))).toEqual([
      null,
      null,
      null,
    ]);
  });
});
