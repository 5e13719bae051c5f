import 'reflect-metadata';
import { type ChildProcess, execFile, fork } from 'node:child_process';
import type { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as x509 from '@peculiar/x509';
import { type KillableProcess, killableProcess } from '@pf/local/killable-process';
import { type Reaper, startReaper } from '@pf/local/reaper';
import { redisProgram } from '@pf/local/redis';
import { freePorts } from '@pf/testing';
import type { Attempt } from './redis-client-process.ts';

const TOOLS = path.resolve(import.meta.dirname, '../../../../.tools');
const ADMINISTRATOR = 'administrator';
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 24 * 60 * 60 * 1_000;
/** Attempts that a client makes while nothing is changed, and during each change. */
const ATTEMPTS = 3;

interface Issued {
  readonly certificate: x509.X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
}

/** A certificate of a server on 127.0.0.1, or of an authority where `by` is absent. */
async function issue(name: string, by?: Issued): Promise<Issued> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: by?.certificate.subject ?? `CN=${name}`,
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + DAY_MS),
    publicKey: keys.publicKey,
    signingKey: (by?.keys ?? keys).privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(by === undefined, undefined, true),
      ...(by ? [new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }])] : []),
    ],
  });
  return { certificate, keys };
}

/** A process with one kept connection, and a new one for each attempt. */
class Client {
  readonly #process: ChildProcess;

  constructor(authorities: string) {
    this.#process = fork(path.join(import.meta.dirname, 'redis-client-process.ts'), {
      execArgv: ['--conditions=source', '--import', 'tsx'],
      env: { PATH: process.env['PATH'], NODE_NO_WARNINGS: '1', NODE_EXTRA_CA_CERTS: authorities },
    });
  }

  async attempt(url: string): Promise<Attempt> {
    const answered = once(this.#process, 'message') as Promise<[Attempt]>;
    this.#process.send(url);
    return (await answered)[0];
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }
}

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
  /** Goes on with attempts until the change has been made and some more have followed. @returns all of them */
  async function during(client: Client, url: string, change: () => Promise<void>): Promise<readonly Attempt[]> {
    const attempts: Attempt[] = [];
    let left = ATTEMPTS;
    let isChanged = false;
    const changed = change().then(() => (isChanged = true));
    do {
      attempts.push(await client.attempt(url));
      if (isChanged) left--;
    } while (left > 0);
    await changed;
    return attempts;
  }

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-rotation-'));
    reaper = startReaper();
    for (const authority of ['old', 'new']) {
      const root = await issue(`${authority} authority`);
      const { certificate, keys } = await issue('redis', root);
      const key = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
      await writeFile(file(`${authority}-ca.crt`), root.certificate.toString('pem'));
      await writeFile(file(`${authority}.crt`), certificate.toString('pem'));
      await writeFile(file(`${authority}.key`), `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`);
    }
    const both = await Promise.all(['old', 'new'].map((authority) => readFile(file(`${authority}-ca.crt`), 'utf8')));
    await writeFile(file('both-ca.crt'), both.join('\n'));

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
    const works = { kept: 'works', fresh: 'works' };
    expect(await onlyOld.attempt(urlWith('first'))).toEqual(works);
    const attempts = await during(both, urlWith('first'), async () => {
      expect(await cli('config', 'set', 'tls-cert-file', file('new.crt'), 'tls-key-file', file('new.key'))).toBe('OK');
    });
    expect(new Set(attempts.map((attempt) => JSON.stringify(attempt)))).toEqual(new Set([JSON.stringify(works)]));
    // The certificate is another one: who trusts the former authority alone gets no new connection.
    expect(await onlyOld.attempt(urlWith('first'))).toEqual({
      kept: 'works',
      fresh: expect.stringContaining('unable to verify the first certificate'),
    });
    expect(await clientWith('new-ca.crt').attempt(urlWith('first'))).toEqual(works);
  });

  it('replaces the password while old and new pods continue', async () => {
    const works = { kept: 'works', fresh: 'works' };
    const former = clientWith('both-ca.crt');
    const added = await during(former, urlWith('first'), async () => {
      expect(await cli('acl', 'setuser', 'pf', '>second')).toBe('OK');
    });
    // The new pods. The former ones serve on until these are ready.
    const next = clientWith('both-ca.crt');
    expect(await next.attempt(urlWith('second'))).toEqual(works);
    expect(await former.attempt(urlWith('first'))).toEqual(works);
    const removed = await during(next, urlWith('second'), async () => {
      expect(await cli('acl', 'setuser', 'pf', '<first')).toBe('OK');
    });
    expect([...added, ...removed].filter(({ kept, fresh }) => kept !== 'works' || fresh !== 'works')).toEqual([]);
    expect(await former.attempt(urlWith('first'))).toEqual({
      kept: 'works',
      fresh: expect.stringContaining('WRONGPASS'),
    });
  });
});
