import { createHmac } from 'node:crypto';
import { DATABASE_ROLES, type DatabaseRole } from '@pf/database';
import pg from 'pg';

/** SQLSTATE insufficient_privilege: this user may not manage roles. */
const REFUSED = '42501';
/** SQLSTATE internal_error: another process changes the same role. */
const CONCURRENT = 'XX000';
const MOST_TRIES = 50;

/**
 * Lets every role log in with a password, on a server for development: in production the platform's team does that. The
 * password comes from the administrator's, so that stacks and tests that share a server agree.
 *
 * @param databaseUrl of an administrator
 * @returns the URL of each role; null if this user may not manage roles: then all services share its URL
 */
export async function openRoleLogins(databaseUrl: string): Promise<Readonly<Record<DatabaseRole, string>> | null> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (const role of DATABASE_ROLES)
      if (!(await allowLogin(client, role, passwordOf(role, databaseUrl)))) return null;
    return roleUrls(databaseUrl);
  } finally {
    await client.end();
  }
}

/** The URL of each role, once `openRoleLogins` has let it log in. @param databaseUrl of an administrator */
export function roleUrls(databaseUrl: string): Readonly<Record<DatabaseRole, string>> {
  const urls = {} as Record<DatabaseRole, string>;
  for (const role of DATABASE_ROLES) {
    const password = passwordOf(role, databaseUrl);
    urls[role] = Object.assign(new URL(databaseUrl), { username: role, password }).href;
  }
  return urls;
}

const passwordOf = (role: DatabaseRole, administratorUrl: string): string =>
  createHmac('sha256', decodeURIComponent(new URL(administratorUrl).password))
    .update(role)
    .digest('base64url');

async function allowLogin(client: pg.Client, role: DatabaseRole, password: string): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query(`ALTER ROLE ${role} LOGIN PASSWORD '${password}'`);
      return true;
    } catch (error) {
      const { code } = error as pg.DatabaseError;
      if (code === REFUSED) return false;
      if (code !== CONCURRENT || tries === MOST_TRIES) throw error;
    }
  }
}
