import { networks } from '@pf/chains/networks';
import { CLIENT_SECRET, PAYMENT_LINK_SECRET, SOLANA_PAY_TOKEN } from '@pf/contracts';
import type { Merchant } from '@pf/database';
import { type Gateway, readBytes } from '@pf/http';
import type { Request, RequestHandler, Response } from 'express';
import { renderSVG } from 'uqr';
import { z } from 'zod';
import { asHttpError } from './errors.ts';
import { askGateway } from './forwarding.ts';
import { html, type Html } from './html.ts';
import type { Paid } from './ids.ts';
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

/** No scripts, and forms that lead back here. */
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
    /** `amount`: a plain transfer of exactly the amount pays it, too. */
    attribution: z.string().optional(),
    /** What its payment has brought, where it accepts more than its amount. */
    amountReceived: z.string().optional(),
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
const fetchedLink = z.object({
  paymentLink: z.object({
    amount: z.string(),
    /** That of the intents that its payers begin. */
    attribution: z.string().optional(),
    expiresAt: z.iso.datetime(),
    offers: z.array(z.object({ chain: z.string(), token: z.string() })),
    state: z.string(),
  }),
});
type FetchedLink = z.output<typeof fetchedLink>;
const chosen = z.object({ clientSecret: z.string().regex(CLIENT_SECRET) });

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

/** Those of a payment link, in words. */
const LINK_STATES: Readonly<Record<string, string>> = {
  open: 'Waiting for the payment.',
  paid: 'Paid. You can close this page.',
  expired: 'The time for this payment has passed. Do not pay: ask the merchant for a new link.',
  cancelled: 'The merchant has cancelled this payment. Do not pay.',
};

/** Of the form: two links and a number. Tens of thousands of fields would take long to read. */
const FORM_BYTES_MAX = 8 * 1024;

/** The form in which a person pastes their link: what follows # in it reaches the server in no other way. */
export const plainForm: RequestHandler = (_request, response) => {
  response.locals['route'] = '/plain';
  send(response, 200, [form(null)]);
};

/**
 * The payment of a pasted link, without scripts. For a payment link first the ways to pay, each a form: its `offer` is
 * chosen, and the intent that pays it is shown.
 */
export const plainPayment =
  (dependencies: PlainDependencies) =>
  async (request: Request, response: Response): Promise<void> => {
    response.locals['route'] = '/plain';
    const { url } = dependencies;
    const fields = new URLSearchParams(Buffer.from(await readBytes(request, response, FORM_BYTES_MAX)).toString());
    const pasted = pastedIn(fields.get('link') ?? '', url);
    if (pasted === null) {
      send(response, 400, [form('This is no link to pay here, or a part of it is missing. Copy the whole link.')]);
      return;
    }
    const asking = { ...dependencies, request, response };
    const offer = fields.get('offer');
    if (pasted.kind === 'intent') await sendIntent(asking, pasted, pastedIn(fields.get('of') ?? '', url));
    else if (offer !== null && OFFER.test(offer)) await choose(asking, pasted, Number(offer));
    else await sendLink(asking, pasted, null);
  };

/** The number of an offer. */
const OFFER = /^\d{1,2}$/;

/** What a pasted link opens. */
interface Pasted {
  readonly kind: Paid;
  readonly id: string;
  readonly secret: string;
}

const LINKS = [
  { path: '/pay/', pattern: CLIENT_SECRET, kind: 'intent' },
  { path: '/link/', pattern: PAYMENT_LINK_SECRET, kind: 'link' },
] as const;

/** The client secret in a link `…/pay/pi_…#…` or `…/link/pl_…#…`, or the secret itself; null if it is none of them. */
function pastedIn(link: string, url: URL): Pasted | null {
  if (link.length > LINK_LENGTH_MAX) return null;
  const text = link.trim();
  const parsed = URL.parse(text);
  for (const { path, pattern, kind } of LINKS) {
    const isPage = parsed?.origin === url.origin && parsed.pathname.startsWith(path);
    const secret = isPage ? `${parsed.pathname.slice(path.length)}_secret_${parsed.hash.slice(1)}` : text;
    const [, id] = pattern.exec(secret) ?? [];
    if (id !== undefined) return { kind, id, secret };
  }
  return null;
}

interface Asking extends PlainDependencies {
  readonly request: Request;
  readonly response: Response;
}
interface Found<Body> {
  readonly body: Body;
  readonly merchant: Merchant;
}
interface Problem {
  readonly status: number;
  readonly problem: string;
}

const UNKNOWN = { status: 404, problem: 'No payment has this link. Check that you have copied all of it.' };

