import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccountId, newUserId } from '@pf/contracts';
import type { Role } from '@pf/contracts/dashboard';
import { auditEntries, createPersonalToken } from '@pf/database';
import { type Cluster, type Instance, startCluster, until, type WebhookReceiver, webhookReceiver } from '@pf/testing';
import { z } from 'zod';
import { runPf } from '../../src/index.ts';

const REQUESTOR = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const BY = { kind: 'operator', id: null, name: 'test', address: null, userAgent: null, requestId: null } as const;
const DAY_MS = 86_400_000;

describe('pf with a login', () => {
  let cluster: Cluster;
  let dashboard: Instance;
  let receiver: WebhookReceiver;
  let folder: string;
  let shop: string;
  let owner: string;
  let file: string;
  const environment = () => ({ XDG_CONFIG_HOME: folder });

  beforeAll(async () => {
    cluster = await startCluster();
    const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('webhook')]);
    dashboard = await cluster.start('dashboard', { env: { GATEWAY_URL: gateway.url } });
    receiver = await webhookReceiver();
    folder = await mkdtemp(path.join(tmpdir(), 'pf-login-'));
    file = path.join(folder, 'pf', 'login.json');
    shop = await newAccount('Shop');
    owner = await person('owner', shop, 'owner');
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await cluster.close();
    await receiver.close();
  });
  beforeEach(() => rm(path.join(folder, 'pf'), { recursive: true, force: true }));

  const newAccount = async (name: string): Promise<string> =>
    (await cluster.database.prisma.account.create({ data: { id: newAccountId(), name } })).id;
  /** A person with a role. @returns their id */
  const person = async (name: string, accountId: string, role: Role): Promise<string> => {
    const id = newUserId();
    const members = { create: { accountId, role } };
    await cluster.database.prisma.user.create({
      data: { id, name, email: `${name}@shop.example`, emailVerified: true, members },
    });
    return id;
  };
  /** Logs in as `pf login` leaves it. @returns the token's id */
  const loggedIn = async (userId = owner): Promise<{ readonly id: string; readonly token: string }> => {
    const at = new Date();
    const wanted = {
      userId,
      name: 'pf on a test',
      at,
      expiresAt: new Date(at.getTime() + DAY_MS),
      max: 20,
    };
    const made = await createPersonalToken(cluster.database, wanted, { ...BY, id: userId });
    if (!made) throw new Error('too many tokens');
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify({ url: dashboard.url, token: made.token }));
    return made;
  };
  const run = async (
    args: readonly string[],
    more: NodeJS.ProcessEnv = {},
  ): Promise<{ code: number; out: string; errors: string }> => {
    let out = '';
    let errors = '';
    const code = await runPf(args, {
      environment: { ...environment(), ...more },
      write: (text) => (out += text),
      writeError: (text) => (errors += text),
    });
    return { code, out, errors };
  };
  /** What it answers; fails where it fails. */
  const pf = async (...args: string[]): Promise<string> => {
    const { code, out, errors } = await run(args);
    expect([args, code, errors]).toEqual([args, 0, '']);
    return out;
  };
  const json = async <Schema extends z.ZodType>(schema: Schema, ...args: string[]): Promise<z.output<Schema>> =>
    schema.parse(JSON.parse(await pf(...args, '--json')));
  const refusal = async (...args: string[]): Promise<string> => {
    const { code, out, errors } = await run(args);
    expect([args, code, out]).toEqual([args, 1, '']);
    return errors;
  };

  it('login gets a token that its person approves, kept for them alone, and logout revokes it', async () => {
    let out = '';
    const ended = runPf(['login', dashboard.url], {
      environment: environment(),
      write: (text) => (out += text),
      writeError: (text) => (out += text),
    });
    const userCode = await until('the code', () => /\n {2}(\w{4}-\w{4})\n/.exec(out)?.[1] ?? null);
    expect(out).toContain(`Open ${dashboard.url}/device in your browser`);
    const { rows } = await cluster.database.sql.query<{ client_name: string }>(
      `UPDATE dashboard.device_requests SET decision = 'approved', user_id = $1 WHERE user_code = $2
       RETURNING client_name`,
      [owner, userCode.replace('-', '')],
    );
    expect(rows).toEqual([{ client_name: `pf on ${hostname()}` }]);
    expect([await ended, out]).toEqual([0, expect.stringContaining(`You are logged in. The token is in ${file}.`)]);
    expect(out).toMatch(/owner, owner@shop\.example, at http/);
    const modes = await Promise.all([file, path.dirname(file)].map(async (one) => (await stat(one)).mode & 0o777));
    expect(modes).toEqual([0o600, 0o700]);
    const { token } = z.object({ token: z.string() }).parse(JSON.parse(await readFile(file, 'utf8')));
    expect(token).toMatch(/^pft_/);
    expect(out).not.toContain(token);
    expect(await readFile(dashboard.log, 'utf8')).not.toContain(token.slice(4));

    expect(await pf('whoami')).toMatch(new RegExp(`${shop} +owner +Shop`));
    expect(await pf('logout')).toBe(`You are logged out of ${dashboard.url}.\n`);
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${dashboard.url}/api/session`, { headers })).status).toBe(401);
    expect(await refusal('whoami')).toContain('You are not logged in.');
    expect(await refusal('logout')).toContain('You are not logged in.');
  });

  it('login is denied, and refuses a URL on which the token would be readable', async () => {
    let out = '';
    const ended = runPf(['login', dashboard.url, '--json'], {
      environment: environment(),
      write: (text) => (out += text),
      writeError: (text) => (out += text),
    });
    const shown = await until('the code', () => (out === '' ? null : out));
    const { userCode } = z.object({ userCode: z.string() }).parse(JSON.parse(shown));
    await cluster.database.sql.query(`UPDATE dashboard.device_requests SET decision = 'denied' WHERE user_code = $1`, [
      userCode.replace('-', ''),
    ]);
    expect(await ended).toBe(1);
    expect(out).toContain('The login was denied in the dashboard.');
    await expect(stat(file)).rejects.toThrow('ENOENT');
    for (const url of [
      'http://payments.example.com',
      'payments.example.com',
      'ftp://localhost',
      'http://127.0.0.1.evil.example',
    ])
      expect(await refusal('login', url)).toContain('must start with https://');
    expect(await refusal('login', 'http://127.0.0.1:1')).toContain(
      'The dashboard at http://127.0.0.1:1 does not respond.',
    );
  });

  it('creates, follows and lists intents, in test and live mode', async () => {
    await loggedIn();
    const made = z.looseObject({ intent: z.looseObject({ id: z.string(), livemode: z.boolean() }) });
    const { intent } = await json(made, 'intents', 'create', '--amount', '12.50', '--requestor', REQUESTOR);
    await pf('intents', 'simulate', intent.id, 'confirmed');
    expect(await pf('intents', 'follow', intent.id)).toMatch(/snapshot +confirmed/);
    expect(await pf('intents', 'list')).toContain(intent.id);
    const live = await json(made, 'intents', 'create', '--amount', '1', '--requestor', REQUESTOR, '--mode', 'live');
    expect(live.intent.livemode).toBe(true);
    expect(await refusal('intents', 'get', intent.id, '--mode', 'live')).toContain('add --mode test');
    expect(await pf('deposits', 'list', '--chain', 'base')).toBe('No test deposits match.\n');
    for (const verb of ['get', 'ignore', 'reopen'])
      expect(await refusal('deposits', verb, 'dp_none')).toContain('No deposit has this id.');
  });

  it('creates, lists and revokes keys', async () => {
    await loggedIn();
    const created = z.looseObject({ id: z.string(), key: z.string(), accountId: z.string(), mode: z.string() });
    const key = await json(created, 'keys', 'create', '--scope', 'payer', '--name', 'Till', '--mode', 'live');
    expect(key).toMatchObject({
      accountId: shop,
      mode: 'live',
      scope: 'payer',
      key: expect.stringMatching(/^pk_live_/) as unknown,
    });
    expect(await pf('keys', 'list', '--mode', 'live')).toMatch(new RegExp(`${key.id} .*payer +Till`));
    expect(await pf('keys', 'list')).not.toContain(key.id);
    expect(await pf('keys', 'revoke', key.id)).toContain('is revoked');
    expect(await refusal('keys', 'revoke', 'key_none')).toContain('The account has no API key with this id.');
    const [entry] = await auditEntries(cluster.database, shop, { subject: key.id }, null, 1);
    expect(entry).toMatchObject({ kind: 'token', id: owner, name: 'owner@shop.example', action: 'key.revoked' });
  });

  it('manages endpoints, deliveries and replays', async () => {
    await loggedIn();
    const made = z.looseObject({ endpoint: z.looseObject({ id: z.string() }), secret: z.string() });
    const { endpoint } = await json(made, 'webhooks', 'create', receiver.url);
    await pf('intents', 'create', '--amount', '3', '--requestor', REQUESTOR);
    const deliveries = z.looseObject({ deliveries: z.array(z.looseObject({ id: z.string() })) });
    const delivery = await until('the delivery', async () => {
      const [first] = (await json(deliveries, 'webhooks', 'deliveries', '--status', 'delivered')).deliveries;
      return first ?? null;
    });
    expect(await pf('webhooks', 'attempts', delivery.id)).toContain(' 200 ');
    expect(await pf('webhooks', 'resend', delivery.id)).toContain('is sent to');
    expect(await pf('webhooks', 'test', endpoint.id)).toContain('The receiver accepted it with 200.');
    expect(await pf('webhooks', 'replay', '--since', '1h', '--all')).toMatch(/^whr_\w+ has started\./);
    expect(await pf('webhooks', 'replays')).toContain('whr_');
    expect(await pf('webhooks', 'rotate-secret', '--endpoint', endpoint.id)).toMatch(/^whsec_/);
    expect(await pf('webhooks', 'list')).toMatch(new RegExp(`${endpoint.id} .*${receiver.url} .*active`));
    expect(await refusal('webhooks', 'enable', receiver.url)).toContain('is not a test URL that was disabled');
    expect(await pf('webhooks', 'remove', receiver.url)).toContain('No more events are sent');
    expect(await refusal('webhooks', 'remove', receiver.url)).toContain('No test events go to');
  });

  it('asks for --account where there are several, and works in the one that is named', async () => {
    const other = await newAccount('Bar');
    const many = await person('many', shop, 'viewer');
    await cluster.database.prisma.member.create({ data: { accountId: other, userId: many, role: 'owner' } });
    await loggedIn(many);
    const message = await refusal('keys', 'list');
    expect(message).toContain(`${shop} (Shop)`);
    expect(message).toContain(`${other} (Bar)`);
    expect(await pf('keys', 'list', '--account', other)).toContain('No test keys.');
    expect(await refusal('keys', 'list', '--account', shop)).toContain('Your role in this account does not allow');
    expect(await refusal('intents', 'create', '--amount', '1', '--requestor', REQUESTOR, '--account', shop)).toContain(
      'Your role in this account does not allow',
    );
    const foreign = await newAccount('Foreign');
    expect(await refusal('intents', 'list', '--account', foreign)).toContain(
      'You are not a member of an account with this id.',
    );
    expect(await refusal('keys', 'list', '--account', '../../sessions')).toContain('You are not a member of an');
  });

  it('says what only operators can do, and that a login has ended', async () => {
    const { id: tokenId } = await loggedIn();
    const nowhere = path.join(folder, 'nowhere');
    expect(await refusal('webhooks', 'add', 'https://shop.example/hooks')).toContain('pf webhooks create');
    expect(await refusal('webhooks', 'secret')).toContain('This is for operators: it needs the database');
    expect(await refusal('webhooks', 'rotate-secret')).toContain('--endpoint');
    // What the environment names goes first.
    expect((await run(['keys', 'list'], { PF_DATA: nowhere })).errors).toContain('This is for operators');
    expect((await run(['accounts', 'list'], { PF_DATA: nowhere })).errors).toContain(
      `This is for operators: it needs the database. You are logged in to ${dashboard.url}`,
    );
    expect((await run(['accounts', 'list'], { DATABASE_URL: cluster.databaseUrl })).out).toContain(shop);
    await cluster.database.prisma.personalToken.update({ where: { id: tokenId }, data: { revokedAt: new Date() } });
    for (const args of [['whoami'], ['keys', 'list'], ['intents', 'list', '--account', shop]])
      expect(await refusal(...args)).toContain(`Your login at ${dashboard.url} has ended. Log in again`);
    expect(await pf('logout')).toContain('You are logged out');
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, '{"url":');
    expect(await refusal('whoami')).toContain('is not a valid login');
  });
});
