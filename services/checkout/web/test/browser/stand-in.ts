import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Address, PaymentTerms } from '@pf/domain';
import { base58 } from '@scure/base';
import type { Blockhash } from '@solana/kit';
import * as TxEnvelopeTempo from 'ox/tempo/TxEnvelopeTempo';
import { hexToBytes, serializeTransaction } from 'viem';
import { accountsOf, compilePayment } from '../../../../../packages/chains/src/solana/payment.ts';
import { randomAddress } from '../../../../../packages/chains/src/solana/address.ts';
import * as base from '../../../../../packages/chains/test/base/payments.ts';
import { termsIn } from '../../../../../packages/chains/test/solana/payments.ts';
import * as tempo from '../../../../../packages/chains/test/tempo/payments.ts';
import type { Intent, Merchant, PaymentLink, Unsigned, UnexpectedPayment } from '../../src/api/schemas.ts';
import { intentOf } from '../check/intents.ts';

const DIST = path.join(import.meta.dirname, '../../dist');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
/** As the checkout service sends it. */
const POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'",
  "worker-src 'self'; font-src 'self'; frame-src https://wallet.tempo.xyz; base-uri 'none'; form-action 'none'",
  "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types pf-sound",
].join('; ');

/** The terms of a payment on each family of chains. */
export const TERMS = { base: base.terms, solana: termsIn('USDC'), tempo: tempo.terms } as const;
export type Family = keyof typeof TERMS;
const SOLANA_FEE = { unitLimit: 60_000, unitPrice: 1_000n, lastValidBlockHeight: 1_000n };

/** Pays the fees of the merchant's payers on Solana. */
const SPONSOR = randomAddress() as string;

/** The transaction that pays these terms, as the service builds it. */
async function blobOf(family: Family, terms: PaymentTerms, payer: string, sponsored: boolean): Promise<string> {
  if (family === 'solana') {
    const { raw } = compilePayment(terms, await accountsOf(terms, payer as Address), {
      feePayer: (sponsored ? SPONSOR : payer) as never,
      ...SOLANA_FEE,
      createsAccount: true,
      blockhash: randomAddress() as string as Blockhash,
    });
    return Buffer.from(raw).toString('base64');
  }
  const word = (text: string): string => text.padStart(64, '0');
  const selector = family === 'base' ? 'a9059cbb' : '95777d59';
  const recipient = word(terms.requestor.slice(2).toLowerCase());
  const data = `0x${selector}${recipient}${word(terms.amount.toString(16))}${terms.reference.slice(2)}` as const;
  const to = terms.tokenAddress as string as `0x${string}`;
  const hex =
    family === 'base'
      ? serializeTransaction({ ...base.good, to, data })
      : TxEnvelopeTempo.serialize({
          ...tempo.good,
          calls: [{ to, data }],
          ...(sponsored && { feeToken: undefined, feePayerSignature: null }),
        });
  return Buffer.from(hexToBytes(hex)).toString('base64');
}

const FORMATS = { base: 'evm_rlp', solana: 'solana_v0_message', tempo: 'tempo_tip20' } as const;

/** An answer of the API instead of the ordinary one. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly param?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}
type Route = 'fetch' | 'choose' | 'build' | 'submit' | 'stream' | 'merchant';

/**
 * What the page cannot see behind: the checkout service and the gateway, with one intent, as the contract says. What
 * the real ones never do, it can: build something else, answer late, lose streams.
 */
export class StandIn {
  readonly submitted: { readonly signedTransaction: string; readonly fulfiller: string }[] = [];
  readonly secret = base58.encode(Uint8Array.from(randomBytes(32)));
  /** The terms that are built, where they are not those of the intent. */
  built: Partial<PaymentTerms> = {};
  /** How the merchant pays the fees of payers. */
  sponsors: string[] = [];
  /** Where smart wallets ask the merchant to pay the gas. */
  paymasterUrl: string | null = null;
  /** Whether each build was asked for a sponsor. */
  readonly builds: boolean[] = [];
  /** Of what is built from now on; null: without an end. */
  lifeMs: number | null = null;
  /** What was built for a sponsor can still land, so that nothing else is built. */
  isSponsoredAlive = false;
  merchant: Merchant = {
    name: "Nora's Bikes",
    logo: null,
    accentColor: '#0f766e',
    supportUrl: 'https://shop.example/help',
    returnOrigins: ['https://shop.example'],
  };
  /** The payment link of which the intent is the first offer. */
  paymentLink: PaymentLink;
  /** The offers that were chosen. */
  readonly chosen: number[] = [];
  readonly #refusals: { readonly route: Route; readonly refusal: Refusal }[] = [];
  readonly #streams = new Set<ServerResponse>();
  readonly #events: object[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #version = 1;
  intent: Intent;
  readonly family: Family;

