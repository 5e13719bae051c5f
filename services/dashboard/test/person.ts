import { createHmac, randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { newAccountId, newUserId, type Operation, OPERATIONS } from '@pf/contracts';
import {
  DASHBOARD_ERRORS,
  DASHBOARD_OPERATIONS,
  dashboardError,
  dashboardErrorsOf,
  type DashboardOperation,
  type DashboardOperationId,
  type PaymentOperationId,
  type Role,
} from '@pf/contracts/dashboard';
import type { Database } from '@pf/database';
import { hashPassword } from 'better-auth/crypto';
import { z } from 'zod';

type Operations = typeof DASHBOARD_OPERATIONS;
type BodyOf<Id extends DashboardOperationId> = z.output<Operations[Id]['response']>;
type Failure = z.output<typeof dashboardError>['error'];

export interface Answer<Body = unknown> {
  readonly status: number;
  /** Of the error; null if it succeeded. */
  readonly code: string | null;
  readonly error: Failure | null;
  /** Only if it succeeded. */
  readonly body: Body;
  /** The Set-Cookie headers. */
  readonly cookies: readonly string[];
}

export interface Asked {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request of the payment API. */
export interface Payment extends Asked {
  readonly accountId: string;
  /** Default: test. */
  readonly mode?: 'test' | 'live';
}

export interface PaymentAnswer {
  readonly status: number;
  /** Of the error; null if it succeeded. */
  readonly code: string | null;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

const failure = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    param: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).nullable(),
  }),
});

/**
 * A browser: it has cookies, and sends them back. With a personal token, a program. Every response must be as its
 * operation documents it.
 */
export class Person {
  /** Of the dashboard. */
  readonly url: string;
  readonly #token: string | null;
  readonly cookies = new Map<string, string>();

  constructor(url: string, token: string | null = null) {
    this.url = url;
    this.#token = token;
  }

  async ask<Id extends DashboardOperationId>(
    id: Id,
    { params = {}, query = {}, body, headers = {} }: Asked = {},
  ): Promise<Answer<BodyOf<Id>>> {
    const operation: DashboardOperation = DASHBOARD_OPERATIONS[id];
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) =>
      encodeURIComponent(params[name] ?? `no-${name}`),
    );
    const search = new URLSearchParams(query).toString();
    const response = await fetch(`${this.url}/api${path}${search && `?${search}`}`, {
      method: operation.method.toUpperCase(),
      headers: {
        ...this.headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const cookies = response.headers.getSetCookie();
    for (const cookie of cookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '' || /max-age=0/i.test(cookie)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const { status } = response;
    const [type] = response.headers.get('content-type')?.split(';') ?? [];
    const answer = await bodyOf(response, type);
    if (status < 300) {
      const wanted = (operation.method === 'get' ? operation.type : undefined) ?? 'application/json';
      expect([id, status, type]).toEqual([id, operation.status, wanted]);
      return { status, code: null, error: null, body: operation.response.parse(answer) as BodyOf<Id>, cookies };
    }
    const { error } = dashboardError.parse(answer);
    expect(dashboardErrorsOf(operation)).toContain(error.code);
    expect([id, status]).toEqual([id, DASHBOARD_ERRORS[error.code].status]);
    return { status, code: error.code, error, body: undefined as never, cookies };
  }

  /** Makes a request of the payment API. A success must be as its operation documents it. */
  async pay(
    id: PaymentOperationId,
    { accountId, mode = 'test', params = {}, query = {}, body, headers = {} }: Payment,
  ): Promise<PaymentAnswer> {
    const operation: Operation = OPERATIONS[id];
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => params[name] ?? `no-${name}`);
    const search = new URLSearchParams(query).toString();
    const response = await fetch(`${this.paymentsUrl(accountId, mode)}${path}${search === '' ? '' : `?${search}`}`, {
      method: operation.method.toUpperCase(),
      headers: {
        ...this.headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const { status } = response;
    const answer: unknown = await response.json();
    if (status < 300) operation.responses[status as 200 | 201]?.content['application/json']?.parse(answer);
    const code = status < 300 ? null : failure.parse(answer).error.code;
    return { status, code, headers: response.headers, body: answer as Readonly<Record<string, unknown>> };
  }

  paymentsUrl(accountId: string, mode: 'test' | 'live' = 'test'): string {
    return `${this.url}/api/accounts/${accountId}/${mode}/v1`;
  }

  /** What a browser, or the program, sends with every request. */
  get headers(): Readonly<Record<string, string>> {
    if (this.#token !== null) return { authorization: `Bearer ${this.#token}` };
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return { origin: this.url, cookie };
  }

  /** Signs in, and must succeed. */
  async signIn(email: string, password: string): Promise<this> {
    const answer = await this.ask('signIn', { body: { email, password } });
    expect(answer).toMatchObject({ status: 200, body: { next: 'signed_in' } });
    return this;
  }
}

/** Of a stream nothing: it has no end. */
async function bodyOf(response: Response, type: string | undefined): Promise<unknown> {
  if (type === 'application/json') return response.json();
  if (type !== 'text/event-stream') return response.text();
  await response.body?.cancel();
  return '';
}

export const PASSWORD = 'correct horse battery staple';
let passwordHash: Promise<string> | undefined;

/** An account without members. @returns its id */
export const emptyAccount = async ({ prisma }: Database, name: string): Promise<string> =>
  (await prisma.account.create({ data: { id: newAccountId(), name } })).id;

/** A person with the password of all of them, who has signed in and has a role in an account. */
export async function memberOf(
  { prisma }: Database,
  url: string,
  { name, accountId, role }: { readonly name: string; readonly accountId: string; readonly role: Role },
): Promise<Person> {
  const email = `${name}@shop.example`;
  const id = newUserId();
  const password = await (passwordHash ??= hashPassword(PASSWORD));
  await prisma.user.create({
    data: {
      id,
      name,
      email,
      emailVerified: true,
      credentials: { create: { id: randomUUID(), accountId: id, providerId: 'credential', password } },
      members: { create: { accountId, role } },
    },
  });
  return new Person(url).signIn(email, PASSWORD);
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code that an authenticator app shows for an otpauth:// URI (RFC 6238). */
export function codeOf(uri: string, at = Date.now()): string {
  const secret = new URL(uri).searchParams.get('secret') ?? '';
  const bits = [...secret.replace(/=+$/, '')]
    .map((digit) => BASE32.indexOf(digit).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const digest = createHmac('sha1', key).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
