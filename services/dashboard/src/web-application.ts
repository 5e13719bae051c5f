import { existsSync } from 'node:fs';
import path from 'node:path';
import type { RequestHandler } from 'express';
import sirv from 'sirv';

/** Where `npm run build` puts it: the same folder for the compiled code and for the sources. */
const FOLDER = path.join(import.meta.dirname, '../dist/web');
/** Files whose names change with their content. */
const HASHED = '/assets/';
const YEAR_SECONDS = 31_536_000;

/** Scripts and styles come from the dashboard itself, and none from a page: what is injected into one does nothing. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Logos of accounts.
  "img-src 'self' https: data:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** Runs in a Worker, without access to a page, and compiles functions (docs/guide/sound.md). */
const SOUND_SCRIPT = '/pf-sound.js';
const SOUND_POLICY = "default-src 'none'; script-src 'self' 'unsafe-eval'";

/**
 * Serves the files of services/dashboard/web, compressed ahead, and its only page at every other path: the application
 * knows what the path means.
 */
export function webApplication(folder: string = FOLDER): RequestHandler {
  if (!existsSync(path.join(folder, 'index.html')))
    throw new Error(`The web application is missing in ${folder}. Build it with \`npm run build\`.`);
  const serve = sirv(folder, {
    brotli: true,
    gzip: true,
    single: true,
    setHeaders(response, pathname) {
      const isHashed = pathname.startsWith(HASHED);
      response.setHeader('Cache-Control', isHashed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache');
      const policy = pathname === SOUND_SCRIPT ? SOUND_POLICY : CONTENT_SECURITY_POLICY;
      response.setHeader('Content-Security-Policy', policy);
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      response.setHeader('Referrer-Policy', 'no-referrer');
    },
  });
  return (request, response, next) => {
    response.locals['route'] = request.path.startsWith(HASHED) ? `${HASHED}*` : '/*';
    serve(request, response, next);
  };
}
