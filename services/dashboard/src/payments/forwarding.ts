import type { Operation } from '@pf/contracts';
import {
  FIELD_ACCESS,
  PAYMENT_ACCESS,
  type PaymentChange,
  type PaymentOperationId,
  SECRETS_ACCESS,
} from '@pf/contracts/dashboard';
import {
  type Gateway,
  type GatewayCapacity,
  gatewayPath,
  type GatewayRequest,
  type GatewayResponse,
  gatewayUnavailable,
  HttpError,
  passBody,
  passHead,
  readBytes,
  signPass,
  SITE_TIMES_OF_FEW,
  Slots,
  slotsOfAddress,
  wantsStream,
} from '@pf/http';
import { count, currentTrace, type Logger } from '@pf/runtime';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { DashboardError } from '../dashboard-error.ts';
import { admit, type Admitted, type ServingDependencies } from '../endpoint.ts';
import { STREAMS_MAX } from '../streams.ts';
import { fieldsIn, isChange, recordPayment } from './changes.ts';

/**
 * What this process has under way at the gateway, by kind: in all, and beside that, once it is taken, one for each
 * person, account and address with nothing of the kind under way; of an account, of a person in all accounts, and of an
 * address, of an office perhaps. So the slow requests of a few are not in the way of others.
 */
const PLACES = {
  requests: { all: 128, reserve: 32, account: 16, person: 32, address: 64 },
  waiting: { all: 64, reserve: 16, account: 8, person: 8, address: 16 },
} as const;
type Kind = keyof typeof PLACES;
/**
 * What waits for others: the sponsor, the paymaster or the receiver that an account has named, or a node that is
 * to show a hash. Anyone can have one that hangs.
 */
const WAITING: ReadonlySet<PaymentOperationId> = new Set([
  'buildIntent',
  'submitIntent',
  'buildAuthorization',
  'submitAuthorization',
  'askPaymaster',
  'payByMpp',
  'testEndpoint',
]);
/** The connections for all of it. */
export const CAPACITY: GatewayCapacity = {
  requests: Object.values(PLACES).reduce((sum, { all, reserve }) => sum + all + reserve, 0),
  streams: STREAMS_MAX,
};
/** The most that a request takes, also if its client reads slowly. A stream has no end. */
const REQUEST_MS = 60_000;

/** The headers of a request that reach the gateway. Cookies do not. */
const SENT = ['accept', 'content-type', 'last-event-id'] as const;
/** What the gateway says of a pass that it does not accept. */
const PASS_REFUSED: ReadonlySet<string> = new Set(['api_key.missing', 'api_key.invalid', 'api_key.insufficient_scope']);

const refusal = z.object({ error: z.object({ code: z.string() }) });

export interface ForwardingDependencies extends ServingDependencies {
  readonly gateway: Gateway;
  readonly log: Logger;
  readonly passSecret: Uint8Array;
}

type Forwarded = Operation & { readonly id: PaymentOperationId };
type Member = Admitted<(typeof PAYMENT_ACCESS)[PaymentOperationId]>;

type Asked = Omit<GatewayRequest, 'signal'>;

/**
 * Forwards requests of people to the gateway, with a pass instead of an API key: the payment API itself, for those
 * whose role allows the request.
 */
export class Forwarding {
  readonly #dependencies: ForwardingDependencies;
  readonly #slots = new Slots();

  constructor(dependencies: ForwardingDependencies) {
    this.#dependencies = dependencies;
  }

