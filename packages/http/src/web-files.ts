import { existsSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import type { RequestHandler } from 'express';
import precompressed from 'express-static-gzip';

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

export interface WebFilesOptions {
  /** Paths without a file, and without an extension, are places in the application: they get `index.html`. */
  readonly single?: boolean;
  /** @param pathname of the file, with a leading slash */
  readonly setHeaders: (response: ServerResponse, pathname: string) => void;
}

const INDEX = '/index.html';
const COMPRESSED = /\.(br|gz)$/;

/** What a response has of its file. An error that follows, as where it cannot be opened, must have none of it. */
const OF_THE_FILE = ['Cache-Control', 'Content-Encoding', 'Content-Type', 'ETag', 'Last-Modified'];
/**
 * Headers that files ignore. Preconditions are for those who write: whoever only reads would get an error for them,
 * with headers of a file. Ranges: the files are small, and one that a file does not have would be an error of ours.
 */
export const PRECONDITIONS = ['if-match', 'if-range', 'if-unmodified-since', 'range'] as const;

/** Serves the files of a folder that Vite has built, compressed ahead (packages/http/compressed.mjs). */
export function webFiles(folder: string, { single = false, setHeaders }: WebFilesOptions): RequestHandler {
  requireBuilt(folder);
  const serve: RequestHandler = precompressed(folder, {
    enableBrotli: true,
    orderPreference: ['br', 'gzip'],
    serveStatic: {
      acceptRanges: false,
      cacheControl: false,
      redirect: false,
      setHeaders: (response: ServerResponse, file: string) =>
        setHeaders(response, `/${path.relative(folder, file).replace(COMPRESSED, '')}`),
    },
  });
  return (request, response, next) => {
    response.locals['route'] = request.path.startsWith(HASHED) ? `${HASHED}*` : '/*';
    for (const name of PRECONDITIONS) delete request.headers[name];
    const isPlace = single && path.extname(request.path) === '' && ['GET', 'HEAD'].includes(request.method);
    const unserved = (error?: unknown): void => {
      if (!response.headersSent) for (const name of OF_THE_FILE) response.removeHeader(name);
      next(error);
    };
    serve(request, response, (error?: unknown) => {
      if (error !== undefined || !isPlace) return unserved(error);
      request.url = INDEX;
      serve(request, response, unserved);
    });
  };
}
