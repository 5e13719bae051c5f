import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type KillableProcess, killableProcess } from '@pf/local/killable-process';
import { type Reaper, startReaper } from '@pf/local/reaper';
import { redisProgram } from '@pf/local/redis';
import { freePorts } from '@pf/testing';
import { writeAuthorities } from './authorities.ts';
import { Client } from './client.ts';

const TOOLS = path.resolve(import.meta.dirname, '../../../../../.tools');
const ADMINISTRATOR = 'administrator';

describe('The rotation of docs/operations/rotation.md, on a Redis with TLS', () => {
  let folder: string;
  let reaper: Reaper;
  let server: KillableProcess;
  let port = 0;
  let cli: (...command: readonly string[]) => Promise<string>;
  const clients: Client[] = [];

  const file = (name: string): string => path.join(folder, name);
  const urlWith = (password: string): string => `rediss://pf:${password}@127.0.0.1:${port}`;
  const clientWith = (authorities: string): Client => {
    const client = new Client(file(authorities));
    clients.push(client);
    return client;
  };

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-rotation-'));
    reaper = startReaper();
    await writeAuthorities(folder);
    const program = await redisProgram(TOOLS);
    [port = 0] = await freePorts(1);
    const run = promisify(execFile);
    cli = async (...command) => {
      const redisCli = path.join(path.dirname(program.file), 'redis-cli');
      const access = ['--tls', '--cacert', file('both-ca.crt'), '-p', String(port), '--no-auth-warning'];
      const { stdout } = await run(redisCli, [...access, ...command], {
        env: { ...process.env, ...program.env, REDISCLI_AUTH: ADMINISTRATOR },
      });
      return stdout.trim();
    };
    const settings = [
      'bind 127.0.0.1',
      'port 0',
      `tls-port ${port}`,
      'tls-auth-clients no',
      `tls-cert-file ${file('old.crt')}`,
      `tls-key-file ${file('old.key')}`,
      `dir ${folder}`,
      'save ""',
      `requirepass ${ADMINISTRATOR}`,
      'user pf on >first ~* &* +@all -@dangerous +info',
    ];
    server = killableProcess({
      label: 'Redis',
      log: file('redis.log'),
      reaper,
      prepare: () => writeFile(file('redis.conf'), settings.join('\n')),
      command: () => ({ ...program, args: [file('redis.conf')] }),
      ready: async () => (await cli('ping')) === 'PONG',
    });
    await server.start();
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await server.kill();
    reaper.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('replaces the authority while a client that trusts both continues', async () => {
    const [both, onlyOld] = [clientWith('both-ca.crt'), clientWith('old-ca.crt')];
    await onlyOld.connect(urlWith('first'));
    const failures = await both.failuresDuring(urlWith('first'), async () => {
      expect(await cli('config', 'set', 'tls-cert-file', file('new.crt'), 'tls-key-file', file('new.key'))).toBe('OK');
    });
    expect(failures).toEqual([]);
    // The certificate is another one: who trusts the former authority alone gets no new connection.
    expect(await onlyOld.attempt(urlWith('first'))).toEqual({
      kept: 'works',
      fresh: expect.stringContaining('unable to verify the first certificate'),
    });
    await clientWith('new-ca.crt').connect(urlWith('first'));
  });

  it('replaces the password while old and new pods continue', async () => {
    const former = clientWith('both-ca.crt');
    const added = await former.failuresDuring(urlWith('first'), async () => {
      expect(await cli('acl', 'setuser', 'pf', '>second')).toBe('OK');
    });
    // The new pods. The former ones serve on until these are ready.
    const next = clientWith('both-ca.crt');
    await next.connect(urlWith('second'));
    await former.connect(urlWith('first'));
    const removed = await next.failuresDuring(urlWith('second'), async () => {
      expect(await cli('acl', 'setuser', 'pf', '<first')).toBe('OK');
    });
    expect([...added, ...removed]).toEqual([]);
    expect(await former.attempt(urlWith('first'))).toEqual({
      kept: 'works',
      fresh: expect.stringContaining('WRONGPASS'),
    });
  });
});
