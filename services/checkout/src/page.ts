import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Merchant } from '@pf/database';
import { cachingOf, requireBuilt, webFiles } from '@pf/http';
import type { RequestHandler } from 'express';

/** Where `npm run build` puts it: the same folder for the compiled code and for the sources. */
const FOLDER = path.join(import.meta.dirname, '../web/dist');
/** The wallet of Tempo opens in a frame. */
const WALLET_FRAMES = 'https://wallet.tempo.xyz';
/** An origin in a policy: a list or a directive in its place would change what the policy says. */
const ORIGIN = /^https?:\/\/[a-z\d.-]+(?::\d{1,5})?$/;

/** The origin of a logo that is loaded from its URL; null for a logo in a data: URL. */
function originOfLogo({ logo }: Pick<Merchant, 'logo'>): string | null {
  const url = logo === null ? null : URL.parse(logo);
  return url?.protocol === 'https:' ? url.origin : null;
}

/**
 * The headers of a page. Scripts and styles come from this service, and none from the page itself: what is injected
 * into one does nothing.
 * @param merchant whom the page pays: its own sites may show it in a frame; null: no site may
 */
export function pageHeaders(
  merchant: Pick<Merchant, 'logo' | 'returnOrigins'> | null,
  policy: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const ancestors = merchant?.returnOrigins.filter((origin) => ORIGIN.test(origin)) ?? [];
  const logo = merchant && originOfLogo(merchant);
  const directives = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': ["'self'", 'data:', ...(logo !== null && ORIGIN.test(logo) ? [logo] : [])].join(' '),
    'connect-src': "'self'",
    'font-src': "'self'",
    'worker-src': "'self'",
    'frame-src': WALLET_FRAMES,
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': ancestors.length > 0 ? ancestors.join(' ') : "'none'",
    'require-trusted-types-for': "'script'",
    // The URL of the script for sounds.
    'trusted-types': 'pf-sound',
    ...policy,
  };
  return {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': Object.entries(directives)
      .map(([name, value]) => `${name} ${value}`)
      .join('; '),
    // Wallets open in windows of their own, which must find back.
    'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
    'Permissions-Policy': 'microphone=(self), camera=(), geolocation=()',
    // The address of the page names an intent.
    'Referrer-Policy': 'no-referrer',
  };
}

/** The HTML of the page, the same for every intent. @throws Error if it was not built */
export async function readPage(folder: string = FOLDER): Promise<string> {
  requireBuilt(folder);
  return readFile(path.join(folder, 'index.html'), 'utf8');
}

/** Runs in a Worker, without access to the page, and compiles functions (docs/guide/sound.md). */
const SOUND_SCRIPT = '/pf-sound.js';
const SOUND_POLICY = "default-src 'none'; script-src 'self' 'unsafe-eval'";
/** What the page loads. */
export const FILES = /^\/(?:assets\/|pf-sound\.js$)/;

/** Serves the page's scripts and styles. */
export const pageFiles = (folder: string = FOLDER): RequestHandler =>
  webFiles(folder, {
    setHeaders(response, pathname) {
      response.setHeader('Cache-Control', cachingOf(pathname));
      response.setHeader('Content-Security-Policy', pathname === SOUND_SCRIPT ? SOUND_POLICY : "default-src 'none'");
      response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    },
  });
