import type { z } from 'zod';
import { BODY_ERRORS } from '../operation.ts';
import type { AuditAction } from './audit-actions.ts';
import { DASHBOARD_ERRORS, type DashboardErrorCode } from './errors.ts';
import type { Role } from './roles.ts';

export const DASHBOARD_TAGS = {
  'Sign-in': 'Sign up, sign in and out, passwords and the second factor.',
  Passkeys: 'Sign in with a device that verifies the person, instead of password and code (WebAuthn).',
  'Single sign-on': 'Sign in at the identity provider of an organization (OpenID Connect), where one is set up.',
  Accounts: 'Accounts, their members and invitations.',
  Keys: 'The API keys with which programs of the account call the payment API.',
  Settings: 'How the account looks to those who pay, and where it is paid.',
  Tokens: 'With a personal token the programs of a person, such as `pf`, do what the person may do.',
  'Device sign-in': 'How a program gets a personal token by a code that its person approves (RFC 8628 in shape).',
  Insights: 'What the payments of an account come to, in one mode.',
  'Audit log': 'Who changed what in the account.',
} as const;

/**
 * Who may call an operation: anyone, a signed-in person, or the members of the account in the path who have one of
 * these roles.
 */
export type Access = 'anyone' | 'signed-in' | readonly [Role, ...Role[]];

/**
 * One operation of the dashboard's API. The service routes and authorizes by it, the OpenAPI document is generated from
 * it, and a test tries each with every role, without a session and from another account.
 */
export type DashboardOperation = Described & (Reading | Changing);

interface Reading {
  readonly method: 'get';
  /** The media type of the response. Default: JSON. */
  readonly type?: 'text/csv' | 'text/event-stream';
}

interface Changing {
  readonly method: 'post' | 'patch' | 'delete';
  /** The name under which the audit log records it. Null: it changes nothing of a person yet. */
  readonly action: AuditAction | null;
}

interface Described {
  readonly id: string;
  /** Relative to the base URL, parameters in braces. `{mode}` is `test` or `live`. */
  readonly path: string;
  readonly tag: keyof typeof DASHBOARD_TAGS;
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  readonly access: Access;
  /** Whether a session is needed, and a personal token is not enough. */
  readonly sessionOnly?: true;
  /** Whether it needs no `Origin`: it is for programs, and has nothing to do with cookies. */
  readonly anyOrigin?: true;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly status: 200 | 201 | 202;
  readonly response: z.ZodType;
  /** The errors specific to this operation; `dashboardErrorsOf` adds those that follow from the rest. */
  readonly errors: readonly DashboardErrorCode[];
}

const EVERYWHERE: readonly DashboardErrorCode[] = ['rate_limit.exceeded', 'internal.error', 'service.unavailable'];

/** Every error that the operation can return, in the order of the registry. */
export function dashboardErrorsOf(operation: DashboardOperation): readonly DashboardErrorCode[] {
  const { access, anyOrigin, body, errors, method, path, query, sessionOnly } = operation;
  const possible = new Set<DashboardErrorCode>([
    ...EVERYWHERE,
    ...(body === undefined ? [] : BODY_ERRORS),
    ...(query === undefined ? [] : (['request.validation_failed'] as const)),
    // Of a mode that there is not.
    ...(path.includes('/{mode}/') ? (['route.not_found'] as const) : []),
    ...(method === 'get' || anyOrigin ? [] : (['origin.foreign'] as const)),
    ...(access === 'anyone' ? [] : (['session.required', 'token.invalid'] as const)),
    ...(sessionOnly ? (['token.insufficient'] as const) : []),
    ...(Array.isArray(access) ? (['account.not_found', 'role.insufficient'] as const) : []),
    ...errors,
  ]);
  return (Object.keys(DASHBOARD_ERRORS) as DashboardErrorCode[]).filter((code) => possible.has(code));
}
