import path from 'node:path';
import { createRequire } from 'node:module';
import { OPERATIONS } from '@pf/contracts';
import { openApiDocument } from '@pf/contracts/openapi';
import { PRECONDITIONS } from '@pf/http';
import type express from 'express';
import { Router } from 'express';
import { page, SCRIPT, STYLE } from './page.ts';

/** The folder of Swagger UI's files. */
const ASSETS = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const SERVED = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];
/** Not immutable: a deployment changes the files under the same names. */
const CACHE = 'public, max-age=3600';

/** The typed client as the build packs it, of the version that this API has. */
const CLIENT = path.join(import.meta.dirname, '../../../../packages/client/dist');

/** The page loads everything from this origin, and tries requests against it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Of the API, without a key: its description in /openapi.json, /docs to browse it and try requests, and the typed
 * client that package managers install, /client.tgz.
 */
export function reference(): Router {
  const router = Router({ strict: true });
  // Generated once, on the first request.
  let document: string | undefined;
  router.get('/openapi.json', (_request, response) => {
    document ??= JSON.stringify(openApiDocument(Object.values(OPERATIONS), '/v1'));
    // Generators and pages of any origin may read it.
    response.set({ 'Cache-Control': CACHE, 'Access-Control-Allow-Origin': '*' }).type('json').send(document);
  });
  const asText = (type: string, text: string) => (_request: unknown, response: express.Response) =>
    void response
      .set({ 'Cache-Control': CACHE, 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff' })
      .type(type)
      .send(text);
  router.get('/docs', asText('html', page));
  router.get('/docs/page.js', asText('js', SCRIPT));
  router.get('/docs/page.css', asText('css', STYLE));
  for (const file of SERVED) router.get(`/docs/${file}`, asFile(file, ASSETS));
  router.get('/client.tgz', asFile('client.tgz', CLIENT, { 'Content-Type': 'application/gzip' }));
  return router;
}

/** Sends a file as a whole, or that it has not changed. */
const asFile =
  (file: string, root: string, headers: Readonly<Record<string, string>> = {}): express.RequestHandler =>
  (request, response) => {
    for (const name of PRECONDITIONS) delete request.headers[name];
    response.sendFile(file, { root, maxAge: '1h', acceptRanges: false, headers });
  };
