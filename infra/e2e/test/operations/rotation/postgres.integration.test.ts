import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, openDatabase } from '@pf/database';
import { type KillableProcess, killableProcess } from '@pf/local/killable-process';
import { type PostgresNode, postgresNode } from '@pf/local/postgres-node';
import { type Reaper, startReaper } from '@pf/local/reaper';
import { freePorts, imageProgram, openRoleLogins, until } from '@pf/testing';
import { writeAuthorities } from './authorities.ts';
import { Client } from './client.ts';

/** As in docs/operations/databases.md. */
const verified = (url: string): string => `${url}?sslmode=verify-full`;

describe('Postgres with TLS by a private authority', () => {
  let folder: string;
  let reaper: Reaper;
  let node: PostgresNode;
  let server: KillableProcess;
  let administrator: Database;
  const clients: Client[] = [];

  const file = (name: string): string => path.join(folder, name);
  const clientWith = (authorities: string): Client => {
    const client = new Client(file(authorities));
    clients.push(client);
    return client;
  };
  /** Puts the certificate where the server reads it when it starts, and when it reloads its settings. */
  async function place(authority: 'old' | 'new'): Promise<void> {
    for (const kind of ['crt', 'key']) {
      await copyFile(file(`${authority}.${kind}`), file(`server.${kind}`));
      await node.own(file(`server.${kind}`));
    }
  }
  const environment = (url: string, authorities: string): Record<string, string | undefined> => ({
    PATH: process.env['PATH'],
    DATABASE_URL: url,
    NODE_EXTRA_CA_CERTS: file(authorities),
  });
  const migrate = (url: string, authorities: string): Promise<{ readonly stdout: string }> =>
    promisify(execFile)(process.execPath, [imageProgram(), 'migrate'], { env: environment(url, authorities) });

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-postgres-tls-'));
    await writeAuthorities(folder);
    const [port = 0] = await freePorts(1);
    node = await postgresNode({
      folder,
      name: 'postgres',
      port,
      settings: { ssl: 'on', ssl_cert_file: file('server.crt'), ssl_key_file: file('server.key') },
    });
    await place('old');
    reaper = startReaper();
    server = killableProcess({
      label: 'Postgres',
      log: file('postgres.log'),
      reaper,
      prepare: () => node.prepare(),
      command: () => node.command(),
      ready: () => node.ready(),
    });
    await server.start();
    administrator = openDatabase({ url: await node.url(), applicationName: 'test' });
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await administrator.close();
    await server.kill('SIGQUIT');
    reaper.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('refuses migrate a server of another authority, and lets it migrate one of its own', async () => {
    const url = verified(await node.url());
    await expect(migrate(url, 'new-ca.crt')).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining('unable to verify the first certificate'),
    });
    const { stdout } = await migrate(url, 'old-ca.crt');
    expect(stdout).toContain('all pending migrations were applied');
  });

  it.each([
    { authorities: 'old-ca.crt', answer: { status: 'ok' }, connections: [{ ssl: true }] },
    // Not ready, but not ended either: the authority may be the next one.
    { authorities: 'new-ca.crt', answer: { status: 'starting', waits_for: ['database'] }, connections: [] },
  ])('makes a service that trusts $authorities answer $answer', async ({ authorities, answer, connections }) => {
    const logins = await openRoleLogins(await node.url());
    const [port = 0, healthPort = 0] = await freePorts(2);
    const service = spawn(process.execPath, [imageProgram(), 'checkout'], {
      env: {
        ...environment(verified(logins?.pf_checkout ?? ''), authorities),
        CHECKOUT_PORT: String(port),
        HEALTH_PORT: String(healthPort),
        CHECKOUT_URL: `http://127.0.0.1:${port}`,
        GATEWAY_URL: 'http://127.0.0.1:9',
      },
      stdio: 'ignore',
    });
    const ended = once(service, 'exit');
    try {
      await until('the answer', async () => {
        const readiness = await fetch(`http://127.0.0.1:${healthPort}/readyz`);
        expect(await readiness.json()).toMatchObject(answer);
        return true;
      });
      const { rows } = await administrator.sql.query(
        "SELECT DISTINCT ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE application_name = 'checkout'",
      );
      expect(rows).toEqual(connections);
    } finally {
      service.kill('SIGKILL');
      await ended;
    }
  });

  it('changes its authority while a client that trusts both goes on', async () => {
    const url = verified(await node.url());
    const [both, onlyOld] = [clientWith('both-ca.crt'), clientWith('old-ca.crt')];
    await onlyOld.connect(url);
    const failures = await both.failuresDuring(url, async () => {
      await place('new');
      await administrator.sql.query('SELECT pg_reload_conf()');
      await clientWith('new-ca.crt').connect(url);
    });
    expect(failures).toEqual([]);
    // The certificate is another one: who trusts the former authority alone gets no new connection.
    expect(await onlyOld.attempt(url)).toEqual({
      kept: 'works',
      fresh: expect.stringContaining('unable to verify the first certificate'),
    });
  });

  it('connects in plain text without sslmode', async () => {
    const client = clientWith('both-ca.crt');
    expect(await client.attempt(await node.url())).toEqual({ kept: 'is not encrypted', fresh: 'is not encrypted' });
  });
});
