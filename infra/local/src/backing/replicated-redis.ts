import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePorts, until } from '@pf/testing';
import { redisProgram } from './redis.ts';
import { type KillableProcess, killableProcess } from '../processes/killable-process.ts';
import type { Command } from '../processes/process-spec.ts';
import { type Reaper, startReaper } from '../processes/reaper.ts';
import { ask } from '../processes/sockets.ts';

const run = promisify(execFile);

const TOOLS = path.resolve(import.meta.dirname, '../../../../.tools');
const NAME = 'primary';
const SENTINELS = 3;
const CLUSTER_PRIMARIES = 3;
/** A node that is silent for so long is unavailable, in milliseconds. */
const NODE_TIMEOUT_MS = 1_000;
/** The user of the services. `default` is the nodes' own. */
const USER = 'pf';
const PASSWORD = 'p:f@secret';
const SENTINEL_PASSWORD = 'sentinel-secret';
const LOGIN = `${USER}:${encodeURIComponent(PASSWORD)}`;

/** Redis of a test, whose primaries have replicas that take their place. */
export interface ReplicatedRedis {
  /** As REDIS_URL. */
  readonly url: string;
  /** Kills the primary, in a cluster the first of them. Resolves when a replica has taken its place. */
  failOver(): Promise<void>;
  close(): Promise<void>;
}

interface Node {
  readonly port: number;
  readonly process: KillableProcess;
  /** Sends a command, and returns the reply as `redis-cli` writes it. */
  readonly cli: (...command: readonly string[]) => Promise<string>;
}

