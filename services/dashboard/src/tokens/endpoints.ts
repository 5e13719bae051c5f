import { TOKEN_DAYS, TOKENS_MAX } from '@pf/contracts/dashboard';
import {
  createPersonalToken,
  type Database,
  type PersonalToken,
  personalTokens,
  revokePersonalToken,
} from '@pf/database';
import { validationFailed } from '@pf/http';
import { DashboardError } from '../dashboard-error.ts';
import type { Endpoints } from '../endpoint.ts';

const DAY_MS = 86_400_000;
/** The most ended tokens that a list shows. */
const ENDED_MAX = 50;

/** The endpoints of a person's own tokens. */
export function tokenEndpoints({
  database,
  now,
}: {
  readonly database: Database;
  readonly now: () => number;
}): Endpoints<'Tokens'> {
  return {
    async listTokens({ person: { userId } }) {
      const tokens = await personalTokens(database, userId, new Date(now()), TOKENS_MAX + ENDED_MAX);
      return { tokens: tokens.map((token) => shownToken(token, now())) };
    },
    async createToken({ body: { name, expiresAt }, by, person: { userId } }) {
      const at = now();
      const expires = expiresAt === undefined ? at + TOKEN_DAYS.usual * DAY_MS : Date.parse(expiresAt);
      if (expires <= at || expires > at + TOKEN_DAYS.max * DAY_MS)
        throw validationFailed([
          { param: 'expiresAt', message: `expiresAt must be in the next ${TOKEN_DAYS.max} days` },
        ]);
      const token = { userId, name, expiresAt: new Date(expires), at: new Date(at), max: TOKENS_MAX };
      const made = await createPersonalToken(database, token, by);
      if (!made) throw tooManyTokens();
      const { token: secret, ...stored } = made;
      return { token: shownToken(stored, at), secret };
    },
    async revokeToken({ by, param, person: { userId } }) {
      const at = now();
      const token = await revokePersonalToken(database, { userId, tokenId: param('tokenId'), at: new Date(at) }, by);
      if (!token) throw new DashboardError('token.not_found');
      return { token: shownToken(token, at) };
    },
  };
}

/** The person has as many tokens as they may. */
export const tooManyTokens = (): DashboardError =>
  new DashboardError('limit.reached', {
    message: `You have ${TOKENS_MAX} personal tokens, which is the limit. Revoke one.`,
    details: { limit: 'tokens', max: TOKENS_MAX },
  });

export function shownToken({ createdAt, expiresAt, lastUsedAt, revokedAt, ...token }: PersonalToken, at: number) {
  const ended = revokedAt ? ('revoked' as const) : expiresAt.getTime() <= at ? ('expired' as const) : null;
  return {
    ...token,
    status: ended ?? ('active' as const),
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}