const later = (status: number): Problem => ({
  status: status === 429 ? 429 : 503,
  problem: 'The payment cannot be shown at the moment. Try again in a few seconds.',
});

/** Asks the gateway with the secret. @returns its body if the status is 200, otherwise what to say */
async function ask<Body>(
  { gateway, limits, merchants, request, response }: Asking,
  { id, secret }: Pasted,
  asked: { readonly path: string; readonly body?: object },
  schema: z.ZodType<Body>,
): Promise<Found<Body> | Problem> {
  try {
    const release = await limits.begin(request.ip, () => merchants.ownerOf(id), 'requests');
    try {
      const { status, body } = await askGateway(gateway, [request, response], { ...asked, secret });
      const merchant = status === 200 ? await merchants.of(id) : null;
      if (merchant) return { body: schema.parse(body), merchant };
      if (status < 500 && status !== 429) return { ...UNKNOWN, status: status === 409 ? 409 : 404 };
      return later(status);
    } finally {
      release();
    }
  } catch (error) {
    const { status } = asHttpError(error);
    if (status !== 503 && status !== 429) throw error;
    return later(status);
  }
}

/** @param of the payment link of which the intent was chosen */
async function sendIntent(asking: Asking, intent: Pasted, of: Pasted | null): Promise<void> {
  const found = await ask(asking, intent, { path: `/v1/intents/${intent.id}` }, fetched);
  if ('problem' in found) send(asking.response, found.status, [form(found.problem)]);
  else send(asking.response, 200, payment(found, intent.secret, of?.kind === 'link' ? of.secret : null, asking.url));
}

/** @param problem why the offer that was chosen cannot be paid */
async function sendLink(asking: Asking, link: Pasted, problem: string | null): Promise<void> {
  const found = await ask(asking, link, { path: `/v1/payment-links/${link.id}` }, fetchedLink);
  if ('problem' in found) send(asking.response, found.status, [form(found.problem)]);
  else send(asking.response, problem === null ? 200 : 409, waysToPay(found, link.secret, problem, asking.url));
}

/** However often it is sent, an offer has one intent. */
async function choose(asking: Asking, link: Pasted, offer: number): Promise<void> {
  const path = `/v1/payment-links/${link.id}/choose`;
  const found = await ask(asking, link, { path, body: { offer } }, chosen);
  if (!('problem' in found)) {
    const { clientSecret: secret } = found.body;
    await sendIntent(asking, { kind: 'intent', id: CLIENT_SECRET.exec(secret)?.[1] ?? '', secret }, link);
  } else if (found.status === 503 || found.status === 429) send(asking.response, found.status, [form(found.problem)]);
  else await sendLink(asking, link, 'This way to pay is not available now.');
}

