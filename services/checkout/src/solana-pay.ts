import { type ErrorCode, SOLANA_PAY_TOKEN } from '@pf/contracts';
import { errorHandler, type Gateway, methodNotAllowed, readBody, write } from '@pf/http';
import type { Logger } from '@pf/runtime';
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import { z } from 'zod';
import { asHttpError } from './errors.ts';
import { askGateway } from './forwarding.ts';
import { unknownIntent } from './ids.ts';
import type { Limits } from './limits.ts';
import { ICON_PATH } from './logo.ts';
import type { Merchants } from './merchants.ts';

export interface SolanaPayDependencies {
  readonly gateway: Pick<Gateway, 'request'>;
  readonly limits: Limits;
  readonly log: Logger;
  readonly merchants: Merchants;
  /** Where people reach this service. */
  readonly url: URL;
}

/** Wallets run in browsers of any origin; the official library sends Cache-Control. */
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
  'Access-Control-Allow-Headers': 'Accept, Accept-Encoding, Cache-Control, Content-Encoding, Content-Type',
  'Access-Control-Max-Age': '7200',
  'Cross-Origin-Resource-Policy': 'cross-origin',
} as const;

const wallet = z.object({ account: z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/) });
const built = z.object({
  intent: z.object({ amount: z.string(), token: z.string() }),
  transaction: z.object({ blob: z.string(), format: z.literal('solana_v0_message') }),
});
const refused = z.object({ error: z.object({ code: z.string() }) });

/** What wallets show to the payer: 80 characters at most, because some show no more. */
const MESSAGES: Readonly<Partial<Record<ErrorCode, string>>> = {
  'address.not_payable': 'This wallet cannot pay: use an ordinary wallet, not a token account.',
  'address.sanctions_match': 'This wallet cannot be used for this payment.',
  'api_key.invalid': 'This code is not valid. Scan it again.',
  'intent.already_fulfilled': 'This payment has been made already.',
  'intent.expired': 'The time for this payment has passed. Ask for a new one.',
  'intent.invalid_state': 'This payment can no longer be made. Ask for a new one.',
  'intent.not_found': 'This code is not valid. Scan it again.',
  'intent.original_unpaid': 'This refund cannot be paid at the moment. Try again later.',
  'intent.submission_in_progress': 'This payment is under way. Wait until it has arrived.',
  'request.validation_failed': 'The wallet sent an invalid request: an account is missing.',
  'transaction.rejected': 'The payment would fail. Check that the wallet holds enough, and SOL for the fee.',
};
const OTHERWISE: Readonly<Partial<Record<number, string>>> = {
  429: 'Too many requests at this moment. Wait a little, and try again.',
  503: 'Payments cannot be prepared at the moment. Try again.',
};
const FAILED = 'This payment cannot be prepared. Try another way to pay.';

/**
 * A transaction request of Solana Pay 1.1: a wallet that has scanned
 * `solana:https://…/s/<token>` asks whom it pays, and then for the transaction. The token allows nothing else.
 */
export function solanaPay(dependencies: SolanaPayDependencies): Router {
  const router = express.Router();
  router
    .route('/s/:token')
    .all((_request, response, next) => {
      response.locals['route'] = '/s/{token}';
      response.setHeaders(new Map(Object.entries(CORS)));
      next();
    })
    .options((_request, response) => void response.writeHead(204).end())
    .get(label(dependencies))
    .post(transaction(dependencies))
    .all(methodNotAllowed(['GET', 'POST', 'OPTIONS']));
  router.use(errorHandler(dependencies.log, asHttpError, ({ status, code }) => messageOf(status, code)));
  return router;
}

/** What a QR code has: without a query, so that nothing in it needs escaping and the code stays small. */
export const transactionRequest = (url: URL, token: string): string => `solana:${new URL(`/s/${token}`, url).href}`;

/** The intent of the token in the path. Only the gateway can tell whether it made the token. */
function intentOf({ params }: Request): { readonly intentId: string; readonly token: string } {
  const { token } = params;
  const intentId = typeof token === 'string' ? SOLANA_PAY_TOKEN.exec(token)?.[1] : undefined;
  if (intentId === undefined) throw unknownIntent();
  return { intentId, token: String(token) };
}

/** GET: whom the transaction pays. */
const label =
  ({ merchants, url }: SolanaPayDependencies): RequestHandler =>
  async (request, response) => {
    const { intentId } = intentOf(request);
    const merchant = await merchants.of(intentId);
    if (!merchant) throw unknownIntent();
    response.locals['accountId'] = merchant.accountId;
    const icon = merchant.logo === null ? ICON_PATH : `/logo/${intentId}`;
    write(response, 200, JSON.stringify({ label: merchant.name, icon: new URL(icon, url).href }));
  };

/** POST: the transaction for one wallet. */
const transaction =
  ({ gateway, limits, merchants }: SolanaPayDependencies) =>
  async (request: Request, response: Response): Promise<void> => {
    const { intentId, token } = intentOf(request);
    const { account } = await readBody(request, response, wallet);
    const release = await limits.begin(request.ip, () => merchants.ownerOf(intentId), 'builds');
    try {
      const merchant = await merchants.of(intentId);
      if (!merchant) throw unknownIntent();
      response.locals['accountId'] = merchant.accountId;
      // The client may have disconnected meanwhile.
      if (response.destroyed) return;
      const { status, headers, body } = await askGateway(gateway, [request, response], {
        path: `/v1/intents/${intentId}/build`,
        secret: token,
        body: { fulfiller: account },
      });
      if (status === 200) {
        const { intent, transaction: unsigned } = built.parse(body);
        const message = `${intent.amount} ${intent.token} to ${merchant.name}`;
        write(response, 200, JSON.stringify({ transaction: unsigned.blob, message }));
        return;
      }
      const { code } = refused.parse(body).error;
      response.locals['errorCode'] = code;
      const retryAfter = headers['retry-after'];
      const later = typeof retryAfter === 'string' ? { 'Retry-After': retryAfter } : {};
      write(response, status, messageOf(status, code), later);
    } finally {
      release();
    }
  };

/** An error as wallets read it. */
const messageOf = (status: number, code: string): string =>
  JSON.stringify({ message: MESSAGES[code as ErrorCode] ?? OTHERWISE[status] ?? FAILED });
