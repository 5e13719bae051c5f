import { KEYS_MAX } from '@pf/contracts/dashboard';
import { accountKeys, type ApiKey, createAccountKey, type Database, revokeKey } from '@pf/database';
import { validationFailed } from '@pf/http';
import { DashboardError } from '../dashboard-error.ts';
import type { Endpoints } from '../endpoint.ts';

/** The most keys that a list shows. */
const LISTED_MAX = 500;

/** The endpoints of API keys. */
export function keyEndpoints({
  database,
  now,
}: {
  readonly database: Database;
  readonly now: () => number;
}): Endpoints<'Keys'> {
  return {
    async listKeys({ account }) {
      const keys = await accountKeys(database, account.id, new Date(now()), LISTED_MAX);
      return { keys: keys.map((key) => shownKey(key, now())) };
    },
    async createKey({ account, body: { name, mode, scope, expiresAt }, by }) {
      const at = new Date(now());
      const expires = typeof expiresAt === 'string' ? new Date(expiresAt) : null;
      if (expires !== null && expires.getTime() <= at.getTime())
        throw validationFailed([{ param: 'expiresAt', message: 'expiresAt must be in the future' }]);
      const livemode = mode === 'live';
      const key = { accountId: account.id, livemode, scope, name, expiresAt: expires, at };
      const made = await createAccountKey(database, { ...key, max: KEYS_MAX }, by);
      if (!made)
        throw new DashboardError('limit.reached', {
          message: `The account has ${KEYS_MAX} ${mode} keys, which is the limit. Revoke one.`,
          details: { limit: 'keys', max: KEYS_MAX },
        });
      const { key: secret, ...stored } = made;
      return { key: shownKey(stored, at.getTime()), secret };
    },
    async revokeKey({ account, by, param }) {
      const at = new Date(now());
      const key = await revokeKey(database, { accountId: account.id, keyId: param('keyId'), at }, by);
      if (!key) throw new DashboardError('key.not_found');
      return { key: shownKey(key, at.getTime()) };
    },
  };
}

const shownKey = (
  { id, hint, name, livemode, scope, createdAt, expiresAt, lastUsedAt, revokedAt }: ApiKey,
  at: number,
) => ({
  id,
  hint,
  name,
  mode: livemode ? ('live' as const) : ('test' as const),
  scope,
  status: revokedAt
    ? ('revoked' as const)
    : expiresAt && expiresAt.getTime() <= at
      ? ('expired' as const)
      : ('active' as const),
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt?.toISOString() ?? null,
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  revokedAt: revokedAt?.toISOString() ?? null,
});