function payment(
  { body: { intent, solanaPayToken }, merchant }: Found<Fetched>,
  secret: string,
  linkSecret: string | null,
  url: URL,
): readonly Html[] {
  const network = networkLabel(intent.chain);
  const isOpen = intent.state === 'created';
  const isByAmount = intent.attribution === 'amount';
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
      ${intent.amountReceived === undefined ? [] : [html`<p>Received: ${intent.amountReceived} ${intent.token}</p>`]}
      ${again(secret, linkSecret === null ? {} : { of: linkSecret }, 'Look again')}`,
    ...(isOpen && linkSecret !== null ? [again(linkSecret, {}, 'Choose another way to pay')] : []),
    ...(isOpen ? [howToPay(request, intent.expiresAt)] : []),
    ...(isOpen && isByAmount ? [howToTransfer(intent, merchant)] : []),
    ...(isByAmount && (intent.state === 'expired' || intent.state === 'cancelled') ? [whenSent(intent)] : []),
    html`<h2>Where it goes</h2>
      <p>Your wallet must show this address:</p>
      <p class="address"><code>${inGroups(intent.requestor)}</code></p>
      ${isByAmount ? [] : [notByHand(merchant)]}`,
    ...help(merchant),
  ];
}

const notByHand = ({ name }: Merchant): Html =>
  html`<p>
    Do not send money to it by hand. Only a payment that was prepared here carries the reference by which ${name} finds
    it.
  </p>`;

/** What to enter at an exchange, or in a wallet that knows no references. */
function howToTransfer({ amount, chain, requestor, token }: Fetched['intent'], { name }: Merchant): Html {
  const network = networks.find((one) => one.chain === chain);
  // Addresses of EVM chains are the same on all of them, and exchanges offer Ethereum first.
  const notEthereum = network === undefined || network.family === 'solana' ? '' : ', not Ethereum';
  return html`<h2>From an exchange or any wallet</h2>
    <p>Send exactly this, once:</p>
    <ul>
      <li>Network: <strong>${networkLabel(chain)}${notEthereum}</strong></li>
      <li>Token: ${token}</li>
      <li>Exact amount: <code>${amount}</code></li>
      <li>Address: <code class="address">${requestor}</code></li>
    </ul>
    <p>${codeImage(requestor, 'Code of the address alone')}</p>
    <p>
      <strong>Exactly ${amount} ${token} must arrive.</strong> Your payment is recognized by its last digits. Exchanges
      often take their fee off what you send: check what arrives before you confirm.
    </p>
    <p>Another amount does not count for this payment. ${name} sees it, but you have to contact ${name} then.</p>`;
}

/** Exchanges may take hours, and the amount stays the intent's for days. */
const whenSent = ({ amount, token }: Fetched['intent']): Html =>
  html`<p>
    If you have already sent exactly ${amount} ${token}, it still counts when it arrives. Do not send it again: open
    this page later to see it.
  </p>`;

/** The ways to pay of a payment link. Here only those can be chosen that need no script afterwards. */
function waysToPay(
  { body: { paymentLink }, merchant }: Found<FetchedLink>,
  secret: string,
  problem: string | null,
  url: URL,
): readonly Html[] {
  const { amount, attribution, expiresAt, offers, state } = paymentLink;
  const ways = offers.map(({ chain, token }, number) => ({
    number,
    label: `${amount} ${token} on ${networkLabel(chain)}`,
    // Wallets refuse links that are not https. A transfer that pays by its amount needs no link at all.
    isHere:
      attribution === 'amount' ||
      (url.protocol === 'https:' && networks.find((network) => network.chain === chain)?.family === 'solana'),
  }));
  const here = ways.filter(({ isHere }) => isHere);
  const elsewhere = ways.filter(({ isHere }) => !isHere);
  const tokens = new Set(offers.map(({ token }) => token));
  const status = LINK_STATES[state] ?? 'The state of this payment is not known here.';
  return [
    html`<h1>${merchant.name}</h1>
      <p class="amount">${amount} ${tokens.size === 1 ? ([...tokens][0] ?? '') : ''}</p>
      ${problem === null ? [] : [html`<p role="alert"><strong>${problem}</strong></p>`]}
      <p role="status"><strong>${status}</strong></p>
      ${again(secret, {}, 'Look again')}`,
    ...(state === 'open'
      ? [
          html`<h2>How to pay</h2>
            ${here.map(({ label, number }) => again(secret, { offer: `${number}` }, label))}
            ${
              elsewhere.length === 0
                ? []
                : [
                    html`<p>Open your link in a browser with JavaScript, or in the browser of your wallet, to pay</p>
                      <ul>
                        ${elsewhere.map(({ label }) => html`<li>${label}</li>`)}
                      </ul>
                      <p>There the payment is checked before your wallet signs it, which takes a script.</p>`,
                  ]
            }
            ${until(expiresAt)}`,
        ]
      : []),
    ...help(merchant),
  ];
}

/** A button that leads back here with a secret, in the body of the request. */
const again = (secret: string, more: Readonly<Record<string, string>>, label: string): Html =>
  html`<form method="post" action="/plain">
    ${Object.entries({ link: secret, ...more }).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    <button>${label}</button>
  </form>`;

const help = ({ name, supportUrl }: Merchant): readonly Html[] =>
  supportUrl === null ? [] : [html`<p><a href="${supportUrl}" rel="noreferrer">Help from ${name}</a></p>`];

const networkLabel = (chain: string): string => networks.find((network) => network.chain === chain)?.label ?? chain;

const until = (expiresAt: string): Html =>
  html`<p>Pay until <time datetime="${expiresAt}">${expiresAt.replace('T', ' ').slice(0, 16)} UTC</time>.</p>`;

function howToPay(request: string | null, expiresAt: string): Html {
  if (request === null)
    return html`<h2>How to pay</h2>
      <p>Open your link in a browser with JavaScript, or in the browser of your wallet.</p>
      ${until(expiresAt)}`;
  return html`<h2>How to pay</h2>
    <p>Scan this code with a wallet for Solana, or <a href="${request}">open the wallet of this device</a>.</p>
    <p>${codeImage(request, 'Code for wallets')}</p>
    ${until(expiresAt)}`;
}

function codeImage(content: string, what: string): Html {
  const code = Buffer.from(renderSVG(content, { ecc: 'M', border: 4 })).toString('base64');
  return html`<img src="${`data:image/svg+xml;base64,${code}`}" alt="${what}" width="264" height="264" />`;
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
