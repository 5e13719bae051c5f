import { PAYMASTER_TOKEN, paymasterRequest, paymasterResponse } from '@pf/contracts';
import { errorHandler, type Gateway, methodNotAllowed, readBody, write } from '@pf/http';
import type { Logger } from '@pf/runtime';
import express, { type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import { asHttpError } from './errors.ts';
import { askGateway } from './forwarding.ts';
import { unknownIntent } from './ids.ts';
import type { Limits } from './limits.ts';
import type { Merchants } from './merchants.ts';

export interface PaymasterDependencies {
  readonly gateway: Pick<Gateway, 'request'>;
  readonly limits: Limits;
  readonly log: Logger;
  readonly merchants: Pick<Merchants, 'ownerOf'>;
}

/** Wallets run in browsers of any origin, and on servers. */
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'POST, OPTIONS',
  'Access-Control-Allow-Headers': 'Accept, Content-Type',
  'Access-Control-Max-Age': '7200',
  'Cross-Origin-Resource-Policy': 'cross-origin',
} as const;
/** JSON-RPC: the server's own errors. */
const REFUSED = -32_000;

const refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/**
 * The paymaster service of one payment, as wallets call it (ERC-7677): without headers, so the token of the intent is
 * in the path, and opens nothing else. The gateway asks the merchant's own, whose URL stays hidden.
 */
export function paymaster(dependencies: PaymasterDependencies): Router {
  const router = express.Router();
  router
    .route('/p/:token')
    .all((_request, response, next) => {
      response.locals['route'] = '/p/{token}';
      response.setHeaders(new Map(Object.entries(CORS)));
      next();
    })
    .options((_request, response) => void response.writeHead(204).end())
    .post(answer(dependencies))
    .all(methodNotAllowed(['POST', 'OPTIONS']));
  router.use(errorHandler(dependencies.log, asHttpError, ({ message }) => failure(null, message)));
  return router;
}

const failure = (id: string | number | null, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code: REFUSED, message } });

const answer =
  ({ gateway, limits, merchants }: PaymasterDependencies) =>
  async (request: Request, response: Response): Promise<void> => {
    const { token } = request.params;
    const intentId = typeof token === 'string' ? PAYMASTER_TOKEN.exec(token)?.[1] : undefined;
    // Only the gateway can tell whether it made the token.
    if (intentId === undefined) throw unknownIntent();
    const call = await readBody(request, response, paymasterRequest);
    const release = await limits.begin(request.ip, () => merchants.ownerOf(intentId), 'builds');
    try {
      // The client may have disconnected meanwhile.
      if (response.destroyed) return;
      const { status, body } = await askGateway(gateway, [request, response], {
        path: `/v1/intents/${intentId}/paymaster`,
        secret: String(token),
        body: call,
      });
      if (status === 200) {
        write(response, 200, JSON.stringify(paymasterResponse.parse(body)));
        return;
      }
      const { code, message } = refused.parse(body).error;
      response.locals['errorCode'] = code;
      // A refusal is an answer of JSON-RPC: wallets read the bodies of no other status.
      write(response, 200, failure(call.id, message));
    } finally {
      release();
    }
  };
