import { type Operation, OPERATIONS } from '@pf/contracts';
import {
  type Gateway,
  gatewayPath,
  type GatewayRequest,
  type GatewayResponse,
  gatewayUnavailable,
  OpenResponses,
  passBody,
  passHead,
  readBytes,
  wantsStream,
} from '@pf/http';
import { currentTrace, type Logger } from '@pf/runtime';
import type { Request, Response } from 'express';
import { requireClientSecret } from './ids.ts';
import type { Limits } from './limits.ts';
import type { Merchants } from './merchants.ts';

/** The most that a request takes, also if its client reads slowly. A stream has no end. */
const REQUEST_MS = 30_000;
/** The headers of a request that reach the gateway, beside its authorization. Cookies do not. */
const SENT = ['accept', 'content-type', 'last-event-id'] as const;

/** What the gateway is told about the payer who asks, so that its limits by address hold for them. */
function payerHeaders(request: Request, response: Response, authorization: string): Record<string, string> {
  const { traceparent } = currentTrace();
  return {
    authorization,
    'x-request-id': String(response.getHeader('X-Request-Id')),
    ...(request.ip !== undefined && { 'x-forwarded-for': request.ip }),
    ...(traceparent !== null && { traceparent }),
  };
}

function kindOf({ id }: Operation): 'requests' | 'builds' | 'submits' {
  if (id === OPERATIONS.buildIntent.id) return 'builds';
  return id === OPERATIONS.submitIntent.id ? 'submits' : 'requests';
}

/** What is asked of the gateway for a payer: with a body it is posted. */
interface Question {
  readonly path: string;
  /** The secret or token that opens what is asked for. */
  readonly secret: string;
  readonly body?: object;
}
/** The gateway's answer, whatever its status is. */
interface GatewayAnswer {
  readonly status: number;
  readonly headers: GatewayResponse['headers'];
  /** Parsed JSON. */
  readonly body: unknown;
}

/**
 * Asks the gateway what this service answers in words of its own.
 * @throws ApiError where the gateway does not respond, or not in JSON
 */
export async function askGateway(
  gateway: Pick<Gateway, 'request'>,
  [request, response]: readonly [Request, Response],
  { path, secret, body }: Question,
): Promise<GatewayAnswer> {
  const headers = payerHeaders(request, response, `Bearer ${secret}`);
  const answer = await gateway.request({
    method: body ? 'POST' : 'GET',
    path,
    headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
    body: body ? Buffer.from(JSON.stringify(body)) : null,
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  response.locals['errorCode'] = answer.errorCode;
  const parsed = await answer.text().then(JSON.parse as (text: string) => unknown, (cause: unknown) => {
    throw gatewayUnavailable(cause);
  });
  return { status: answer.statusCode, headers: answer.headers, body: parsed };
}

/** Forwards to the gateway what the page asks of the payment API, with the client secret of its one intent. */
export class Forwarding {
  readonly #gateway: Gateway;
  readonly #limits: Limits;
  readonly #log: Logger;
  readonly #merchants: Pick<Merchants, 'ownerOf'>;
  readonly #streams = new OpenResponses();

  constructor({
    gateway,
    limits,
    log,
    merchants,
  }: {
    readonly gateway: Gateway;
    readonly limits: Limits;
    readonly log: Logger;
    readonly merchants: Pick<Merchants, 'ownerOf'>;
  }) {
    this.#gateway = gateway;
    this.#limits = limits;
    this.#log = log;
    this.#merchants = merchants;
  }

  /** Serves an operation of the payment API. */
  readonly serve =
    (operation: Operation) =>
    async (request: Request, response: Response): Promise<void> => {
      response.locals['route'] = `/v1${operation.path}`;
      const authorization = requireClientSecret(request, operation.paymentLink ? 'link' : 'intent');
      const body = operation.method === 'post' ? await readBytes(request, response) : null;
      const isStream = wantsStream(operation, request);
      const owner = (): Promise<string> => this.#merchants.ownerOf(String(request.params['id']));
      const release = await this.#limits.begin(request.ip, owner, isStream ? 'streams' : kindOf(operation));
      const ending = new AbortController();
      response.once('close', () => ending.abort());
      try {
        // The client may have disconnected meanwhile.
        if (response.destroyed) return;
        const asked = {
          method: request.method,
          path: gatewayPath(operation, request),
          headers: { ...payerHeaders(request, response, authorization), ...sentHeaders(request) },
          body,
        };
        const late = AbortSignal.timeout(REQUEST_MS);
        const lasting = isStream ? ending.signal : AbortSignal.any([ending.signal, late]);
        const answer = await this.#ask(asked, isStream, { ending: ending.signal, late });
        if (answer === null || response.destroyed) return;
        passHead(answer, response);
        if (isStream) {
          response.flushHeaders();
          this.#streams.add(response, ending);
        }
        await passBody(answer, response, lasting, (error) =>
          this.#log.warn({ err: error }, 'a response of the gateway broke off'),
        );
      } finally {
        release();
      }
    };

  /** Ends all streams, and those that open from now on: their clients resume at another process. */
  close(): void {
    this.#streams.close();
  }

  /** @returns null if the client has disconnected. A change goes on then, what only reads does not. */
  async #ask(
    asked: Omit<GatewayRequest, 'signal'>,
    isStream: boolean,
    { ending, late }: { readonly ending: AbortSignal; readonly late: AbortSignal },
  ): Promise<GatewayResponse | null> {
    if (isStream) return unlessEnded(this.#gateway.stream({ ...asked, signal: ending }), ending);
    if (asked.body !== null) return this.#gateway.request({ ...asked, signal: late });
    return unlessEnded(this.#gateway.request({ ...asked, signal: AbortSignal.any([ending, late]) }), ending);
  }
}

const unlessEnded = (answer: Promise<GatewayResponse>, ending: AbortSignal): Promise<GatewayResponse | null> =>
  answer.catch((error: unknown) => {
    if (!ending.aborted) throw error;
    return null;
  });

const sentHeaders = (request: Request): Record<string, string> =>
  Object.fromEntries(
    SENT.flatMap((name) => {
      const value = request.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
