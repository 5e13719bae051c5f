import { existsSync } from 'node:fs';
import path from 'node:path';
import type { RequestHandler } from 'express';
import sirv, { type Options } from 'sirv';

/** Files whose names change with their content. */
const HASHED = '/assets/';
const YEAR_SECONDS = 31_536_000;

/** @throws Error if Vite has not built the application into the folder */
export function requireBuilt(folder: string): void {
  if (!existsSync(path.join(folder, 'index.html')))
    throw new Error(`The web application is missing in ${folder}. Build it with \`npm run build\`.`);
}

/** For how long browsers may keep a file of the application. */
export const cachingOf = (pathname: string): string =>
  pathname.startsWith(HASHED) ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';

/** Serves the files of a folder that Vite has built, compressed ahead (packages/http/compressed.mjs). */
export function webFiles(folder: string, options: Pick<Options, 'single' | 'setHeaders'>): RequestHandler {
  requireBuilt(folder);
  const serve = sirv(folder, { brotli: true, gzip: true, ...options });
  return (request, response, next) => {
    response.locals['route'] = request.path.startsWith(HASHED) ? `${HASHED}*` : '/*';
    serve(request, response, next);
  };
}
