import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newPersonalToken } from '@pf/contracts';
import {
  DASHBOARD_OPERATIONS,
  type DashboardOperation,
  type DashboardOperationId,
  PAYMENT_ACCESS,
  type PaymentOperationId,
  type Role,
  ROLES,
  TOKENS_MAX,
} from '@pf/contracts/dashboard';
import { auditEntries } from '@pf/database';
import { type Cluster, type Instance, openStream, startCluster, until } from '@pf/testing';
import { tokenFor } from '../mails.ts';
import { emptyAccount, memberOf, PASSWORD, Person } from '../person.ts';

const CREATE = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '1.00',
  requestor: '0x1111111111111111111111111111111111111111',
};
const DAY_MS = 86_400_000;

describe('a personal token', () => {
  let cluster: Cluster;
  let gateway: Instance;
  let dashboard: Instance;
  let accountId: string;
  let owner: Person;
  const member = (name: string, role: Role, account = accountId): Promise<Person> =>
    memberOf(cluster.database, dashboard.url, { name, role, accountId: account });
  const newAccount = (name: string): Promise<string> => emptyAccount(cluster.database, name);
  const create = async (person: Person, name = 'laptop') => {
    const { status, body } = await person.ask('createToken', { body: { name } });
    expect(status).toBe(201);
    return { id: body.token.id, token: body.token, secret: body.secret, program: program(body.secret) };
  };
  const program = (secret: string): Person => new Person(dashboard.url, secret);
  const idOf = async (name: string): Promise<string> =>
    (await cluster.database.prisma.user.findUniqueOrThrow({ where: { email: `${name}@shop.example` } })).id;

  beforeAll(async () => {
    cluster = await startCluster();
    [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent')]);
    dashboard = await cluster.start('dashboard', { env: { GATEWAY_URL: gateway.url } });
    accountId = await newAccount('Shop');
    owner = await member('owner', 'owner');
  });
  afterAll(() => cluster.close());

  it('is shown once, stored as a hash, and says when it was last used', async () => {
    const { id, token, secret, program: pf } = await create(owner);
    expect(secret).toMatch(/^pft_[A-Za-z0-9]{32}$/);
    expect(token).toMatchObject({
      name: 'laptop',
      hint: `pft_…${secret.slice(-4)}`,
      status: 'active',
      lastUsedAt: null,
    });
    expect(Date.parse(token.expiresAt) - Date.parse(token.createdAt)).toBe(90 * DAY_MS);
    const { body } = await pf.ask('getSession');
    expect(body).toMatchObject({ user: { email: 'owner@shop.example' }, token: { id, name: 'laptop' } });
    expect((await owner.ask('getSession')).body.token).toBeNull();
    const { body: listed } = await owner.ask('listTokens');
    const found = listed.tokens.find((one) => one.id === id);
    expect(Date.parse(found?.lastUsedAt ?? '')).toBeGreaterThan(Date.now() - 60_000);
    expect(JSON.stringify(listed)).not.toContain(secret.slice(4));
    const { rows } = await cluster.database.sql.query<{ row: string }>(
      'SELECT t::text AS row FROM dashboard.personal_tokens t',
    );
    expect(rows.map(({ row }) => row).join()).not.toContain(secret.slice(4));
  });

  it('ends when it is revoked, when it signs out, and when it expires', async () => {
    const [revoked, left, expired, staying] = [
      await create(owner),
      await create(owner),
      await create(owner),
      await create(owner),
    ];
    const { body } = await owner.ask('revokeToken', { params: { tokenId: revoked.id } });
    expect(body.token).toMatchObject({ status: 'revoked' });
    expect((await owner.ask('revokeToken', { params: { tokenId: revoked.id } })).body).toEqual(body);
    expect((await left.program.ask('signOut')).status).toBe(200);
    const data = { expiresAt: new Date(Date.now() - 1) };
    await cluster.database.prisma.personalToken.update({ where: { id: expired.id }, data });
    for (const { program: pf } of [revoked, left, expired])
      expect((await pf.ask('getSession')).code).toBe('token.invalid');
    expect((await staying.program.ask('getSession')).status).toBe(200);
    expect((await owner.ask('getSession')).status).toBe(200);
    const { tokens } = (await owner.ask('listTokens')).body;
    const statusOf = (id: string) => tokens.find((one) => one.id === id)?.status;
    expect([revoked, left, expired, staying].map(({ id }) => statusOf(id))).toEqual([
      'revoked',
      'revoked',
      'expired',
      'active',
    ]);
  });

  it('ends with a new password, however it was set', async () => {
    const pia = await member('pia', 'viewer');
    const first = await create(pia);
    const right = { currentPassword: PASSWORD, password: 'another long password' };
    expect((await pia.ask('changePassword', { body: { ...right, currentPassword: 'wrong' } })).code).toBe(
      'credentials.invalid',
    );
    expect((await first.program.ask('getSession')).status).toBe(200);
    expect((await pia.ask('changePassword', { body: right })).status).toBe(200);
    expect((await first.program.ask('getSession')).code).toBe('token.invalid');
    const second = await create(pia);
    await pia.ask('forgotPassword', { body: { email: 'pia@shop.example' } });
    const token = await tokenFor(dashboard, 'pia@shop.example', 'reset-password');
    expect((await pia.ask('resetPassword', { body: { token, password: PASSWORD } })).status).toBe(200);
    expect((await second.program.ask('getSession')).code).toBe('token.invalid');
  });

  it('is of one person: no other one lists or revokes it, owners neither', async () => {
    const vic = await member('vic', 'viewer');
    const { id, program: pf } = await create(vic);
    expect((await owner.ask('revokeToken', { params: { tokenId: id } })).code).toBe('token.not_found');
    expect((await owner.ask('listTokens')).body.tokens.map((one) => one.id)).not.toContain(id);
    expect((await pf.ask('getSession')).body.user.email).toBe('vic@shop.example');
  });

  it('has the role of its person at the time of the request, and none once they are removed', async () => {
    const ron = await member('ron', 'developer');
    const { program: pf } = await create(ron);
    const params = { accountId };
    const key = { params, body: { name: 'Till', mode: 'test', scope: 'full' } };
    expect((await pf.ask('createKey', key)).status).toBe(201);
    const userId = await idOf('ron');
    await owner.ask('updateMember', { params: { accountId, userId }, body: { role: 'viewer' } });
    expect((await pf.ask('createKey', key)).code).toBe('role.insufficient');
    expect((await pf.ask('getAccount', { params })).body.account.role).toBe('viewer');
    expect((await owner.ask('removeMember', { params: { accountId, userId } })).status).toBe(200);
    expect((await pf.ask('getAccount', { params })).code).toBe('account.not_found');
    expect((await pf.pay('listIntents', { accountId })).code).toBe('account.not_found');
    expect((await pf.ask('getSession')).body.memberships).toEqual([]);
  });

  it('expires in the next 366 days, and a person has at most 20 that can be used', async () => {
    const max = await member('max', 'viewer');
    for (const days of [-1, 0, 367]) {
      const expiresAt = new Date(Date.now() + days * DAY_MS).toISOString();
      const refused = await max.ask('createToken', { body: { name: 'x', expiresAt } });
      expect([days, refused.status, refused.error?.param]).toEqual([days, 400, 'expiresAt']);
    }
    const expiresAt = new Date(Date.now() + DAY_MS).toISOString();
    const { body } = await max.ask('createToken', { body: { name: 'x', expiresAt } });
    expect(body.token.expiresAt).toBe(expiresAt);
    for (let count = 2; count < TOKENS_MAX; count += 1) await create(max);
    const made = await Promise.all(Array.from({ length: 3 }, () => max.ask('createToken', { body: { name: 'y' } })));
    expect(made.map(({ code }) => code).sort()).toEqual(['limit.reached', 'limit.reached', null]);
    expect((await max.ask('revokeToken', { params: { tokenId: body.token.id } })).status).toBe(200);
    await create(max);
  });

  describe('for every operation', () => {
    const asked = (id: DashboardOperationId) => {
      const operation: DashboardOperation = DASHBOARD_OPERATIONS[id];
      return { params: { accountId, mode: 'test' }, ...(operation.body && { body: {} }) };
    };
    const all = (Object.values(DASHBOARD_OPERATIONS) as DashboardOperation[]).filter(
      ({ access, id }) => access !== 'anyone' && id !== 'signOut',
    );
    const ids = all.map(({ id }) => id as DashboardOperationId);
    /** What no personal token may do. */
    const SESSION_ONLY: readonly DashboardOperationId[] = [
      'listSessions',
      'endSession',
      'changePassword',
      'beginSecondFactor',
      'confirmSecondFactor',
      'disableSecondFactor',
      'listPasskeys',
      'beginPasskey',
      'addPasskey',
      'renamePasskey',
      'removePasskey',
      'listIdentities',
      'unlinkIdentity',
      'listTokens',
      'createToken',
      'revokeToken',
      'getDevice',
      'beginDeviceApproval',
      'approveDevice',
      'denyDevice',
    ];

    it('allows what the session does, except for passwords, second factors, sessions and tokens', async () => {
      const people: [string, Person][] = [
        ['foreign', await member('foreign', 'owner', await newAccount('Foreign'))],
        ...(await Promise.all(ROLES.map(async (role) => [role, await member(`a-${role}`, role)] as [string, Person]))),
      ];
      for (const [name, person] of people) {
        const { program: pf } = await create(person);
        for (const id of ids) {
          const [bySession, byToken] = [await person.ask(id, asked(id)), await pf.ask(id, asked(id))];
          expect([id, name, byToken.status, byToken.code]).toEqual(
            SESSION_ONLY.includes(id)
              ? [id, name, 403, 'token.insufficient']
              : [id, name, bySession.status, bySession.code],
          );
        }
        for (const id of Object.keys(PAYMENT_ACCESS) as PaymentOperationId[]) {
          const { status, code } = await pf.pay(id, { accountId, body: undefined });
          const found = await person.pay(id, { accountId, body: undefined });
          expect([id, name, status, code]).toEqual([id, name, found.status, found.code]);
        }
      }
    });

    it('is refused if it is not active, whatever else the request has', async () => {
      const { secret } = await create(owner);
      for (const text of [
        newPersonalToken(),
        `${secret}x`,
        secret.slice(0, -1),
        `pk_test_${secret.slice(4)}`,
        secret.toLowerCase(),
        '',
      ])
        for (const id of ids) {
          // The session of the cookie does not count, nor does its origin.
          const headers = { ...owner.headers, authorization: `Bearer ${text}` };
          const { status, code } = await owner.ask(id, { ...asked(id), headers });
          expect([id, text, status, code]).toEqual([id, text, 401, 'token.invalid']);
        }
    });

    it('needs an Origin header with a session but not with a token', async () => {
      const { secret, program: pf } = await create(owner);
      const body = { name: 'Shop' };
      const origin = 'https://evil.example';
      const params = { accountId };
      expect((await pf.ask('updateAccount', { params, body, headers: { origin } })).status).toBe(200);
      for (const authorization of [`Basic ${secret}`, secret, `pft ${secret}`])
        expect((await owner.ask('updateAccount', { params, body, headers: { authorization, origin } })).code).toBe(
          'origin.foreign',
        );
      // Sign-in sets cookies: a token does not stand for the origin there.
      const signIn = { body: { email: 'owner@shop.example', password: PASSWORD } };
      expect((await pf.ask('signIn', signIn)).code).toBe('origin.foreign');
    });
  });

  describe('of the payment API', () => {
    it('makes payments in its accounts, and follows them until it is revoked', async () => {
      const { id: tokenId, program: pf } = await create(owner);
      const { body, status } = await pf.pay('createIntent', { accountId, body: CREATE });
      expect(status).toBe(201);
      const { id } = (body as { intent: { id: string } }).intent;
      expect((await pf.pay('getIntent', { accountId, params: { id } })).status).toBe(200);
      const viewer = await member('watching', 'viewer');
      const watching = await create(viewer);
      const follow = (person: Person) =>
        openStream(`${person.paymentsUrl(accountId)}/intents/${id}/events`, person.headers);
      const streams = await Promise.all([follow(pf), follow(watching.program)]);
      await until('the snapshots', () => streams.every(({ messages }) => messages.length === 1));
      await owner.ask('revokeToken', { params: { tokenId } });
      await owner.ask('removeMember', { params: { accountId, userId: await idOf('watching') } });
      const began = performance.now();
      expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual([true, true]);
      expect(performance.now() - began).toBeLessThan(30_000);
      expect((await follow(pf)).status).toBe(401);
    });
  });

  it('is the actor of what is done with it, in the audit log', async () => {
    const of = await newAccount('Audited');
    const ada = await member('ada', 'owner', of);
    const { id: tokenId, program: pf } = await create(ada);
    const params = { accountId: of };
    const { body } = await pf.ask('createKey', { params, body: { name: 'Till', mode: 'test', scope: 'full' } });
    await pf.pay('createIntent', { accountId: of, body: CREATE });
    await pf.ask('signOut');
    const actor = { kind: 'token', id: await idOf('ada'), name: 'ada@shop.example', tokenId };
    const entries = await auditEntries(cluster.database, of, {}, null, 10);
    expect(entries).toMatchObject([
      { ...actor, action: 'token.revoked', subject: tokenId },
      { ...actor, action: 'intent.created' },
      { ...actor, action: 'key.created', subject: body.key.id },
      { kind: 'person', tokenId: null, action: 'token.created', subject: tokenId, after: { name: 'laptop' } },
    ]);
    const { body: shown } = await ada.ask('listAudit', { params });
    expect(shown.entries[2]?.actor).toEqual({ kind: 'token', id: actor.id, name: actor.name, token: tokenId });
  });

  it('is not looked up for an address that has sent too many that are invalid', async () => {
    // Six in a minute.
    const other = await cluster.start('dashboard', { env: { RATE_LIMIT_FACTOR: '0.01', TRUSTED_PROXIES: '1' } });
    const headers = (address: string) => ({ 'x-forwarded-for': address });
    const { secret } = await create(owner);
    const guess = (address: string) =>
      new Person(other.url, `pft_${'x'.repeat(36)}`).ask('getSession', { headers: headers(address) });
    // One that was valid before is no guess.
    const pf = new Person(other.url, secret);
    expect((await pf.ask('getSession', { headers: headers('192.0.2.1') })).status).toBe(200);
    for (let count = 0; count < 6; count += 1) expect((await guess('192.0.2.1')).code).toBe('token.invalid');
    const refused = await guess('192.0.2.1');
    expect([refused.code, Number(refused.error?.details?.['retry_after']) > 0]).toEqual(['rate_limit.exceeded', true]);
    expect((await guess('192.0.2.2')).code).toBe('token.invalid');
    expect((await pf.ask('getSession', { headers: headers('192.0.2.1') })).status).toBe(200);
  });

  it('counts with the sessions of its person, and is in no log', async () => {
    // Two requests at once.
    const env = { RATE_LIMIT_FACTOR: String(2 / 600) };
    const other = await cluster.start('dashboard', { env });
    const { secret } = await create(owner);
    const pf = new Person(other.url, secret);
    const here = new Person(other.url);
    for (const [name, value] of owner.cookies) here.cookies.set(name, value);
    expect((await pf.ask('getSession')).status).toBe(200);
    expect((await here.ask('getSession')).status).toBe(200);
    expect((await pf.ask('getSession')).code).toBe('rate_limit.exceeded');
    await pf.ask('getSession', { headers: { authorization: `Bearer ${secret}x` } });
    for (const { log } of [other, dashboard, gateway]) {
      const text = await readFile(log, 'utf8');
      expect(text).not.toContain('pft_');
      expect(text).not.toContain(secret.slice(4));
    }
  });
});