/** A primary with a replica, watched by three sentinels. @param folder gets their data and logs */
export async function startSentinels(folder: string): Promise<ReplicatedRedis> {
  const { start, close } = await nodes(folder);
  const [primaryPort = 0, replicaPort = 0, ...sentinelPorts] = await freePorts(2 + SENTINELS);
  try {
    const primary = await start(primaryPort, []);
    await start(replicaPort, [`replicaof 127.0.0.1 ${primaryPort}`]);
    const sentinels = await Promise.all(
      sentinelPorts.map((port) =>
        start(port, [
          `sentinel monitor ${NAME} 127.0.0.1 ${primaryPort} 2`,
          `sentinel auth-pass ${NAME} ${PASSWORD}`,
          `sentinel down-after-milliseconds ${NAME} ${NODE_TIMEOUT_MS}`,
          `sentinel failover-timeout ${NAME} 10000`,
          `sentinel sentinel-pass ${SENTINEL_PASSWORD}`,
        ]),
      ),
    );
    await until('every sentinel to know the others and the replica', async () => {
      const known = await Promise.all(sentinels.map(({ cli }) => cli('info', 'sentinel')));
      return known.every((text) => text.includes(`status=ok,address=127.0.0.1:${primaryPort},slaves=1,sentinels=3`));
    });
    const [first] = sentinels;
    const hosts = sentinelPorts.map((port) => `127.0.0.1:${port}`).join(',');
    return {
      url: `redis+sentinel://${LOGIN}@${hosts}/${NAME}?sentinelPassword=${SENTINEL_PASSWORD}`,
      async failOver() {
        await primary.process.kill();
        await until('the replica to be promoted', async () =>
          (await first?.cli('sentinel', 'get-master-addr-by-name', NAME))?.includes(String(replicaPort)),
        );
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Three primaries that divide the keys, the first with a replica. @param folder gets their data and logs */
export async function startRedisCluster(folder: string): Promise<ReplicatedRedis> {
  const { start, close } = await nodes(folder);
  const ports = await freePorts(CLUSTER_PRIMARIES + 1);
  // Nodes speak to each other on a port of their own: the usual one, 10000 higher, may be that of any connection.
  const buses = new Map((await freePorts(ports.length)).map((bus, place) => [ports[place] ?? 0, bus]));
  const addressOf = ({ port }: { readonly port: number }): string => `127.0.0.1:${port}@${buses.get(port)}`;
  try {
    const members = await Promise.all(
      ports.map((port) =>
        start(port, [
          'cluster-enabled yes',
          `cluster-port ${buses.get(port)}`,
          `cluster-config-file nodes-${port}.conf`,
          `cluster-node-timeout ${NODE_TIMEOUT_MS}`,
          'cluster-replica-validity-factor 0',
        ]),
      ),
    );
    const replica = members.pop();
    const [first] = members;
    if (!first || !replica) throw new RangeError('A cluster needs nodes.');
    await first.cli('--cluster', 'create', ...members.map(addressOf), '--cluster-yes');
    const id = await first.cli('cluster', 'myid');
    await replica.cli('cluster', 'meet', '127.0.0.1', String(first.port), String(buses.get(first.port)));
    await until('the replica to follow', () => replica.cli('cluster', 'replicate', id).then((reply) => reply === 'OK'));
    await until('the replica to be in step', async () =>
      (await replica.cli('info', 'replication')).includes('master_link_status:up'),
    );
    await until('every node to know all', async () => {
      const views = await Promise.all([...members, replica].map(({ cli }) => cli('cluster', 'nodes')));
      return views.every((view) => view.split('\n').length === ports.length && view.includes(`slave ${id}`));
    });
    return {
      url: `redis+cluster://${LOGIN}@${members.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
      async failOver() {
        await first.process.kill();
        await until(
          'the replica to be promoted',
          async () =>
            (await replica.cli('cluster', 'info')).includes('cluster_state:ok') &&
            (await replica.cli('role')).startsWith('master'),
        );
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function nodes(folder: string): Promise<{
  readonly start: (port: number, settings: readonly string[]) => Promise<Node>;
  readonly close: () => Promise<void>;
}> {
  await mkdir(folder, { recursive: true });
  const program = await redisProgram(TOOLS);
  const reaper = startReaper();
  const started: KillableProcess[] = [];
  return {
    start(port, settings) {
      const made = redisNode({ program, folder, reaper, port, settings });
      started.push(made.process);
      return made.process.start().then(() => made);
    },
    async close() {
      await Promise.all(started.map((node) => node.kill()));
      reaper.close();
    },
  };
}

interface NodeOptions {
  readonly program: Pick<Command, 'file' | 'env'>;
  readonly folder: string;
  readonly reaper: Reaper;
  readonly port: number;
  readonly settings: readonly string[];
}

function redisNode({ program, folder, reaper, port, settings }: NodeOptions): Node {
  const isSentinel = settings.some((line) => line.startsWith('sentinel '));
  const file = path.join(folder, `${port}.conf`);
  const password = isSentinel ? SENTINEL_PASSWORD : PASSWORD;
  const access = isSentinel
    ? [`requirepass ${SENTINEL_PASSWORD}`]
    : [
        `requirepass ${PASSWORD}`,
        `masterauth ${PASSWORD}`,
        // What docs/operations/deploy.md says that the services need.
        `user ${USER} on >${PASSWORD} ~* &* +@all -@dangerous +info +cluster|slots +cluster|shards`,
        'save ""',
      ];
  const lines = ['bind 127.0.0.1', `port ${port}`, `dir "${folder}"`, ...access, ...settings, ''];
  const cli = path.join(path.dirname(program.file), 'redis-cli');
  return {
    port,
    process: killableProcess({
      label: `Redis on port ${port}`,
      log: path.join(folder, `${port}.log`),
      reaper,
      // It writes into the file what it learns.
      prepare: () => writeFile(file, lines.join('\n'), { flag: 'a' }),
      command: () => ({ ...program, args: [file, ...(isSentinel ? ['--sentinel'] : [])] }),
      ready: async () => (await ask(port, Buffer.from('PING\r\n'))).toString().startsWith('-NOAUTH'),
    }),
    async cli(...command) {
      const { stdout } = await run(cli, ['-p', String(port), '--no-auth-warning', ...command], {
        env: { ...program.env, REDISCLI_AUTH: password },
      });
      return stdout.trim();
    },
  };
}
