import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Access, DASHBOARD_OPERATIONS, DashboardOperation, DashboardOperationId } from '@pf/contracts/dashboard';
import { type AuditSource, type Database, type MemberAccount, memberAccount } from '@pf/database';
import { addressGroup, jsonBody, readBytes, readQuery, sharingGroups, write, writeParts } from '@pf/http';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import { DashboardError } from './dashboard-error.ts';
import { type Client, type Cookies, type Identity, sessionCookieOf, type SignedIn } from './identity/identity.ts';
import type { Limits } from './limits.ts';
import type { Streams } from './streams.ts';
import type { TokenHolders } from './tokens/token-holders.ts';

type BodyOf<O> = O extends { readonly body: infer Body extends z.ZodType } ? z.output<Body> : undefined;
type QueryOf<O> = O extends { readonly query: infer Query extends z.ZodObject } ? z.output<Query> : undefined;
type LivemodeOf<O> = O extends { readonly path: `${string}/{mode}/${string}` } ? boolean : undefined;
type SignalOf<O> = O extends { readonly type: 'text/event-stream' } ? AbortSignal : undefined;

/** The bearer token of a request. Other schemes are of what stands in front of the dashboard. */
const BEARER = /^bearer(?: +|$)(.*)$/i;

/** Who makes a request: anyone, a signed-in person, or a member of the account in the path, as its access says. */
export interface Admitted<A extends Access> {
  readonly client: Client;
  readonly person: A extends 'anyone' ? undefined : SignedIn;
  /** The account in the path, with the person's role in it. */
  readonly account: A extends readonly string[] ? MemberAccount : undefined;
  /** Who and where, for the audit log, and by what right, for the transaction of a change. */
  readonly by: AuditSource;
}

/** A request that may be made: with the session and the role that the operation needs, and a valid query and body. */
interface Call<O extends DashboardOperation> extends Admitted<O['access']> {
  readonly body: BodyOf<O>;
  readonly query: QueryOf<O>;
  /** The mode in the path. */
  readonly livemode: LivemodeOf<O>;
  /** Aborts when the stream has to end. */
  readonly signal: SignalOf<O>;
  /** A parameter of the path. */
  readonly param: (name: string) => string;
  /** Sets cookies of the response. */
  readonly setCookies: (cookies: Cookies) => void;
}

/** The implementation of an operation: resolves with the response's body, where it is not JSON with its parts. */
export type Handler<O extends DashboardOperation> = (
  call: Call<O>,
) => Promise<O extends { readonly type: string } ? AsyncIterable<string> : z.output<O['response']>>;

type Operations = typeof DASHBOARD_OPERATIONS;

/** The implementation of each operation with a tag. */
export type Endpoints<Tag extends Operations[DashboardOperationId]['tag']> = {
  readonly [Id in DashboardOperationId as Operations[Id]['tag'] extends Tag ? Id : never]: Handler<Operations[Id]>;
};

export interface ServingDependencies {
  readonly database: Database;
  readonly identity: Identity;
  readonly limits: Limits;
  readonly streams: Streams;
  readonly tokens: TokenHolders;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Of the dashboard: requests from others may change nothing. */
  readonly origin: string;
}

/** What an operation needs of a request. */
type Admission<A extends Access> = Pick<DashboardOperation, 'sessionOnly' | 'anyOrigin'> & { readonly access: A };

/**
 * Checks origin, session or personal token, and role of a request, in this order, and counts it. A browser sends no
 * personal token by itself, so that a request with one needs no origin; its cookies then play no part.
 * @throws DashboardError for a request that may not be made
 */
export function admit<A extends Access>(
  request: Request,
  response: Response,
  admission: Admission<A>,
  dependencies: ServingDependencies,
): Promise<Admitted<A>> {
  const admitting = (): Promise<Admitted<A>> => admitNow(request, response, admission, dependencies);
  if (admission.access === 'anyone') return admitting();
  const proof = tokenOf(request) ?? sessionCookieOf(request.headers.cookie);
  return dependencies.limits.inTurn('lookup', request.ip, admitting, proof);
}

