import { type Operation, parseIntentId, payerLinkView, type ShownPaymentLink } from '@pf/contracts';
import { forOwner, type Owner, type RequestRecord } from '@pf/database';
import { type PublicIntent, payerView } from '@pf/domain';
import { readBytes, sharingGroups, shownPath, statusOf, wantsStream, write } from '@pf/http';
import type { Request, Response } from 'express';
import { ApiError } from './api-error.ts';
import { type ApiKeys, type Holder, isPayer, requireAccess } from './api-keys.ts';
import type { ClientSecrets } from './client-secrets.ts';
import type { IntentHolders } from './intent-holders.ts';
import type { KeyUses } from './key-uses.ts';
import type { Limiter } from './limits/limiter.ts';
import type { Readings } from './limits/readings.ts';
import type { MppChallenges } from './mpp/challenges.ts';
import type { Strangers } from './limits/strangers.ts';
import type { RequestRecords } from './request-records.ts';
import { keyInHeader } from './idempotency.ts';

/** The methods of requests that have a body, if only an empty one. */
const BODIES: ReadonlySet<Operation['method']> = new Set(['post', 'put', 'patch']);
/** Any id that has the form is recorded, whether or not there is such an intent. */
const PARTITIONS_MAX = 256;

/** The successful response of an endpoint; `body` becomes JSON. */
export interface EndpointResponse {
  readonly status: 200 | 201 | 202;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The implementation of one operation. The operation itself, and so the OpenAPI document, is in packages/contracts. */
export interface Endpoint {
  readonly operation: Operation;
  /** Resolves with null if it has written the response itself. */
  handle(call: Call): Promise<EndpointResponse | null>;
}

/** An endpoint on the store of each mode. */
export interface InModes {
  readonly operation: Operation;
  readonly live: Pick<Endpoint, 'handle'>;
  readonly test: Pick<Endpoint, 'handle'>;
}

/** A request with a valid key of sufficient scope, a pass or a secret; its body is there, not parsed. */
export interface Call {
  readonly holder: Holder;
  readonly request: Request;
  readonly response: Response;
}

/** What decides whether a request is served, and remembers that it was. */
interface Admission {
  readonly clientSecrets: Pick<ClientSecrets, 'read'>;
  readonly intentHolders: Pick<IntentHolders, 'holder'>;
  readonly keys: ApiKeys;
  readonly limiter: Limiter;
  readonly mppChallenges: Pick<MppChallenges, 'read'>;
  /** Milliseconds since 1970, by a clock that all processes share. */
  readonly now: () => number;
  readonly readings: Pick<Readings, 'begin'>;
  readonly records: Pick<RequestRecords, 'record'>;
  readonly strangers: Pick<Strangers, 'admit' | 'acquit'>;
  readonly uses: Pick<KeyUses, 'used'>;
}

/** Authenticates, rate-limits and authorizes a request, calls its endpoint and writes the response. */
export const serve =
  (
    { operation, live, test }: InModes,
    { clientSecrets, intentHolders, keys, limiter, mppChallenges, now, readings, records, strangers, uses }: Admission,
  ) =>
  async (request: Request, response: Response): Promise<void> => {
    const began = performance.now();
    response.locals['route'] = `/v1${operation.path}`;
    const { authorization } = request.headers;
    const opened =
      clientSecrets.read(authorization) ?? answered(authorization, request.ip, { mppChallenges, strangers });
    // Before anything is looked up: payers' requests take nothing from those of keys.
    if (opened) await limiter.admitPayer(opened, request, response);
    const holder = await (opened ? intentHolders.holder(opened) : keys.holder(authorization, request.ip));
    response.locals['accountId'] = holder.accountId;
    response.locals['intentId'] = intentIn(request);
    response.once('close', () => records.record(recordOf({ holder, request, response }, began, now())));
    if (holder.userId !== undefined) response.locals['userId'] = holder.userId;
    else if (!opened) uses.used(holder.keyId);
    if (!opened) await limiter.admit(holder, request, response);
    requireAccess(holder, operation);
    if (operation.method === 'post') keyInHeader(request);
    // Whatever the endpoint does, it does not see another intent or link.
    if (holder.intentId !== undefined && request.params['id'] !== holder.intentId)
      throw new ApiError('intent.not_found');
    if (holder.linkId !== undefined && request.params['id'] !== holder.linkId)
      throw new ApiError('payment_link.not_found');
    // Until its client has the response. The client may have disconnected meanwhile.
    if (operation.method === 'get' && !response.destroyed && !wantsStream(operation, request))
      response.once('close', readings.begin(holder, request.ip));
    // Read behind the check, so that only callers with a key can hold a body back. The key may be revoked meanwhile.
    if (BODIES.has(operation.method)) {
      await readBytes(request, response);
      if (!opened) await keys.stillHolder(authorization, 0);
    }
    const endpoint = holder.livemode ? live : test;
    const result = await forOwner(ownerOf(holder, request.ip), () => endpoint.handle({ holder, request, response }));
    response.locals['intentId'] ??= createdBy(result);
    if (result) write(response, result.status, JSON.stringify(shownTo(holder, result.body)), result.headers);
  };

/**
 * Whose connections to Postgres a request takes: a crowd of payers takes none of the account that they pay, and one
 * address of them, or one key or person of the account, leaves the others of theirs something.
 */
const ownerOf = (holder: Holder, ip: string | undefined): Owner =>
  isPayer(holder)
    ? { name: `payers ${holder.accountId} ${holder.livemode}`, member: sharingGroups(ip).at(-1)?.group ?? '' }
    : { name: `account ${holder.accountId} ${holder.livemode}`, member: holder.keyId };

const CREDENTIAL = /^payment +/i;

/**
 * What a credential of MPP opens. It is kilobytes of JSON that must be parsed to be verified, so it counts for its
 * address before, as a key that is unknown does.
 */
function answered(
  authorization: string | undefined,
  ip: string | undefined,
  { mppChallenges, strangers }: Pick<Admission, 'mppChallenges' | 'strangers'>,
): ReturnType<MppChallenges['read']> {
  if (authorization === undefined || !CREDENTIAL.test(authorization)) return null;
  strangers.admit(ip);
  const opened = mppChallenges.read(authorization);
  if (opened) strangers.acquit(ip);
  return opened;
}

/** Payers see an intent and a payment link reduced, whatever endpoint returns it. */
function shownTo(holder: Holder, body: object): object {
  if (!isPayer(holder)) return body;
  return {
    ...body,
    ...('intent' in body && { intent: payerView(body.intent as PublicIntent) }),
    ...('paymentLink' in body && { paymentLink: payerLinkView(body.paymentLink as ShownPaymentLink) }),
  };
}

function recordOf({ holder, request, response }: Call, began: number, now: number): Omit<RequestRecord, 'omitted'> {
  const { errorCode, intentId, route } = response.locals as Readonly<Record<string, unknown>>;
  return {
    accountId: holder.accountId,
    livemode: holder.livemode,
    at: new Date(now),
    method: request.method,
    route: String(route),
    path: shownPath(request),
    status: statusOf(response),
    errorCode: typeof errorCode === 'string' ? errorCode : null,
    keyId: isKey(holder) ? holder.keyId : null,
    userId: holder.userId ?? null,
    intentId: typeof intentId === 'string' ? intentId : null,
    durationMs: Math.round(performance.now() - began),
    requestId: String(response.getHeader('X-Request-Id')),
  };
}

/** Not a person, nor a payer with the secret of one thing. */
const isKey = ({ userId, intentId, linkId }: Holder): boolean => (userId ?? intentId ?? linkId) === undefined;

/** The id in the path, if it is one of an intent. */
function intentIn({ params }: Request): string | undefined {
  const { id } = params;
  return typeof id === 'string' ? parseIntentId(id, PARTITIONS_MAX)?.id : undefined;
}

/** The intent in a response, if the path names none. */
function createdBy(response: EndpointResponse | null): unknown {
  const body = response?.body as { readonly intent?: { readonly id?: unknown } } | undefined;
  return body?.intent?.id;
}
