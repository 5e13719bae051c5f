import type { RequestHandler } from 'express';
import { requestedId, unknownIntent } from './ids.ts';
import type { Merchants } from './merchants.ts';

const PNG = 'data:image/png;base64,';
const MAX_AGE_SECONDS = 300;

/**
 * The logo of whom an intent pays, as an image: wallets show it from its address, and so does the page. One that is
 * elsewhere is there: this service asks no other server for it.
 */
export const logo =
  (merchants: Merchants): RequestHandler =>
  async (request, response) => {
    response.locals['route'] = '/logo/{id}';
    const id = requestedId(request);
    const found = id === null ? null : await merchants.ofIntent(id);
    if (!found?.logo) throw unknownIntent();
    const headers = {
      'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}`,
      'Content-Security-Policy': "default-src 'none'",
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Access-Control-Allow-Origin': '*',
      'Referrer-Policy': 'no-referrer',
    };
    if (!found.logo.startsWith(PNG)) {
      response.writeHead(302, { ...headers, Location: found.logo }).end();
      return;
    }
    const image = Buffer.from(found.logo.slice(PNG.length), 'base64');
    response.writeHead(200, { ...headers, 'Content-Type': 'image/png', 'Content-Length': image.length }).end(image);
  };