const tokenOf = (request: Request): string | undefined => BEARER.exec(request.get('authorization') ?? '')?.[1];

async function admitNow<A extends Access>(
  request: Request,
  response: Response,
  { access, anyOrigin, sessionOnly }: Admission<A>,
  { database, identity, limits, now, origin, tokens }: ServingDependencies,
): Promise<Admitted<A>> {
  const token = access === 'anyone' ? undefined : tokenOf(request);
  const changes = request.method !== 'GET' && request.method !== 'HEAD';
  const isOurs = request.get('origin') === origin;
  if (changes && token === undefined && !anyOrigin && !isOurs) throw new DashboardError('origin.foreign');
  const client = {
    address: request.ip,
    userAgent: request.get('user-agent'),
    cookie: token === undefined ? request.headers.cookie : undefined,
  };
  const found =
    access === 'anyone'
      ? null
      : token === undefined
        ? await identity.session(client)
        : await withToken(tokens, token, client.address, new Date(now()));
  if (access !== 'anyone' && !found) throw new DashboardError('session.required');
  const person = found?.person;
  if (person) limits.admitPerson(person.userId);
  if (sessionOnly && token !== undefined) throw new DashboardError('token.insufficient');
  // Prolongs the session, unless the endpoint replaces or ends it.
  if (found) setCookies(response, found.cookies);
  const account = await accountOf(request, access, person, database);
  response.locals['accountId'] = account?.id;
  response.locals['userId'] = person?.userId;
  const { proof } = person ?? {};
  const by: AuditSource = {
    kind: proof?.kind === 'token' ? 'token' : 'person',
    id: person?.userId ?? null,
    name: person?.email ?? '',
    tokenId: proof?.kind === 'token' ? proof.id : null,
    address: client.address ?? null,
    userAgent: client.userAgent ?? null,
    requestId: String(response.getHeader('X-Request-Id')),
    right: person && {
      userId: person.userId,
      proof: person.proof,
      at: new Date(now()),
      roles: typeof access === 'string' ? undefined : access,
    },
  };
  return { client, person, account, by } as Admitted<A>;
}

/** The person of a personal token. @throws DashboardError `token.invalid` or `rate_limit.exceeded` */
async function withToken(
  tokens: TokenHolders,
  token: string,
  ip: string | undefined,
  at: Date,
): Promise<{ readonly person: SignedIn; readonly cookies: Cookies }> {
  const { tokenId: id, tokenName: name, expiresAt, ...person } = await tokens.find(token, ip, at);
  return { person: { ...person, proof: { kind: 'token', id, name, expiresAt } }, cookies: [] };
}

const setCookies = (response: Response, cookies: Cookies): void =>
  cookies.forEach((cookie) => response.append('Set-Cookie', cookie));

/**
 * Reads a request, checks its origin, person, role, query, body and limits, calls the endpoint and writes its response.
 */
export const serve =
  <O extends DashboardOperation & { readonly id: DashboardOperationId }>(
    operation: O,
    handle: Handler<O>,
    dependencies: ServingDependencies,
  ) =>
  async (request: Request, response: Response): Promise<void> => {
    response.locals['route'] = `/api${operation.path}`;
    const { limits, streams } = dependencies;
    const admission: Admission<O['access']> = operation;
    // Before anything is judged: who holds a body back may lose the session or the role until it is there.
    const bytes = operation.body === undefined ? null : await readBytes(request, response);
    const admitted = await admit(request, response, admission, dependencies);
    const { client, person, account } = admitted;
    const livemode = operation.path.includes('/{mode}/') ? isLive(paramOf(request, 'mode')) : undefined;
    const query = operation.query === undefined ? undefined : readQuery(request, operation.query);
    const body = operation.body && bytes ? jsonBody(request, bytes, operation.body) : undefined;
    const ending = new AbortController();
    const act = async () => {
      await limits.admit(operation.id, {
        address: addressGroup(client.address),
        groups: sharingGroups(client.address),
        email: emailOf(body),
        userId: person?.userId,
        accountId: account?.id,
      });
      return handle({
        ...admitted,
        // The operation says which of these there are; Call has the types.
        body: body as BodyOf<O>,
        query: query as QueryOf<O>,
        livemode: livemode as LivemodeOf<O>,
        signal: ending.signal as SignalOf<O>,
        param: (name) => paramOf(request, name),
        setCookies: (cookies) => setCookies(response, cookies),
      });
    };
    const result = await (operation.access === 'anyone' ? limits.inTurn('anyone', request.ip, act) : act());
    const type = operation.method === 'get' ? operation.type : undefined;
    if (type === undefined) write(response, operation.status, JSON.stringify(result));
    else if (type === 'text/csv') await writeCsv(response, operation.path, result as AsyncIterable<string>);
    else
      await writeStream(request, response, {
        // A stream is of an account.
        access: operation.access as Streaming['access'],
        admitted: admitted as Streaming['admitted'],
        ending,
        parts: result as AsyncIterable<string>,
        streams,
      });
  };

