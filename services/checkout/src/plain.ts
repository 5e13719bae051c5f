import { networks } from '@pf/chains/networks';
import { CLIENT_SECRET, SOLANA_PAY_TOKEN } from '@pf/contracts';
import type { Merchant } from '@pf/database';
import { type Gateway, gatewayUnavailable, readBytes } from '@pf/http';
import type { Request, RequestHandler, Response } from 'express';
import { renderSVG } from 'uqr';
import { z } from 'zod';
import { asHttpError } from './errors.ts';
import { payerHeaders, REQUEST_MS } from './forwarding.ts';
import { html, type Html } from './html.ts';
import type { Limits } from './limits.ts';
import type { Merchants } from './merchants.ts';
import { pageHeaders } from './page.ts';
import { transactionRequest } from './solana-pay.ts';

export interface PlainDependencies {
  readonly gateway: Pick<Gateway, 'request'>;
  readonly limits: Limits;
  readonly merchants: Merchants;
  /** Where people reach this service. */
  readonly url: URL;
}

/** No scripts, and one form. */
const POLICY = {
  'script-src': "'none'",
  'connect-src': "'none'",
  'worker-src': "'none'",
  'frame-src': "'none'",
  'form-action': "'self'",
  'trusted-types': "'none'",
} as const;
const LINK_LENGTH_MAX = 2_048;

const fetched = z.object({
  intent: z.object({
    amount: z.string(),
    chain: z.string(),
    expiresAt: z.iso.datetime(),
    requestor: z.string(),
    retryRequired: z.boolean(),
    state: z.string(),
    token: z.string(),
  }),
  solanaPayToken: z.string().regex(SOLANA_PAY_TOKEN).nullish(),
});
type Fetched = z.output<typeof fetched>;

/** By state, in words. */
const STATES: Readonly<Record<string, string>> = {
  created: 'Waiting for the payment.',
  pending: 'The payment was sent, and is on its way.',
  confirmed: 'Paid. You can close this page.',
  finalized: 'Paid. You can close this page.',
  expired: 'The time for this payment has passed. Do not pay: ask the merchant for a new link.',
  cancelled: 'The merchant has cancelled this payment. Do not pay.',
  failed: 'The payment failed. Ask the merchant for a new link.',
};

/** The form in which a person pastes their link: what follows # in it reaches the server in no other way. */
export const plainForm: RequestHandler = (_request, response) => {
  response.locals['route'] = '/plain';
  send(response, 200, [form(null)]);
};

/** The payment of a pasted link, without scripts. */
export const plainPayment =
  (dependencies: PlainDependencies) =>
  async (request: Request, response: Response): Promise<void> => {
    response.locals['route'] = '/plain';
    const fields = new URLSearchParams(Buffer.from(await readBytes(request, response)).toString());
    const secret = secretIn(fields.get('link') ?? '', dependencies.url);
    if (secret === null) {
      send(response, 400, [form('This is no link to pay here, or a part of it is missing. Copy the whole link.')]);
      return;
    }
    const found = await look(secret, request, response, dependencies);
    if ('problem' in found) send(response, found.status, [form(found.problem)]);
    else send(response, 200, payment(found, secret, dependencies.url));
  };

/** The client secret in a link `…/pay/pi_…#…`, or the secret itself; null if it is neither. */
function secretIn(link: string, url: URL): string | null {
  if (link.length > LINK_LENGTH_MAX) return null;
  const text = link.trim();
  if (CLIENT_SECRET.test(text)) return text;
  const parsed = URL.parse(text);
  if (parsed?.origin !== url.origin || !parsed.pathname.startsWith('/pay/')) return null;
  const secret = `${parsed.pathname.slice('/pay/'.length)}_secret_${parsed.hash.slice(1)}`;
  return CLIENT_SECRET.test(secret) ? secret : null;
}

interface Found extends Fetched {
  readonly merchant: Merchant;
}
interface Problem {
  readonly status: number;
  readonly problem: string;
}

