import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HttpServer } from '@pf/http';
import express from 'express';
import { webApplication } from '../src/web-application.ts';

const INDEX = '<!doctype html><title>Dashboard</title>';
let folder: string;
let server: HttpServer;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'pf-web-'));
  await mkdir(path.join(folder, 'assets'));
  await writeFile(path.join(folder, 'index.html'), INDEX);
  await writeFile(path.join(folder, 'pf-sound.js'), 'sounds');
  await writeFile(path.join(folder, 'assets', 'index-1a2b3c.js'), 'plain');
  await writeFile(path.join(folder, 'assets', 'index-1a2b3c.js.br'), 'compressed');
  const app = express();
  app.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });
  app.get(/^\/(?!api(\/|$))/, webApplication(folder));
  app.use((_request, response) => void response.status(404).end('none'));
  server = new HttpServer(app);
  url = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`;
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

/** On a connection of its own, so that the server closes without waiting. */
const get = (target: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}${target}`, { headers: { connection: 'close', ...headers } });

describe('the web application', () => {
  it.each(['/', '/sign-in', '/accounts/acct_1/test/payments/pi_1?state=created'])(
    'serves its page at %s, to be revalidated each time',
    async (target) => {
      const response = await get(target);
      expect([response.status, await response.text()]).toEqual([200, INDEX]);
      expect(response.headers.get('cache-control')).toBe('no-cache');
    },
  );

  it('lets nothing but its own scripts and styles run, and no other site frame it', async () => {
    const policy = (await get('/')).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
  });

  it('lets the script for sounds compile functions, and nothing else', async () => {
    const response = await get('/pf-sound.js');
    expect(await response.text()).toBe('sounds');
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; script-src 'self' 'unsafe-eval'");
  });

  it('serves files with a hash in their name as immutable, compressed for clients that accept it', async () => {
    const target = '/assets/index-1a2b3c.js';
    const brotli = await get(target, { 'accept-encoding': 'br' });
    expect(brotli.headers.get('content-encoding')).toBe('br');
    expect(brotli.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(brotli.headers.get('vary')).toContain('Accept-Encoding');
    const plain = await get(target, { 'accept-encoding': 'identity' });
    expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, 'plain']);
  });

  it.each(['/assets/index-older.js', '/assets/../../package.json', '/api/unknown', '/favicon.ico'])(
    'has no page at %s',
    async (target) => {
      expect((await get(target)).status).toBe(404);
    },
  );

  it('says what to do where it was not built', () => {
    expect(() => webApplication(path.join(folder, 'assets'))).toThrow('npm run build');
  });
});
