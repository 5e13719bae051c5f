import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newAccountId } from '@pf/contracts';
import {
  DASHBOARD_OPERATIONS,
  type DashboardOperation,
  type DashboardOperationId,
  type Role,
  ROLES,
} from '@pf/contracts/dashboard';
import { findKeyHolder, hashApiKey } from '@pf/database';
import { type Cluster, type Instance, startCluster, until } from '@pf/testing';
import { mailsTo, tokenFor } from './mails.ts';
import { type Answer, type Asked, codeOf, memberOf, PASSWORD, Person } from './person.ts';

const OWNER = 'olivia@shop.example';

describe('the dashboard', () => {
  let cluster: Cluster;
  let dashboard: Instance;
  let owner: Person;
  let accountId: string;
  const stranger = () => new Person(dashboard.url);

  const mailsOf = (to: string): Promise<readonly string[]> => mailsTo(dashboard, to);
  const tokenOf = (to: string, page: string, count = 1): Promise<string> => tokenFor(dashboard, to, page, count);
  const member = (name: string, account: string, role: Role): Promise<Person> =>
    memberOf(cluster.database, dashboard.url, { name, accountId: account, role });

  beforeAll(async () => {
    cluster = await startCluster();
    dashboard = await cluster.start('dashboard');
    owner = stranger();
    const body = { name: 'Olivia', email: OWNER, password: PASSWORD };
    expect(await owner.ask('signUp', { body })).toMatchObject({ status: 202 });
    const token = await tokenOf(OWNER, 'verify-email');
    expect(await owner.ask('verifyEmail', { body: { token, password: PASSWORD } })).toMatchObject({ status: 200 });
    await owner.signIn(OWNER, PASSWORD);
    const { body: created } = await owner.ask('createAccount', { body: { name: 'Shop' } });
    accountId = created.account.id;
  });
  afterAll(() => cluster.close());

  describe('sign-up', () => {
    const email = 'vera@shop.example';
    const body = { name: 'Vera', email, password: PASSWORD };

    it('leads to a session only after the address was confirmed with the token and the password', async () => {
      const vera = stranger();
      await vera.ask('signUp', { body: { ...body, email: 'Vera@Shop.example' } });
      const first = await tokenOf(email, 'verify-email');
      const refused = await vera.ask('signIn', { body: { email, password: PASSWORD } });
      expect([refused.status, refused.code, vera.cookies.size]).toEqual([403, 'email.unverified', 0]);
      const second = await tokenOf(email, 'verify-email', 2);
      for (const wrong of [
        { token: 'x', password: PASSWORD },
        { token: first, password: 'the password of another' },
        { token: `${second.slice(0, -4)}AAAA`, password: PASSWORD },
      ])
        expect(await vera.ask('verifyEmail', { body: wrong })).toMatchObject({ status: 422, code: 'link.invalid' });
      expect(await vera.ask('verifyEmail', { body: { token: second, password: PASSWORD } })).toMatchObject({
        status: 200,
      });
      await vera.signIn('VERA@shop.example', PASSWORD);
      const { body: session } = await vera.ask('getSession');
      expect(session).toMatchObject({ user: { name: 'Vera', email, secondFactor: false }, memberships: [] });
    });

    it('tells nothing about who is registered, and neither do sign-in and a forgotten password', async () => {
      const shown = ({ status, error, body: answer }: Answer) => [status, error, answer];
      const of = (id: DashboardOperationId, asked: Asked) => stranger().ask(id, asked).then(shown);
      const unknown = 'unknown@shop.example';
      expect(await of('signUp', { body: { ...body, email: OWNER, password: 'another password of theirs' } })).toEqual(
        await of('signUp', { body: { ...body, email: unknown } }),
      );
      expect(await of('forgotPassword', { body: { email: OWNER } })).toEqual(
        await of('forgotPassword', { body: { email: 'another@shop.example' } }),
      );
      const wrong = await of('signIn', { body: { email: OWNER, password: 'a wrong password' } });
      expect(wrong[0]).toBe(401);
      // Not confirmed: with a wrong password that does not show.
      for (const one of ['another@shop.example', unknown])
        expect(await of('signIn', { body: { email: one, password: 'a wrong password' } })).toEqual(wrong);
      // The one who is registered learns of it, and signs in as before. Mails are sent after the response.
      for (const says of ['/reset-password#token=', 'registered already'])
        await until(`the mail that says ${says}`, async () =>
          (await mailsOf(OWNER)).some((text) => text.includes(says)),
        );
      expect(await mailsOf('another@shop.example')).toEqual([]);
      await stranger().signIn(OWNER, PASSWORD);
    });
  });

  describe('a session', () => {
    it('has a token that the server has made, in a cookie that no script and no other site can use', async () => {
      const planted = 'planted.c2lnbmF0dXJl';
      const victim = stranger();
      victim.cookies.set('pf.session_token', planted);
      expect((await victim.ask('getSession')).code).toBe('session.required');
      const { cookies } = await victim.ask('signIn', { body: { email: OWNER, password: PASSWORD } });
      const first = victim.cookies.get('pf.session_token');
      expect(first).not.toBe(planted);
      expect(cookies.join()).toMatch(/pf\.session_token=.*HttpOnly.*SameSite=Strict/i);
      // A sign-in in a browser that has a session begins another one.
      await victim.signIn(OWNER, PASSWORD);
      expect(victim.cookies.get('pf.session_token')).not.toBe(first);
    });

    it('has a cookie over https that no other origin can plant', async () => {
      const url = 'https://dashboard.shop.example';
      const behindTls = await cluster.start('dashboard', { env: { DASHBOARD_URL: url } });
      const ask = (path: string, cookie: string, body?: object) =>
        fetch(`${behindTls.url}/api${path}`, {
          headers: { origin: url, cookie, ...(body && { 'content-type': 'application/json' }) },
          ...(body && { method: 'POST', body: JSON.stringify(body) }),
        });
      const signedIn = await ask('/sign-in', '', { email: OWNER, password: PASSWORD });
      expect(signedIn.status).toBe(200);
      const cookie = signedIn.headers.getSetCookie().find((one) => one.includes('session_token')) ?? '';
      expect(cookie).toMatch(/^__Host-pf\.session_token=[^;]+;/);
      expect(cookie).toMatch(/; Path=\/;/);
      expect(cookie).toMatch(/; Secure/);
      expect(cookie).not.toMatch(/Domain=/i);
      const [own = ''] = cookie.split(';');
      expect((await ask('/session', own)).status).toBe(200);
      for (const planted of [own.replace('__Host-', ''), own.replace('__Host-', '__Secure-')])
        expect((await ask('/session', planted)).status).toBe(401);
      behindTls.kill('SIGTERM');
    });

    it('ends when the person signs out, or ends it from another one', async () => {
      const [here, there] = [await stranger().signIn(OWNER, PASSWORD), await stranger().signIn(OWNER, PASSWORD)];
      const copy = stranger();
      for (const [name, value] of there.cookies) copy.cookies.set(name, value);
      const { body } = await there.ask('listSessions');
      const [current] = body.sessions.filter((session) => session.current);
      expect(await here.ask('endSession', { params: { sessionId: current?.id ?? '' } })).toMatchObject({ status: 200 });
      expect((await copy.ask('getSession')).code).toBe('session.required');
      const kept = stranger();
      for (const [name, value] of here.cookies) kept.cookies.set(name, value);
      expect(await here.ask('signOut')).toMatchObject({ status: 200 });
      expect(here.cookies.size).toBe(0);
      expect((await kept.ask('getSession')).code).toBe('session.required');
    });

    it('cannot be ended by another person', async () => {
      const eve = await member('eve', accountId, 'viewer');
      const { body } = await owner.ask('listSessions');
      const params = { sessionId: body.sessions[0]?.id ?? '' };
      expect(await eve.ask('endSession', { params })).toMatchObject({ status: 404, code: 'session.not_found' });
      expect((await owner.ask('getSession')).status).toBe(200);
    });
  });

  describe('a password', () => {
    it('ends all other sessions when it is changed or replaced, and its link works once', async () => {
      const [here, there] = [
        await member('paula', accountId, 'viewer'),
        await stranger().signIn('paula@shop.example', PASSWORD),
      ];
      const next = 'another long password';
      const wrong = { currentPassword: 'not the current one', password: next };
      expect((await here.ask('changePassword', { body: wrong })).code).toBe('credentials.invalid');
      const right = { currentPassword: PASSWORD, password: next };
      expect((await here.ask('changePassword', { body: right })).status).toBe(200);
      expect([(await here.ask('getSession')).status, (await there.ask('getSession')).status]).toEqual([200, 401]);

      await stranger().ask('forgotPassword', { body: { email: 'paula@shop.example' } });
      const token = await tokenOf('paula@shop.example', 'reset-password');
      const short = await stranger().ask('resetPassword', { body: { token, password: 'too short' } });
      expect([short.status, short.error?.param]).toEqual([400, 'password']);
      expect((await stranger().ask('resetPassword', { body: { token, password: PASSWORD } })).status).toBe(200);
      expect((await stranger().ask('resetPassword', { body: { token, password: next } })).code).toBe('link.invalid');
      expect((await here.ask('getSession')).code).toBe('session.required');
      await here.signIn('paula@shop.example', PASSWORD);
    });
  });

  describe('a new password', () => {
    it('ends the links that were mailed before, and sign-ins that wait for a code', async () => {
      const email = 'pia@shop.example';
      const pia = await member('pia', accountId, 'viewer');
      const next = 'another long password';
      const linkAfter = async (mails: number): Promise<string> => {
        await stranger().ask('forgotPassword', { body: { email } });
        return tokenOf(email, 'reset-password', mails);
      };
      const reset = (token: string) => stranger().ask('resetPassword', { body: { token, password: PASSWORD } });
      const first = await linkAfter(1);
      const body = { currentPassword: PASSWORD, password: next };
      expect((await pia.ask('changePassword', { body })).status).toBe(200);
      expect((await reset(first)).code).toBe('link.invalid');

      const { body: factor } = await pia.ask('beginSecondFactor', { body: { password: next } });
      await pia.ask('confirmSecondFactor', { body: { code: codeOf(factor.uri) } });
      const waiting = stranger();
      expect((await waiting.ask('signIn', { body: { email, password: next } })).body.next).toBe('second_factor');
      const [second, third] = [await linkAfter(2), await linkAfter(3)];
      const { rows } = await cluster.database.sql.query<{ kept: string }>(
        'SELECT string_agg(identifier, $1) AS kept FROM dashboard.verifications',
        [' '],
      );
      for (const token of [second, third]) expect(rows[0]?.kept).not.toContain(token);
      expect((await reset(third)).status).toBe(200);
      expect((await reset(second)).code).toBe('link.invalid');
      const code = factor.backupCodes[0];
      expect((await waiting.ask('signInWithCode', { body: { code } })).code).toBe('second_factor.invalid');
      const again = stranger();
      await again.ask('signIn', { body: { email, password: PASSWORD } });
      expect((await again.ask('signInWithCode', { body: { code } })).status).toBe(200);
    });
  });

  describe('a password that is replaced by a link', () => {
    it('takes all that was made before with it, or stays, and the link with it', async () => {
      const email = 'rita@shop.example';
      const rita = await member('rita', accountId, 'viewer');
      await stranger().ask('forgotPassword', { body: { email } });
      const token = await tokenOf(email, 'reset-password');
      const next = 'another long password';
      const reset = () => stranger().ask('resetPassword', { body: { token, password: next } });
      // What removes passkeys fails, and what is last: the entry of the audit log.
      for (const table of ['passkeys', 'audit_entries']) {
        await cluster.database.sql.query(`ALTER TABLE dashboard.${table} RENAME TO put_away`);
        try {
          expect([table, (await reset()).code]).toEqual([table, 'internal.error']);
        } finally {
          await cluster.database.sql.query(`ALTER TABLE dashboard.put_away RENAME TO ${table}`);
        }
        expect([table, (await rita.ask('getSession')).status]).toEqual([table, 200]);
        await stranger().signIn(email, PASSWORD);
      }
      expect((await reset()).status).toBe(200);
      expect((await rita.ask('getSession')).code).toBe('session.required');
      await stranger().signIn(email, next);
    });
  });

  describe('a second factor', () => {
    it('is asked for once it is confirmed, and a code or a backup code completes the sign-in', async () => {
      const email = 'tom@shop.example';
      const tom = await member('tom', accountId, 'viewer');
      expect((await tom.ask('confirmSecondFactor', { body: { code: '123456' } })).code).toBe('second_factor.not_begun');
      expect((await tom.ask('beginSecondFactor', { body: { password: 'a wrong one' } })).code).toBe(
        'credentials.invalid',
      );
      const { body } = await tom.ask('beginSecondFactor', { body: { password: PASSWORD } });
      await stranger().signIn(email, PASSWORD);
      const wrong = codeOf(body.uri, Date.now() - 3_600_000);
      expect((await tom.ask('confirmSecondFactor', { body: { code: wrong } })).code).toBe('second_factor.invalid');
      expect((await tom.ask('confirmSecondFactor', { body: { code: codeOf(body.uri) } })).status).toBe(200);
      expect((await tom.ask('beginSecondFactor', { body: { password: PASSWORD } })).code).toBe('second_factor.enabled');
      expect((await tom.ask('getSession')).body.user.secondFactor).toBe(true);

      const again = stranger();
      const begun = await again.ask('signIn', { body: { email, password: PASSWORD } });
      expect(begun.body).toEqual({ next: 'second_factor' });
      expect((await again.ask('getSession')).code).toBe('session.required');
      expect((await again.ask('signInWithCode', { body: { code: wrong } })).code).toBe('second_factor.invalid');
      const [backup] = body.backupCodes;
      expect((await again.ask('signInWithCode', { body: { code: backup } })).status).toBe(200);
      expect((await again.ask('getSession')).status).toBe(200);

      // Without a sign-in that waits for it, no code helps; a backup code helps once.
      expect((await stranger().ask('signInWithCode', { body: { code: backup } })).code).toBe('second_factor.invalid');
      const third = stranger();
      await third.ask('signIn', { body: { email, password: PASSWORD } });
      expect((await third.ask('signInWithCode', { body: { code: backup } })).code).toBe('second_factor.invalid');

      expect((await again.ask('disableSecondFactor', { body: { password: PASSWORD } })).status).toBe(200);
      await stranger().signIn(email, PASSWORD);
    });
  });

  describe('members', () => {
    it('join by an invitation to their own address, and change and leave by an owner', async () => {
      const ina = await member('ina', accountId, 'viewer');
      const other = await cluster.database.prisma.account.create({ data: { id: newAccountId(), name: 'Other' } });
      const ida = await member('ida', other.id, 'owner');
      const asked = { params: { accountId: other.id } };
      expect((await ida.ask('invite', { ...asked, body: { email: 'ida@shop.example', role: 'owner' } })).code).toBe(
        'member.exists',
      );
      const { body } = await ida.ask('invite', { ...asked, body: { email: 'INA@shop.example', role: 'support' } });
      expect(body.invitation).toMatchObject({ email: 'ina@shop.example', role: 'support' });
      const token = await tokenOf('ina@shop.example', 'accept-invitation');
      expect((await ida.ask('acceptInvitation', { body: { token } })).code).toBe('link.invalid');
      expect((await ina.ask('acceptInvitation', { body: { token } })).body).toEqual({
        membership: { accountId: other.id, name: 'Other', role: 'support' },
      });
      expect((await ina.ask('acceptInvitation', { body: { token } })).code).toBe('link.invalid');
      expect((await ida.ask('listInvitations', asked)).body).toEqual({ invitations: [] });

      const { body: listed } = await ina.ask('listMembers', asked);
      const [idOfIda = '', idOfIna = ''] = listed.members.map(({ userId }) => userId);
      expect(listed.members.map(({ name, role }) => [name, role])).toEqual([
        ['ida', 'owner'],
        ['ina', 'support'],
      ]);
      const oneself = { params: { accountId: other.id, userId: idOfIda } };
      expect((await ida.ask('updateMember', { ...oneself, body: { role: 'viewer' } })).code).toBe('member.last_owner');
      expect((await ida.ask('removeMember', oneself)).code).toBe('member.last_owner');
      const ofIna = { params: { accountId: other.id, userId: idOfIna } };
      expect((await ida.ask('updateMember', { ...ofIna, body: { role: 'owner' } })).body.member).toMatchObject({
        role: 'owner',
      });
      expect((await ina.ask('removeMember', oneself)).status).toBe(200);
      expect((await ida.ask('getAccount', asked)).code).toBe('account.not_found');
    });
  });

  describe('invitations', () => {
    it('are mailed to an address only so often, from any account, and carry no message of their own', async () => {
      // Two in an hour for an address.
      const limited = await cluster.start('dashboard', { env: { RATE_LIMIT_FACTOR: '0.2' } });
      const ivan = new Person(limited.url);
      const signedIn = await member('ivan', accountId, 'owner');
      for (const [name, value] of signedIn.cookies) ivan.cookies.set(name, value);
      const invite = async (email: string, account: string): Promise<number> =>
        (await ivan.ask('invite', { params: { accountId: account }, body: { email, role: 'viewer' } })).status;
      const { body: other } = await ivan.ask('createAccount', { body: { name: 'Other' } });
      const address = 'often-invited@shop.example';
      expect(await invite(address, accountId)).toBe(201);
      expect(await invite(address.toUpperCase(), other.account.id)).toBe(201);
      expect(await invite(address, other.account.id)).toBe(429);
      expect(await invite('another-one@shop.example', other.account.id)).toBe(201);
      for (const name of [
        'Shop"\n\nYour key has leaked',
        'See https://evil.example',
        'evil.example',
        'Sh\u200bop',
        '\u202eplehs',
        ' ',
      ])
        for (const [id, params] of [
          ['createAccount', {}],
          ['updateAccount', { accountId }],
        ] as const)
          expect(await owner.ask(id, { params, body: { name } })).toMatchObject({
            code: 'request.validation_failed',
            error: { param: 'name' },
          });
      limited.kill('SIGTERM');
    });
  });

  describe('API keys', () => {
    const asked = () => ({ params: { accountId } });
    const create = (body: object) => owner.ask('createKey', { ...asked(), body });

    it('are shown once, work, say when they were last used, and are refused once they are revoked', async () => {
      const gateway = await cluster.start('gateway');
      const call = async (secret: string): Promise<number> =>
        (await fetch(`${gateway.url}/v1/intents`, { headers: { authorization: `Bearer ${secret}` } })).status;
      const { body } = await create({ name: 'Till', mode: 'live', scope: 'full' });
      expect(body.secret).toMatch(/^pk_live_\w{32}$/);
      expect(body.key).toMatchObject({ name: 'Till', mode: 'live', scope: 'full', status: 'active', lastUsedAt: null });
      expect(await call(body.secret)).toBe(200);
      const { body: listed } = await owner.ask('listKeys', asked());
      expect(listed.keys).toContainEqual(body.key);
      expect(JSON.stringify(listed)).not.toContain(body.secret);

      // A gateway writes the uses of keys when it stops, too.
      gateway.kill('SIGTERM');
      await gateway.exited;
      const { body: later } = await owner.ask('listKeys', asked());
      const lastUsedAt = later.keys.find(({ id }) => id === body.key.id)?.lastUsedAt ?? '';
      expect(Date.parse(lastUsedAt)).toBeGreaterThanOrEqual(Date.parse(body.key.createdAt) - 2_000);

      const params = { accountId, keyId: body.key.id };
      const { body: revoked } = await owner.ask('revokeKey', { params });
      expect(revoked.key).toMatchObject({ status: 'revoked', lastUsedAt });
      expect((await owner.ask('revokeKey', { params })).body).toEqual(revoked);
      expect(await findKeyHolder(cluster.database, hashApiKey(body.secret))).toBeNull();
    });

    it('may expire, at a time in the future', async () => {
      const key = { name: 'Fair', mode: 'test', scope: 'payer' };
      const past = await create({ ...key, expiresAt: new Date(Date.now() - 1_000).toISOString() });
      expect([past.status, past.error?.param]).toEqual([400, 'expiresAt']);
      const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
      const { body } = await create({ ...key, expiresAt });
      expect(body.key).toMatchObject({ scope: 'payer', expiresAt, status: 'active' });
      expect(await findKeyHolder(cluster.database, hashApiKey(body.secret))).toMatchObject({
        accountId,
        scope: 'payer',
        expiresAt: new Date(expiresAt),
      });
      const where = { id: body.key.id };
      await cluster.database.prisma.apiKey.update({ where, data: { expiresAt: new Date(Date.now() - 1) } });
      expect(await findKeyHolder(cluster.database, hashApiKey(body.secret))).toBeNull();
      const { body: listed } = await owner.ask('listKeys', asked());
      expect(listed.keys.find(({ id }) => id === body.key.id)?.status).toBe('expired');
    });

    it('are at most 50 in a mode, however many are created at once', async () => {
      const { body: other } = await owner.ask('createAccount', { body: { name: 'Many keys' } });
      const params = { accountId: other.account.id };
      const body = { name: 'One of many', mode: 'test', scope: 'full' };
      await cluster.database.sql.query(
        `INSERT INTO service.api_keys (id, account_id, hash, hint, livemode, scope)
         SELECT 'key_' || n, $1, decode(md5($1 || n), 'hex'), '', false, 'full' FROM generate_series(1, 48) n`,
        [other.account.id],
      );
      const made = await Promise.all(Array.from({ length: 4 }, () => owner.ask('createKey', { params, body })));
      expect(made.map(({ code }) => code).sort()).toEqual(['limit.reached', 'limit.reached', null, null]);
      expect((await owner.ask('createKey', { params, body: { ...body, mode: 'live' } })).status).toBe(201);
    });
  });

  const CALLERS = ['no session', 'owner of another account', ...ROLES] as const;
  type Caller = (typeof CALLERS)[number];
  const EVERYONE: readonly Caller[] = CALLERS;
  const PERSONS = CALLERS.filter((caller) => caller !== 'no session');
  const MEMBERS: readonly Caller[] = ROLES;
  const INVALID = [400, 'request.validation_failed'] as const;
  const OK = [200, null] as const;

  /** Who passes, and what a request that changes nothing then gets. A new operation needs a row. */
  const MATRIX: Readonly<
    Record<
      DashboardOperationId,
      { readonly passes: readonly Caller[]; readonly gets: readonly [number, string | null] }
    >
  > = {
    signUp: { passes: EVERYONE, gets: INVALID },
    verifyEmail: { passes: EVERYONE, gets: INVALID },
    signIn: { passes: EVERYONE, gets: INVALID },
    signInWithCode: { passes: EVERYONE, gets: INVALID },
    forgotPassword: { passes: EVERYONE, gets: INVALID },
    resetPassword: { passes: EVERYONE, gets: INVALID },
    getSession: { passes: PERSONS, gets: OK },
    listSessions: { passes: PERSONS, gets: OK },
    endSession: { passes: PERSONS, gets: [404, 'session.not_found'] },
    changePassword: { passes: PERSONS, gets: INVALID },
    beginSecondFactor: { passes: PERSONS, gets: INVALID },
    confirmSecondFactor: { passes: PERSONS, gets: INVALID },
    disableSecondFactor: { passes: PERSONS, gets: INVALID },
    beginPasskeySignIn: { passes: EVERYONE, gets: OK },
    signInWithPasskey: { passes: EVERYONE, gets: INVALID },
    listPasskeys: { passes: PERSONS, gets: OK },
    beginPasskey: { passes: PERSONS, gets: INVALID },
    addPasskey: { passes: PERSONS, gets: INVALID },
    renamePasskey: { passes: PERSONS, gets: INVALID },
    removePasskey: { passes: PERSONS, gets: INVALID },
    getSignInOptions: { passes: EVERYONE, gets: OK },
    beginOidcSignIn: { passes: EVERYONE, gets: [404, 'oidc.disabled'] },
    signInWithOidc: { passes: EVERYONE, gets: INVALID },
    listIdentities: { passes: PERSONS, gets: OK },
    unlinkIdentity: { passes: PERSONS, gets: INVALID },
    createAccount: { passes: PERSONS, gets: INVALID },
    acceptInvitation: { passes: PERSONS, gets: INVALID },
    getAccount: { passes: MEMBERS, gets: OK },
    updateAccount: { passes: ['owner'], gets: INVALID },
    listMembers: { passes: MEMBERS, gets: OK },
    updateMember: { passes: ['owner'], gets: INVALID },
    removeMember: { passes: ['owner'], gets: [404, 'member.not_found'] },
    listInvitations: { passes: ['owner'], gets: OK },
    invite: { passes: ['owner'], gets: INVALID },
    withdrawInvitation: { passes: ['owner'], gets: [404, 'invitation.not_found'] },
    listKeys: { passes: ['owner', 'developer'], gets: OK },
    createKey: { passes: ['owner', 'developer'], gets: INVALID },
    revokeKey: { passes: ['owner', 'developer'], gets: [404, 'key.not_found'] },
    getSettings: { passes: MEMBERS, gets: OK },
    updateSettings: { passes: ['owner', 'developer'], gets: OK },
    getSummary: { passes: MEMBERS, gets: OK },
    listAttention: { passes: MEMBERS, gets: OK },
    markAttentionDone: { passes: ['owner', 'developer', 'support'], gets: [404, 'attention.not_found'] },
    reopenAttention: { passes: ['owner', 'developer', 'support'], gets: [404, 'attention.not_found'] },
    listEvents: { passes: MEMBERS, gets: OK },
    followAccount: { passes: MEMBERS, gets: OK },
    listRequests: { passes: ['owner', 'developer'], gets: OK },
    listTokens: { passes: PERSONS, gets: OK },
    createToken: { passes: PERSONS, gets: INVALID },
    revokeToken: { passes: PERSONS, gets: [404, 'token.not_found'] },
    beginDevice: { passes: EVERYONE, gets: INVALID },
    pollDevice: { passes: EVERYONE, gets: INVALID },
    getDevice: { passes: PERSONS, gets: [404, 'device.not_found'] },
    beginDeviceApproval: { passes: PERSONS, gets: OK },
    approveDevice: { passes: PERSONS, gets: INVALID },
    denyDevice: { passes: PERSONS, gets: [404, 'device.not_found'] },
    listAudit: { passes: ['owner', 'developer'], gets: OK },
    exportAudit: { passes: ['owner', 'developer'], gets: OK },
    // The last one, because it ends the session.
    signOut: { passes: PERSONS, gets: OK },
  };

  describe('every operation', () => {
    const requestOf = (id: DashboardOperationId): Asked => {
      const operation: DashboardOperation = DASHBOARD_OPERATIONS[id];
      return { params: { accountId, mode: 'test' }, ...(operation.body && { body: {} }) };
    };

    it('allows exactly the callers in its row of the matrix', async () => {
      const foreign = await cluster.database.prisma.account.create({ data: { id: newAccountId(), name: 'Foreign' } });
      const callers: Readonly<Record<Caller, Person>> = {
        'no session': stranger(),
        'owner of another account': await member('foreign', foreign.id, 'owner'),
        owner: await member('second-owner', accountId, 'owner'),
        developer: await member('developer', accountId, 'developer'),
        support: await member('support', accountId, 'support'),
        viewer: await member('viewer', accountId, 'viewer'),
      };
      for (const [id, { passes, gets }] of Object.entries(MATRIX) as [
        DashboardOperationId,
        (typeof MATRIX)[DashboardOperationId],
      ][])
        for (const caller of CALLERS) {
          const { status, code } = await callers[caller].ask(id, requestOf(id));
          const expected = passes.includes(caller)
            ? gets
            : caller === 'no session'
              ? [401, 'session.required']
              : caller === 'owner of another account'
                ? [404, 'account.not_found']
                : [403, 'role.insufficient'];
          expect([id, caller, status, code]).toEqual([id, caller, ...expected]);
        }
    });

    it('finds nothing of another account by its id, and changes nothing there', async () => {
      const body = { email: 'invited@shop.example', role: 'viewer' };
      const { body: invited } = await owner.ask('invite', { params: { accountId }, body });
      const key = { name: 'Till', mode: 'test', scope: 'full' };
      const { body: created } = await owner.ask('createKey', { params: { accountId }, body: key });
      const { body: session } = await owner.ask('getSession');
      const { body: sessions } = await owner.ask('listSessions');
      const other = await cluster.database.prisma.account.create({ data: { id: newAccountId(), name: 'Other' } });
      const eve = await member('eve-of-another', other.id, 'owner');
      const ids = {
        accountId: other.id,
        userId: session.user.id,
        invitationId: invited.invitation.id,
        keyId: created.key.id,
        sessionId: sessions.sessions.find(({ current }) => current)?.id ?? '',
      };
      let tried = 0;
      for (const [id, { method, path }] of Object.entries(DASHBOARD_OPERATIONS) as [
        DashboardOperationId,
        DashboardOperation,
      ][]) {
        const [, what] = /\{(userId|invitationId|keyId|sessionId)\}$/.exec(path) ?? [];
        if (what === undefined) continue;
        tried += 1;
        const asked = { params: ids, ...(method === 'patch' && { body: { role: 'viewer' } }) };
        expect([id, (await eve.ask(id, asked)).status]).toEqual([id, 404]);
        // Nor where the account is the right one, and the person none of its members.
        if (!path.includes('{accountId}')) continue;
        const { status, code } = await eve.ask(id, { ...asked, params: { ...ids, accountId } });
        expect([id, status, code]).toEqual([id, 404, 'account.not_found']);
      }
      expect(tried).toBeGreaterThanOrEqual(5);
      const { body: members } = await owner.ask('listMembers', { params: { accountId } });
      expect(members.members).toContainEqual(expect.objectContaining({ userId: ids.userId, role: 'owner' }));
      const { body: invitations } = await owner.ask('listInvitations', { params: { accountId } });
      expect(invitations.invitations.map(({ id }) => id)).toContain(ids.invitationId);
      const { body: keys } = await owner.ask('listKeys', { params: { accountId } });
      expect(keys.keys.find(({ id }) => id === ids.keyId)?.status).toBe('active');
    });

    it('is refused without the origin of the dashboard, if it can change something', async () => {
      for (const [id, operation] of Object.entries(DASHBOARD_OPERATIONS) as [
        DashboardOperationId,
        DashboardOperation,
      ][]) {
        for (const origin of ['https://evil.example', 'null', `${dashboard.url}.evil.example`, '']) {
          const { status, code } = await owner.ask(id, { ...requestOf(id), headers: { origin } });
          const passes = operation.method === 'get' || operation.anyOrigin === true;
          expect([id, origin, code === 'origin.foreign' ? status : 'passed']).toEqual([
            id,
            origin,
            passes ? 'passed' : 403,
          ]);
        }
      }
    });

    it('is in the document that the service publishes', async () => {
      const response = await fetch(`${dashboard.url}/api/openapi.json`);
      const { paths } = (await response.json()) as { paths: Record<string, Record<string, { operationId: string }>> };
      const ids = Object.values(paths).flatMap((methods) =>
        Object.values(methods).map(({ operationId }) => operationId),
      );
      expect(ids.sort()).toEqual(Object.keys(DASHBOARD_OPERATIONS).sort());
    });
  });

  it('limits sign-ins over all processes, and forgets the failed ones with a successful one', async () => {
    // Two for each person from an address.
    const env = { RATE_LIMIT_FACTOR: '0.2', TRUSTED_PROXIES: '1' };
    const headers = { 'x-forwarded-for': '192.0.2.7' };
    await member('liam', accountId, 'viewer');
    const [one, two] = await Promise.all([cluster.start('dashboard', { env }), cluster.start('dashboard', { env })]);
    const signIn = async ({ url }: Instance, password: string): Promise<Answer> =>
      new Person(url).ask('signIn', { body: { email: 'liam@shop.example', password }, headers });
    expect((await signIn(one, 'a wrong password')).status).toBe(401);
    expect((await signIn(two, PASSWORD)).status).toBe(200);
    expect((await signIn(one, 'a wrong password')).status).toBe(401);
    expect((await signIn(two, 'a wrong password')).status).toBe(401);
    const limited = await signIn(one, PASSWORD);
    expect([limited.status, limited.code, Number(limited.error?.details?.['retry_after']) > 0]).toEqual([
      429,
      'rate_limit.exceeded',
      true,
    ]);
    for (const instance of [one, two]) instance.kill('SIGTERM');
    expect(await Promise.all([one.exited, two.exited])).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ]);
  });
});
