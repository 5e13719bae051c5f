import { z } from 'zod';
import { moment } from '../api/fields.ts';
import { TOKEN_DAYS, TOKENS_MAX } from './limits.ts';
import { name } from './names.ts';
import type { DashboardOperation } from './operation.ts';

const time = z.iso.datetime({ precision: 3 });
export const token = z.strictObject({
  id: z.string(),
  /** Its prefix and last four characters. */
  hint: z.string(),
  name: z.string(),
  status: z.enum(['active', 'expired', 'revoked']),
  createdAt: time,
  expiresAt: time,
  lastUsedAt: time.nullable(),
  revokedAt: time.nullable(),
});

export const TOKEN_OPERATIONS = {
  listTokens: {
    id: 'listTokens',
    method: 'get',
    path: '/tokens',
    tag: 'Tokens',
    summary: 'List your personal tokens',
    description:
      'Returns the active tokens, then the newest 50 of the others; each newest first. `lastUsedAt` is accurate to a ' +
      'minute.',
    access: 'signed-in',
    sessionOnly: true,
    status: 200,
    response: z.strictObject({ tokens: z.array(token) }),
    errors: [],
  },
  createToken: {
    id: 'createToken',
    method: 'post',
    action: 'token.created',
    path: '/tokens',
    tag: 'Tokens',
    summary: 'Create a personal token',
    description:
      'Returns the token as `secret`, which is not shown again. It allows what the person may do at the time of each ' +
      'request, in all their accounts, except to change passwords, second factors, passkeys, sessions and tokens. It ' +
      `is refused from \`expiresAt\` on: by default after ${TOKEN_DAYS.usual} days, at most after ${TOKEN_DAYS.max}. ` +
      `A person has at most ${TOKENS_MAX} active tokens. A new password revokes all of them.`,
    access: 'signed-in',
    sessionOnly: true,
    body: z.strictObject({ name: name(100), expiresAt: moment.optional() }),
    status: 201,
    response: z.strictObject({ token, secret: z.string() }),
    errors: ['limit.reached'],
  },
  revokeToken: {
    id: 'revokeToken',
    method: 'delete',
    action: 'token.revoked',
    path: '/tokens/{tokenId}',
    tag: 'Tokens',
    summary: 'Revoke one of your personal tokens',
    description:
      'The token is refused immediately, and its streams end within 30 seconds. Revoking it again changes nothing.',
    access: 'signed-in',
    sessionOnly: true,
    status: 200,
    response: z.strictObject({ token }),
    errors: ['token.not_found'],
  },
} as const satisfies Readonly<Record<string, DashboardOperation>>;
