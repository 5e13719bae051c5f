import { DASHBOARD_ERRORS } from '@pf/contracts/dashboard';
import { USER_AGENT } from '@pf/runtime';
import { z } from 'zod';
import { CliError } from '../cli-error.ts';

const TIMEOUT_MS = 30_000;

const failure = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    details: z.record(z.string(), z.unknown()).nullable().catch(null),
  }),
});

/** Whose token it is. Newer dashboards may say more. */
const session = z.object({
  user: z.object({ id: z.string(), name: z.string(), email: z.string() }),
  memberships: z.array(z.object({ accountId: z.string(), name: z.string(), role: z.string() })),
  token: z.object({ id: z.string(), name: z.string(), expiresAt: z.string() }).nullable(),
});
export type Whoami = z.output<typeof session>;

/** The dashboard of a deployment, by its API. What it refuses is a CliError with its `code` and `status`. */
export class Dashboard {
  /** Its origin. */
  readonly url: string;
  readonly #token: string | null;

  constructor(url: string, token: string | null = null) {
    this.url = url;
    this.#token = token;
  }

  /**
   * Makes a request.
   * @param path relative to `/api`
   * @param expected what the response must hold
   */
  async ask<Schema extends z.ZodType>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    expected: Schema,
    body?: object,
  ): Promise<z.output<Schema>> {
    let status: number;
    let text: string;
    try {
      const response = await fetch(`${this.url}/api${path}`, {
        method,
        headers: {
          accept: 'application/json',
          'user-agent': `${USER_AGENT} pf`,
          ...(this.#token !== null && { authorization: `Bearer ${this.#token}` }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        // The token is for this origin.
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      status = response.status;
      text = await response.text();
    } catch (cause) {
      throw new CliError(`The dashboard at ${this.url} does not respond. Check the URL and the network.`, { cause });
    }
    const received = parsed(text);
    const answer = expected.safeParse(received);
    if (status < 300 && answer.success) return answer.data;
    throw this.#refusal(status, failure.safeParse(received).data?.error);
  }

  whoami(): Promise<Whoami> {
    return this.ask('GET', '/session', session);
  }

  #refusal(status: number, error: z.output<typeof failure>['error'] | undefined): CliError {
    if (!error)
      return new CliError(
        `${this.url} responded with ${status}, but not like a dashboard of this service. Check the URL.`,
        {
          facts: { status },
        },
      );
    const { code, message, details } = error;
    const facts = { code, status, details };
    if (code === 'token.invalid')
      return new CliError(`Your login at ${this.url} has ended. Log in again with \`pf login ${this.url}\`.`, {
        facts,
      });
    return new CliError([message, remedyOf(code)].filter((line) => line !== '').join('\n'), { facts });
  }
}

/** What to do about an error of the dashboard; empty if it is not known. */
export const remedyOf = (code: string): string =>
  Object.entries(DASHBOARD_ERRORS).find(([known]) => known === code)?.[1].remedy ?? '';

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not a dashboard of ours: the refusal says so.
    return null;
  }
}
