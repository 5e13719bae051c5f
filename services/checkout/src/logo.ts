import type { RequestHandler } from 'express';
import { requestedId, unknownIntent } from './ids.ts';
import type { Merchants } from './merchants.ts';

const PNG = 'data:image/png;base64,';
/** What wallets show of a merchant without a logo. */
export const ICON_PATH = '/icon.svg';
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="12" fill="#334155"/>' +
  '<path d="M18 24h28v20H18zM18 31h28" fill="none" stroke="#fff" stroke-width="4"/></svg>';

const MAX_AGE_SECONDS = 300;
/** Any site may show these images; as pages they can do nothing. */
const HEADERS = {
  'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}`,
  'Content-Security-Policy': "default-src 'none'",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Access-Control-Allow-Origin': '*',
  'Referrer-Policy': 'no-referrer',
} as const;

/** What asks for an image. A browser that opens a page, in a frame too, names another one. */
const FOR_IMAGES: ReadonlySet<string | undefined> = new Set([undefined, 'image']);

/**
 * The logo of whom an intent or a payment link pays, as an image: wallets show it from its address, and so does the
 * page. One that is elsewhere is there: this service asks no other server for it. No link to this host leads to a page
 * that an account has chosen, so only an image is sent on.
 */
export const logo =
  (merchants: Merchants): RequestHandler =>
  async (request, response) => {
    response.locals['route'] = '/logo/{id}';
    const id = requestedId(request) ?? requestedId(request, 'link');
    const found = id === null ? null : await merchants.of(id);
    if (!found?.logo) throw unknownIntent();
    if (!found.logo.startsWith(PNG)) {
      if (!FOR_IMAGES.has(request.get('sec-fetch-dest'))) throw unknownIntent();
      response.writeHead(302, { ...HEADERS, Vary: 'Sec-Fetch-Dest', Location: found.logo }).end();
      return;
    }
    const image = Buffer.from(found.logo.slice(PNG.length), 'base64');
    response.writeHead(200, { ...HEADERS, 'Content-Type': 'image/png', 'Content-Length': image.length }).end(image);
  };

export const icon: RequestHandler = (_request, response) => {
  response.locals['route'] = ICON_PATH;
  response.writeHead(200, { ...HEADERS, 'Content-Type': 'image/svg+xml' }).end(ICON);
};