async function look(
  secret: string,
  request: Request,
  response: Response,
  { gateway, limits, merchants }: PlainDependencies,
): Promise<Found | Problem> {
  const id = CLIENT_SECRET.exec(secret)?.[1] ?? '';
  try {
    const release = limits.begin(request.ip, 'requests');
    try {
      const { statusCode, text } = await gateway.request({
        method: 'GET',
        path: `/v1/intents/${id}`,
        headers: payerHeaders(request, response, `Bearer ${secret}`),
        body: null,
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      const body = await text().then(JSON.parse as (text: string) => unknown, (cause: unknown) => {
        throw gatewayUnavailable(cause);
      });
      const merchant = statusCode === 200 ? await merchants.of(id) : null;
      if (merchant) return { ...fetched.parse(body), merchant };
      if (statusCode < 500 && statusCode !== 429)
        return { status: 404, problem: 'No payment has this link. Check that you have copied all of it.' };
    } finally {
      release();
    }
  } catch (error) {
    const { status } = asHttpError(error);
    if (status !== 503 && status !== 429) throw error;
  }
  return { status: 503, problem: 'The payment cannot be shown at the moment. Try again in a few seconds.' };
}

function payment({ intent, merchant, solanaPayToken }: Found, secret: string, url: URL): readonly Html[] {
  const network = networks.find(({ chain }) => chain === intent.chain)?.label ?? intent.chain;
  const isOpen = intent.state === 'created';
  // Wallets refuse links that are not https.
  const request =
    isOpen && typeof solanaPayToken === 'string' && url.protocol === 'https:'
      ? transactionRequest(url, solanaPayToken)
      : null;
  const status = intent.retryRequired
    ? 'The last payment did not arrive. No money has moved: pay again.'
    : (STATES[intent.state] ?? 'The state of this payment is not known here.');
  return [
    html`<h1>${merchant.name}</h1>
      <p class="amount">${intent.amount} ${intent.token}</p>
      <p>on ${network}</p>
      <p role="status"><strong>${status}</strong></p>
      <form method="post" action="/plain">
        <input type="hidden" name="link" value="${secret}" />
        <button>Look again</button>
      </form>`,
    ...(isOpen ? [howToPay(request, intent.expiresAt)] : []),
    html`<h2>Where it goes</h2>
      <p>Your wallet must show this address:</p>
      <p class="address"><code>${inGroups(intent.requestor)}</code></p>
      <p>
        Do not send money to it by hand. Only a payment that was prepared here carries the reference by which
        ${merchant.name} finds it.
      </p>`,
    ...(merchant.supportUrl === null
      ? []
      : [html`<p><a href="${merchant.supportUrl}" rel="noreferrer">Help from ${merchant.name}</a></p>`]),
  ];
}

function howToPay(request: string | null, expiresAt: string): Html {
  const until = html`<p>
    Pay until <time datetime="${expiresAt}">${expiresAt.replace('T', ' ').slice(0, 16)} UTC</time>.
  </p>`;
  if (request === null)
    return html`<h2>How to pay</h2>
      <p>Open your link in a browser with JavaScript, or in the browser of your wallet.</p>
      ${until}`;
  const code = Buffer.from(renderSVG(request, { ecc: 'M', border: 4 })).toString('base64');
  return html`<h2>How to pay</h2>
    <p>Scan this code with a wallet for Solana, or <a href="${request}">open the wallet of this device</a>.</p>
    <p><img src="${`data:image/svg+xml;base64,${code}`}" alt="Code for wallets" width="264" height="264" /></p>
    ${until}`;
}

/** A whole address, which people can compare. */
const inGroups = (address: string): string => (address.match(/.{1,4}/gu) ?? []).join(' ');

const form = (problem: string | null): Html =>
  html`<h1>Pay without JavaScript</h1>
    ${problem === null ? [] : [html`<p role="alert"><strong>${problem}</strong></p>`]}
    <form method="post" action="/plain">
      <label for="link">Paste your link to pay, all of it:</label>
      <input id="link" name="link" required maxlength="${String(LINK_LENGTH_MAX)}" autocomplete="off" />
      <button>Show the payment</button>
    </form>`;

function send(response: Response, status: number, content: readonly Html[]): void {
  const { text } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>Payment</title>
        <link rel="stylesheet" href="${STYLE_PATH}" />
      </head>
      <body>
        <main>${content}</main>
      </body>
    </html> `;
  response
    .writeHead(status, {
      ...pageHeaders(null, POLICY),
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
    })
    .end(text);
}

export const STYLE_PATH = '/plain.css';
const STYLE = `:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 0 auto; padding: 1rem; }
input, button { font: inherit; padding: 0.5rem; box-sizing: border-box; }
input { width: 100%; margin: 0.5rem 0; }
img { background: #fff; }
.amount { font-size: 2rem; margin: 0; }
.address { overflow-wrap: anywhere; }
`;

export const plainStyle: RequestHandler = (_request, response) => {
  response.locals['route'] = STYLE_PATH;
  response
    .writeHead(200, {
      'Cache-Control': 'public, max-age=300',
      'Content-Security-Policy': "default-src 'none'",
      'Content-Type': 'text/css; charset=utf-8',
    })
    .end(STYLE);
};