/** The most that a file takes, also if its client reads slowly: what it holds is free then. */
const FILE_MS = 60_000;

/** Writes a file for spreadsheets, as fast as the client reads it. */
async function writeCsv(response: Response, path: string, parts: AsyncIterable<string>): Promise<void> {
  const iterator = parts[Symbol.asyncIterator]();
  try {
    // A file that cannot begin is an error, not a file that breaks off.
    const first = await iterator.next();
    // The client may have disconnected meanwhile.
    if (response.destroyed) return;
    response.writeHead(200, {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${path.split('/').at(-1)}"`,
    });
    const rest = { [Symbol.asyncIterator]: () => iterator };
    const whole = async function* (): AsyncIterable<string> {
      if (first.done !== true) yield first.value;
      yield* rest;
    };
    await pipeline(Readable.from(whole()), response, { signal: AbortSignal.timeout(FILE_MS) });
  } finally {
    await iterator.return?.();
  }
}

/** Writes server-sent events for as long as the client is there and may have them. */
async function writeStream(
  { method }: Request,
  response: Response,
  { access, admitted: { account, client, person }, ending, parts, streams }: Streaming,
): Promise<void> {
  // The client may have disconnected meanwhile.
  if (response.destroyed) return;
  const follower = { account, client, person };
  const release = streams.take(follower);
  response.once('close', () => {
    release();
    ending.abort();
  });
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
  });
  if (method === 'HEAD') {
    response.end();
    return;
  }
  response.flushHeaders();
  streams.endWith(follower, access, response, ending);
  await writeParts(parts, response, ending.signal);
}

interface Streaming {
  readonly access: Exclude<Access, string>;
  readonly admitted: Pick<Admitted<Exclude<Access, string>>, 'account' | 'client' | 'person'>;
  readonly ending: AbortController;
  readonly parts: AsyncIterable<string>;
  readonly streams: Streams;
}

/** @throws DashboardError `account.not_found` or `role.insufficient` */
async function accountOf(
  request: Request,
  access: Access,
  person: SignedIn | undefined,
  database: Database,
): Promise<MemberAccount | undefined> {
  if (typeof access === 'string' || person === undefined) return undefined;
  const account = await memberAccount(database, { accountId: paramOf(request, 'accountId'), userId: person.userId });
  if (!account) throw new DashboardError('account.not_found');
  if (!access.includes(account.role)) throw new DashboardError('role.insufficient', { details: { roles: access } });
  return account;
}

/** @throws DashboardError `route.not_found` */
function isLive(mode: string): boolean {
  if (mode !== 'live' && mode !== 'test') throw new DashboardError('route.not_found');
  return mode === 'live';
}

/** Postgres would refuse U+0000 and lone surrogates: no id has them, so the text then names nothing. */
function paramOf({ params }: Request, name: string): string {
  const value = params[name];
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0') ? value : '';
}

function emailOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('email' in body)) return undefined;
  return typeof body.email === 'string' ? body.email : undefined;
}