  private constructor(family: Family, changes: Partial<Intent>) {
    this.family = family;
    const now = Date.now();
    this.intent = intentOf(TERMS[family], {
      createdAt: new Date(now).toISOString(),
      expiresAt: new Date(now + 86_400_000).toISOString(),
      amount: '12.345678',
      ...changes,
    });
    const { chain, token, amount, livemode } = this.intent;
    this.paymentLink = {
      id: 'pl_5mUj8xNgYq3vWJ2hTfKd7',
      amount,
      offers: [
        { chain, token },
        { chain: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', token: 'USDC' },
        { chain: 'eip155:999999', token: 'USDC' },
      ],
      state: 'open',
      intents: [],
      paidBy: null,
      livemode,
    };
  }

  static async start(family: Family, changes: Partial<Intent> = {}): Promise<StandIn> {
    const standIn = new StandIn(family, changes);
    standIn.#server.listen(0, '127.0.0.1');
    await once(standIn.#server, 'listening');
    return standIn;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The link of the payment, with what its address is to have beside. */
  link(search = ''): string {
    return `${this.origin}/pay/${this.intent.id}${search}#${this.secret}`;
  }

  /** The address of the payment link. */
  offersLink(search = ''): string {
    return `${this.origin}/link/${this.paymentLink.id}${search}#${this.secret}`;
  }

  /** The next request to a route is refused; each call once. */
  refuse(route: Route, refusal: Refusal): void {
    this.#refusals.push({ route, refusal });
  }

  /** Changes the intent, and says so in the streams. */
  become(changes: Partial<Intent>, type = `intent.${changes.state ?? 'detected'}`, payment?: UnexpectedPayment): void {
    this.#version += 1;
    const updatedAt = new Date(Date.now() + this.#version).toISOString();
    this.intent = { ...this.intent, ...changes, updatedAt };
    const event = { type, data: { intent: this.intent, ...(payment ? { payment } : {}) } };
    this.#events.push(event);
    for (const stream of this.#streams) this.#write(stream, type, event);
  }

  /** The connections break. */
  breakStreams(): void {
    for (const stream of this.#streams) stream.destroy();
    this.#streams.clear();
  }

  async close(): Promise<void> {
    this.breakStreams();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', this.origin);
    const { id } = this.intent;
    if (pathname === `/pay/${id}/merchant`) return this.#json(response, 'merchant', this.merchant);
    if (pathname === `/link/${this.paymentLink.id}/merchant`) return this.#json(response, 'merchant', this.merchant);
    if (pathname.startsWith('/pay/') || pathname.startsWith('/link/')) return this.#file(response, 'index.html');
    if (pathname.startsWith('/v1/payment-links/')) return this.#answerLink(request, response, pathname);
    if (pathname.startsWith('/assets/')) return this.#file(response, pathname.slice(1));
    if (!pathname.startsWith(`/v1/intents/${id}`))
      return this.#error(response, { status: 404, code: 'route.not_found' });
    if (request.headers.authorization !== `Bearer ${id}_secret_${this.secret}`)
      return this.#error(response, { status: 401, code: 'api_key.invalid' });
    const body = await bodyOf(request);
    switch (`${request.method} ${pathname.slice(`/v1/intents/${id}`.length)}`) {
      case 'GET ':
        return this.#json(response, 'fetch', {
          intent: this.intent,
          solanaPayToken: this.#token(),
          sponsors: this.sponsors,
          paymasterUrl: this.paymasterUrl,
        });
      case 'GET /events':
        if (request.headers.accept !== 'text/event-stream')
          return this.#json(response, 'fetch', { events: this.#events, hasMore: false, nextCursor: null });
        return this.#stream(response);
      case 'POST /detected':
        this.become({ detectedAt: new Date().toISOString() }, 'intent.detected');
        return this.#json(response, 'fetch', { intent: this.intent });
      case 'POST /build':
        return this.#build(response, String(body['fulfiller']), body['sponsored'] === true);
      case 'POST /submit':
        return this.#submit(response, body as { signedTransaction: string; fulfiller: string });
      default:
        return this.#error(response, { status: 401, code: 'api_key.insufficient_scope' });
    }
  }

  async #answerLink(request: IncomingMessage, response: ServerResponse, pathname: string): Promise<void> {
    const { id } = this.paymentLink;
    if (request.headers.authorization !== `Bearer ${id}_secret_${this.secret}`)
      return this.#error(response, { status: 401, code: 'api_key.invalid' });
    if (pathname === `/v1/payment-links/${id}`) return this.#json(response, 'fetch', { paymentLink: this.paymentLink });
    const offer = Number((await bodyOf(request))['offer']);
    this.chosen.push(offer);
    const intents = [{ offer, intentId: this.intent.id }];
    this.paymentLink = { ...this.paymentLink, intents };
    const clientSecret = `${this.intent.id}_secret_${this.secret}`;
    return this.#json(response, 'choose', { intent: this.intent, clientSecret });
  }

  async #build(response: ServerResponse, fulfiller: string, isAsked: boolean): Promise<void> {
    this.builds.push(isAsked);
    const sponsored = isAsked || this.isSponsoredAlive;
    const terms = { ...TERMS[this.family], ...this.built };
    const isSolana = this.family === 'solana';
    const transaction: Unsigned = {
      blob: await blobOf(this.family, terms, fulfiller, sponsored),
      format: FORMATS[this.family],
      ataRentLamports: isSolana ? 2_039_280 : null,
      estimatedFeeLamports: isSolana && !sponsored ? 5_060 : null,
      estimatedFeeUsdc: this.family === 'tempo' && !sponsored ? '0.0012' : null,
      estimatedFeeEth: this.family === 'base' && !sponsored ? '0.0000021' : null,
      expiresAt: this.lifeMs === null ? null : new Date(Date.now() + this.lifeMs).toISOString(),
    };
    this.#json(response, 'build', { intent: this.intent, transaction });
  }

  #submit(response: ServerResponse, body: { signedTransaction: string; fulfiller: string }): void {
    if (this.#refused(response, 'submit')) return;
    this.submitted.push(body);
    const txSignature = body.signedTransaction.length === 66 ? body.signedTransaction : `0x${'ab'.repeat(32)}`;
    this.become({ state: 'pending', fulfiller: body.fulfiller, txSignature, retryRequired: false });
    this.#json(response, 'submit', { intent: this.intent, txSignature });
  }

  #stream(response: ServerResponse): void {
    if (this.#refused(response, 'stream')) return;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    this.#streams.add(response);
    response.on('close', () => this.#streams.delete(response));
    this.#write(response, 'snapshot', { intent: this.intent });
  }

  #write(stream: ServerResponse, event: string, data: object): void {
    stream.write(`id: ${this.#version}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  #token(): string | null {
    return this.family === 'solana' ? `${this.intent.id}_spl_8sdf7Yhj3kLmN2pQ9rStUv` : null;
  }

  #json(response: ServerResponse, route: Route, body: object): void {
    if (this.#refused(response, route)) return;
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(body));
  }

  #refused(response: ServerResponse, route: Route): boolean {
    const at = this.#refusals.findIndex((one) => one.route === route);
    const [found] = at === -1 ? [] : this.#refusals.splice(at, 1);
    if (found !== undefined) this.#error(response, found.refusal);
    return found !== undefined;
  }

  #error(response: ServerResponse, { status, code, param = undefined, details = undefined }: Refusal): void {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { code, message: code, param: param ?? null, details: details ?? null } }));
  }

  async #file(response: ServerResponse, name: string): Promise<void> {
    const content = await readFile(path.join(DIST, path.normalize(name)));
    const headers = { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' };
    response.writeHead(200, { 'content-type': TYPES[path.extname(name)] ?? 'application/octet-stream', ...headers });
    response.end(content);
  }
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}
