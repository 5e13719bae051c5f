import path from 'node:path';
import { cachingOf, webFiles } from '@pf/http';
import type { RequestHandler } from 'express';

/** Where `npm run build` puts it: the same folder for the compiled code and for the sources. */
const FOLDER = path.join(import.meta.dirname, '../dist/web');

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
 * Serves the files of services/dashboard/web, and its only page at every other path: the application knows what the
 * path means.
 */
export const webApplication = (folder: string = FOLDER): RequestHandler =>
  webFiles(folder, {
    single: true,
    setHeaders(response, pathname) {
      response.setHeader('Cache-Control', cachingOf(pathname));
      const policy = pathname === SOUND_SCRIPT ? SOUND_POLICY : CONTENT_SECURITY_POLICY;
      response.setHeader('Content-Security-Policy', policy);
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      response.setHeader('Referrer-Policy', 'no-referrer');
    },
  });
