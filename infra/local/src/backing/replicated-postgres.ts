import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePorts, startTcpProxy, type TcpProxy, until } from '@pf/testing';
import pg from 'pg';
import { type KillableProcess, killableProcess } from '../processes/killable-process.ts';
import { type Reaper, startReaper } from '../processes/reaper.ts';
import { type PostgresNode, postgresNode } from './postgres-node.ts';

const REPLICATED = {
  wal_level: 'replica',
  max_wal_senders: '4',
  // A standby that was held back finds the log that it has not read yet.
  wal_keep_size: '512MB',
  // A standby finds out soon that its primary is back.
  wal_receiver_timeout: '5s',
  wal_retrieve_retry_interval: '500ms',
};
/** What belongs to one server and is not copied to another. */
const NOT_COPIED = new Set(['postmaster.pid', 'postmaster.opts', 'pg_wal', 'pg_replslot', 'pg_stat_tmp']);

interface Server {
  readonly node: PostgresNode;
  readonly process: KillableProcess;
  readonly port: number;
}

/** A copy of a server's files. */
export type PostgresBackup = Pick<Server, 'node' | 'process' | 'port'>;

/** A Postgres of a test or tool, with standbys that stream from it and can take its place. */
export interface ReplicatedPostgres {
  /** Leads to the primary, whichever that is: what a managed service's endpoint is to its clients. */
  readonly url: string;
  /** The way to the primary, which can be cut or frozen. */
  readonly way: TcpProxy;
  /** The primary's process. */
  readonly primary: KillableProcess;
  /** Copies the running primary and starts a standby that follows it. Resolves when it streams. */
  addStandby(): Promise<void>;
  /** From now on the standby gets nothing: it will be a moment behind. */
  holdBack(): void;
  /** Kills the primary, promotes the standby as it is, and lets the URL lead to it. */
  failOver(): Promise<void>;
  /** Copies the running primary: a backup with all that is committed now. */
  backUp(): Promise<PostgresBackup>;
  /** Kills the primary, starts a server on the backup, and lets the URL lead to it. A backup is restored once. */
  restore(backup: PostgresBackup): Promise<void>;
  close(): Promise<void>;
}

/** @param folder gets its data and logs */
export async function startReplicatedPostgres(folder: string): Promise<ReplicatedPostgres> {
  await mkdir(folder, { recursive: true });
  const reaper = startReaper();
  const ports = freePorts(1);
  let primary = await server(folder, 'primary', (await ports)[0] ?? 0, reaper);
  await primary.process.start();
  const way = await startTcpProxy(`127.0.0.1:${primary.port}`);
  let standby: (Server & { readonly stream: TcpProxy }) | null = null;
  let made = 0;

  const asAdministrator = async <T>(of: Server, work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: await of.node.url('postgres') });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };

  /** Copies the primary's files as they change, and what makes the copy consistent. @returns the copy, not started */
  const copyPrimary = async (name: string): Promise<Server> => {
    const [port = 0] = await freePorts(1);
    const copy = await server(folder, name, port, reaper);
    await asAdministrator(primary, async (client) => {
      // The base backup of pg_basebackup, which the package from npm lacks: the label tells the copy from where the log
      // makes the files consistent (https://www.postgresql.org/docs/18/continuous-archiving.html).
      await client.query("SELECT pg_backup_start('copy', true)");
      await copyFolder(primary.node, copy.node, '');
      const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
      await place(copy.node, 'backup_label', rows[0]?.labelfile ?? '');
    });
    for (const empty of ['pg_wal', 'pg_replslot']) await makeFolder(copy.node, empty);
    return copy;
  };

  const address = new URL(await primary.node.url());
  return {
    url: Object.assign(address, { host: way.address }).href,
    way,
    get primary() {
      return primary.process;
    },
    async addStandby() {
      if (standby) throw new Error('There is a standby already.');
      const next = await copyPrimary(`standby-${(made += 1)}`);
      const stream = await startTcpProxy(`127.0.0.1:${primary.port}`);
      const { password, host } = Object.assign(new URL(await primary.node.url()), { host: stream.address });
      const [hostname, streamPort] = host.split(':');
      await place(next.node, 'standby.signal', '');
      await place(
        next.node,
        'postgresql.auto.conf',
        `primary_conninfo = 'host=${hostname} port=${streamPort} user=postgres password=${password}'\n`,
      );
      await next.process.start();
      standby = { ...next, stream };
      await until('the standby to stream', () =>
        asAdministrator(next, async (client) => {
          const { rows } = await client.query("SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming'");
          return rows.length === 1;
        }),
      );
    },
    holdBack: () => standby?.stream.freeze(),
    async failOver() {
      if (!standby) throw new Error('There is no standby to fail over to.');
      const [former, next] = [primary, standby];
      standby = null;
      // Fenced first: two primaries would be two truths.
      await former.process.kill();
      await next.stream.close();
      await asAdministrator(next, (client) => client.query('SELECT pg_promote(true, 60)'));
      primary = next;
      await way.lead(`127.0.0.1:${next.port}`);
      await rm(former.node.data, { recursive: true, force: true });
    },
    async backUp() {
      const copy = await copyPrimary(`backup-${(made += 1)}`);
      // The log up to the end of the copy, which a standby would be sent.
      await copyFolder(primary.node, copy.node, 'pg_wal');
      return copy;
    },
    async restore(backup) {
      const former = primary;
      await former.process.kill();
      await backup.process.start();
      primary = backup;
      await way.lead(`127.0.0.1:${backup.port}`);
      await rm(former.node.data, { recursive: true, force: true });
    },
    async close() {
      await way.close();
      await standby?.stream.close();
      await Promise.all([primary.process.kill(), standby?.process.kill()]);
      reaper.close();
    },
  };
}

async function server(folder: string, name: string, port: number, reaper: Reaper): Promise<Server> {
  const node = await postgresNode({ folder, name, port, settings: REPLICATED });
  const process = killableProcess({
    label: `Postgres ${name}`,
    log: path.join(folder, `${name}.log`),
    reaper,
    prepare: () => node.prepare(),
    command: () => node.command(),
    ready: () => node.ready(),
  });
  return { node, process, port };
}

async function makeFolder({ data, own }: PostgresNode, name: string): Promise<void> {
  const folder = path.join(data, name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await own(folder);
}

async function place({ data, own }: PostgresNode, name: string, text: string): Promise<void> {
  const file = path.join(data, name);
  await writeFile(file, text, { mode: 0o600 });
  await own(file);
}

/** Copies the files of a running server; those that vanish meanwhile are in the log that follows. */
async function copyFolder(from: PostgresNode, to: PostgresNode, folder: string): Promise<void> {
  await makeFolder(to, folder);
  for (const entry of await readdir(path.join(from.data, folder), { withFileTypes: true })) {
    const name = path.join(folder, entry.name);
    if (NOT_COPIED.has(name)) continue;
    if (entry.isDirectory()) await copyFolder(from, to, name);
    else {
      await copyFile(path.join(from.data, name), path.join(to.data, name)).then(
        () => to.own(path.join(to.data, name)),
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error;
        },
      );
    }
  }
}
