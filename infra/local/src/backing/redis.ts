import { execFile } from 'node:child_process';
import { mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { REDIS_SERVICES, redisUser } from '@pf/redis/users';
import type { Command, ProcessSpec } from '../processes/process-spec.ts';
import type { Settings } from '../stack/settings.ts';
import { ask } from '../processes/sockets.ts';

const run = promisify(execFile);

/** A server on the PATH, or the one that the bootstrap unpacked from Debian packages into `.tools/redis`. */
export async function redisProgram(tools: string): Promise<Pick<Command, 'file' | 'env'>> {
  for (const file of ['redis-server', 'valkey-server']) {
    if (
      await run(file, ['--version']).then(
        () => true,
        () => false,
      )
    )
      return { file };
  }
  const usr = path.join(tools, 'redis', 'usr');
  const file = path.join(usr, 'bin', 'redis-server');
  if (
    !(await stat(file).then(
      () => true,
      () => false,
    ))
  ) {
    throw new Error('Neither redis-server nor valkey-server is on the PATH. Install one, or set REDIS_URL.');
  }
  const libraries = (await readdir(path.join(usr, 'lib'))).filter((name) => name.includes('-linux-'));
  return { file, env: { LD_LIBRARY_PATH: libraries.map((name) => path.join(usr, 'lib', name)).join(':') } };
}

/** Who may do what there, with the password "local": it listens on the loopback interface only. */
const USERS_FILE = 'infra/docker/redis-users.acl';
const urlOf = (user: string, port: number): string => `redis://${user}:local@127.0.0.1:${port}`;

interface RedisOfStack {
  readonly spec: ProcessSpec;
  /** Of the user that may do everything: for scripts and tests. */
  readonly url: string;
  /** By service, each with its own user. */
  readonly logins: Readonly<Record<string, string>>;
}

/** Redis or Valkey, in memory only: nothing in it needs to survive a restart. */
export async function redisSpec(settings: Settings): Promise<RedisOfStack> {
  const port = settings.ports.redis;
  const folder = path.join(settings.data, 'redis');
  const program = await redisProgram(settings.tools);
  return {
    url: urlOf('admin', port),
    logins: Object.fromEntries(REDIS_SERVICES.map((service) => [service, urlOf(redisUser(service), port)])),
    spec: {
      name: 'redis',
      label: 'Redis',
      ports: ['redis'],
      stopSignal: 'SIGTERM',
      orphanSignal: 'SIGTERM',
      stopMs: 5000,
      jsonLogs: false,
      stuck: async () => false,
      prepare: async () => void (await mkdir(folder, { recursive: true })),
      command: () => ({
        ...program,
        args: [
          '--bind',
          '127.0.0.1',
          '--port',
          String(port),
          '--dir',
          folder,
          '--aclfile',
          path.join(settings.root, USERS_FILE),
          '--save',
          '',
          '--appendonly',
          'no',
          // BullMQ jobs must not be evicted.
          '--maxmemory-policy',
          'noeviction',
          '--loglevel',
          'notice',
        ],
      }),
      ready: async () => (await ask(port, Buffer.from('PING\r\n'))).toString().startsWith('+PONG'),
    },
  };
}
