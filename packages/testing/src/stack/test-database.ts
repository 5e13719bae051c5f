import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { DATABASE_ROLES, type DatabaseRole, grantRights, migrate, ROLE_DEFINITIONS } from '@pf/database';
import pg from 'pg';
import { until } from '../until.ts';
import { openRoleLogins, roleUrls } from './role-logins.ts';

const DATABASE = path.join(import.meta.dirname, '../../../database');
/** Of the processes that want to make the template, one does. */
const ADVISORY_LOCK = 72707370;
/** How long another process may take to make the template. */
const TEMPLATE_WITHIN_MS = 120_000;

/** A database for one test, with all tables, and what each role may do. */
export interface TestDatabase {
  readonly name: string;
  /** Of the owner. */
  readonly url: string;
  /** Of each role; null if this user may not manage roles. */
  readonly logins: Readonly<Record<DatabaseRole, string>> | null;
  /** Breaks the connections that are left, and drops it. */
  readonly drop: () => Promise<void>;
}

/** @param administratorUrl of a user who may create databases */
export async function createTestDatabase(administratorUrl: string): Promise<TestDatabase> {
  /** On a connection of its own: a test may have restarted the server. */
  const asAdministrator = async <T>(work: (admin: pg.Client) => Promise<T>): Promise<T> => {
    const admin = new pg.Client({ connectionString: administratorUrl });
    await admin.connect();
    return await work(admin).finally(() => admin.end());
  };
  const name = `pf_test_${randomBytes(6).toString('hex')}`;
  const url = urlOf(administratorUrl, name);
  const canLogIn = await asAdministrator(async (admin) => {
    const template = await readyTemplate(admin, administratorUrl);
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
    await copySettings(admin, template, name);
    const { rowCount } = await admin.query('SELECT FROM pg_roles WHERE rolname = ANY($1) AND rolcanlogin', [
      DATABASE_ROLES,
    ]);
    return rowCount === DATABASE_ROLES.length;
  });
  return {
    name,
    url,
    logins: canLogIn ? roleUrls(url) : null,
    drop: () => asAdministrator(async (admin) => void (await admin.query(`DROP DATABASE ${name} WITH (FORCE)`))),
  };
}

const urlOf = (url: string, database: string): string => Object.assign(new URL(url), { pathname: `/${database}` }).href;

/**
 * A server migrates once and copies the result for each test: a copy takes a tenth of the time.
 * @returns the name of the database to copy, made if the server has none for these migrations and rights
 */
async function readyTemplate(admin: pg.Client, administratorUrl: string): Promise<string> {
  const name = `pf_template_${await fingerprint()}`;
  const exists = async (): Promise<boolean> =>
    (await admin.query('SELECT FROM pg_database WHERE datname = $1 AND datistemplate', [name])).rowCount === 1;
  const lock = async (): Promise<boolean> =>
    (await admin.query<{ ours: boolean }>('SELECT pg_try_advisory_lock($1) AS ours', [ADVISORY_LOCK])).rows[0]?.ours ??
    false;
  await until('the template of the databases', async () => (await exists()) || (await lock()), TEMPLATE_WITHIN_MS);
  if (await exists()) return name;
  // What a killed process has left is no template yet.
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${name}`);
  const url = urlOf(administratorUrl, name);
  await migrate(url);
  await grantRights(url);
  await openRoleLogins(url);
  // A database with a connection cannot be copied.
  await admin.query(`ALTER DATABASE ${name} WITH IS_TEMPLATE true ALLOW_CONNECTIONS false`);
  return name;
}

/** Changes with everything that decides what a template holds. */
async function fingerprint(): Promise<string> {
  const migrations = path.join(DATABASE, 'prisma/migrations');
  const entries = await readdir(migrations, { recursive: true, withFileTypes: true });
  const files = [
    ...entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name)),
    ...['migrate.ts', 'roles.ts'].map((file) => path.join(DATABASE, 'src/postgres', file)),
  ].sort();
  const hash = createHash('sha256').update(JSON.stringify(ROLE_DEFINITIONS));
  for (const file of files) hash.update(path.relative(DATABASE, file)).update(await readFile(file));
  return hash.digest('hex').slice(0, 12);
}

/** Gives a database the rights on itself and the settings of roles in it that another has: a copy has neither. */
async function copySettings(admin: pg.Client, from: string, to: string): Promise<void> {
  const { rows } = await admin.query<{ statement: string }>(
    `SELECT format('GRANT %s ON DATABASE %I TO %s', privilege_type, $2::text,
                   CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END) AS statement
       FROM pg_database, aclexplode(datacl) WHERE datname = $1
     UNION ALL
     SELECT format('ALTER ROLE %I IN DATABASE %I SET %s = %L', rolname, $2::text, split_part(setting, '=', 1),
                   substr(setting, strpos(setting, '=') + 1))
       FROM pg_db_role_setting JOIN pg_database d ON d.oid = setdatabase JOIN pg_roles r ON r.oid = setrole,
            unnest(setconfig) AS setting
      WHERE datname = $1`,
    [from, to],
  );
  const statements = [`REVOKE ALL ON DATABASE ${to} FROM PUBLIC`, ...rows.map(({ statement }) => statement)];
  await admin.query(statements.join('; '));
}