  /** Serves an operation of the payment API in one mode. */
  readonly serve =
    (operation: Forwarded, mode: 'test' | 'live') =>
    async (request: Request, response: Response): Promise<void> => {
      response.locals['route'] = `/api/accounts/{accountId}/{mode}/v1${operation.path}`;
      const hasBody = ['post', 'put', 'patch'].includes(operation.method);
      // Before anything is judged: who holds a body back may lose the session or the role until it is there.
      const body = hasBody ? await readBytes(request, response) : null;
      const member = await admit(request, response, { access: PAYMENT_ACCESS[operation.id] }, this.#dependencies);
      // The client may have disconnected meanwhile.
      if (response.destroyed) return;
      requireFields(operation.id, body, member);
      const isStream = wantsStream(operation, request);
      const release = isStream ? this.#dependencies.streams.take(member) : this.#takeSlots(operation.id, member);
      const ending = new AbortController();
      response.once('close', () => ending.abort());
      try {
        const asked = {
          method: request.method,
          path: gatewayPath(operation, request),
          headers: await this.#headers(request, response, member, mode),
          body,
        };
        if (isChange(operation.id)) await this.#change(operation.id, { mode, member, asked, request, response });
        else await this.#read(operation, asked, { isStream, member, response, ending });
      } finally {
        release();
      }
    };

  /** Forwards what only reads: it ends with its client. */
  async #read(
    { id }: Forwarded,
    asked: Asked,
    {
      isStream,
      member,
      response,
      ending,
    }: {
      readonly isStream: boolean;
      readonly member: Member;
      readonly response: Response;
      readonly ending: AbortController;
    },
  ): Promise<void> {
    const { signal } = ending;
    const lasting = isStream ? signal : AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]);
    const answer = await this.#ask(isStream, { ...asked, signal: lasting }).catch((cause: unknown) => {
      if (!signal.aborted) throw cause;
      return null;
    });
    if (!answer) return;
    passHead(answer, response);
    if (isStream) {
      response.flushHeaders();
      this.#dependencies.streams.endWith(member, PAYMENT_ACCESS[id], response, ending);
    }
    await passBody(answer, response, lasting, (error) =>
      this.#dependencies.log.warn({ err: error }, 'a response of the gateway broke off'),
    );
  }

  /**
   * Forwards a change, and records it once the gateway has accepted it. It goes on when its client disconnects: who
   * hangs up would otherwise leave no trace.
   */
  async #change(
    id: PaymentChange,
    {
      mode,
      member,
      asked,
      request,
      response,
    }: {
      readonly mode: 'test' | 'live';
      readonly member: Member;
      readonly asked: Asked;
      readonly request: Request;
      readonly response: Response;
    },
  ): Promise<void> {
    const { account, by, person } = member;
    await this.#dependencies.limits.admitChange({ userId: person.userId, accountId: account.id });
    const named = request.params['id'] ?? request.params['chain'];
    const subject = typeof named === 'string' ? named : null;
    const record = (text: string | null): Promise<void> =>
      recordPayment(this.#dependencies, by, {
        id,
        accountId: account.id,
        livemode: mode === 'live',
        subject,
        request: asked.body,
        response: text,
      });
    const answer = await this.#ask(false, { ...asked, signal: AbortSignal.timeout(REQUEST_MS) }).catch(
      async (error: unknown) => {
        if (!isSurelyUndone(error)) await record(null);
        throw error;
      },
    );
    const text = await answer.text().catch(async (error: unknown) => {
      await record(null);
      throw gatewayUnavailable(error);
    });
    if (answer.statusCode >= 500) await record(null);
    // What was accepted before changes nothing again.
    else if (answer.statusCode < 300 && answer.headers['idempotent-replayed'] === undefined) await record(text);
    if (response.destroyed) return;
    passHead(answer, response);
    response.end(text);
  }

  /** @throws DashboardError `rate_limit.exceeded` or `service.unavailable` if there are none left */
  #takeSlots(id: PaymentOperationId, { account, client, person }: Member): () => void {
    const kind: Kind = WAITING.has(id) ? 'waiting' : 'requests';
    const most = PLACES[kind];
    const [all, ofPerson, ofAccount] = [kind, `${kind} ${person.userId}`, `${kind} ${account.id}`];
    const own = {
      [ofAccount]: most.account,
      [ofPerson]: most.person,
      ...slotsOfAddress(client.address, most.address, (group) => `${kind} of address ${group}`, SITE_TIMES_OF_FEW),
    };
    const shared = { rooms: { [all]: most.all }, reserve: { [`reserve of ${kind}`]: most.reserve } };
    const taken = this.#slots.takeShared(own, shared);
    if (typeof taken === 'function') return taken;
    if (taken.full === all) throw new DashboardError('service.unavailable');
    count('payments.rate_limited', { policy: 'dashboard' });
    const [whose, may] =
      taken.full === ofPerson
        ? ['Too many of your requests', most.person]
        : taken.full === ofAccount
          ? ['Too many requests of the account', most.account]
          : ['Too many requests of this address', most.address];
    throw new DashboardError('rate_limit.exceeded', {
      message: `${whose} are under way: ${may} may be. Send it again.`,
      retryAfterSeconds: 1,
    });
  }

  async #headers(
    request: Request,
    response: Response,
    { account, client, person }: Member,
    mode: 'test' | 'live',
  ): Promise<Record<string, string>> {
    const { now, passSecret } = this.#dependencies;
    const pass = {
      accountId: account.id,
      livemode: mode === 'live',
      plan: account.plan,
      userId: person.userId,
      secrets: SECRETS_ACCESS.includes(account.role),
    };
    const { traceparent } = currentTrace();
    const headers: Record<string, string> = {
      authorization: `Bearer ${await signPass(pass, passSecret, now())}`,
      'x-request-id': String(response.getHeader('X-Request-Id')),
    };
    if (client.address !== undefined) headers['x-forwarded-for'] = client.address;
    if (traceparent !== null) headers['traceparent'] = traceparent;
    for (const name of SENT) {
      const value = request.get(name);
      if (value !== undefined) headers[name] = value;
    }
    return headers;
  }

  /** @throws HttpError `service.unavailable` if the gateway does not respond, or refuses the pass */
  async #ask(isStream: boolean, request: GatewayRequest): Promise<GatewayResponse> {
    const { gateway, log } = this.#dependencies;
    const answer = await (isStream ? gateway.stream(request) : gateway.request(request));
    if (answer.statusCode !== 401) return answer;
    const text = await answer.text();
    const { code } = refusal.parse(JSON.parse(text)).error;
    if (!PASS_REFUSED.has(code)) return { ...answer, body: [text], text: () => Promise.resolve(text) };
    // The person is signed in: it is the two services that disagree.
    log.error(
      { code },
      'the gateway refuses the passes of the dashboard: compare DASHBOARD_PASS_SECRET and the clocks',
    );
    throw gatewayUnavailable(new PassRefusedError(`the gateway responded with ${code}`));
  }
}

/** The gateway does not accept the passes of this service. */
class PassRefusedError extends Error {
  override readonly name = 'PassRefusedError';
}

/** Codes of errors before a request is sent. */
const NOT_SENT: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

function isSurelyUndone(error: unknown): boolean {
  const cause = error instanceof HttpError ? error.cause : undefined;
  return cause instanceof PassRefusedError || (cause instanceof Error && 'code' in cause && NOT_SENT.has(cause.code));
}

/**
 * Some fields of a request are for fewer roles than the request.
 * @throws DashboardError `role.insufficient`
 */
function requireFields(id: PaymentOperationId, body: Uint8Array | null, { account }: Member): void {
  const access = FIELD_ACCESS[id];
  if (access === undefined) return;
  const sent = fieldsIn(body);
  for (const [field, roles] of Object.entries(access))
    if (Object.hasOwn(sent, field) && !roles.includes(account.role))
      throw new DashboardError('role.insufficient', {
        message: `Your role in this account does not allow \`${field}\` in this request. Leave it out.`,
        details: { roles, field },
      });
}
