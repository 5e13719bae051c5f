import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OPERATIONS } from '@pf/contracts';
import {
  DASHBOARD_OPERATIONS,
  type DashboardOperation,
  type DashboardOperationId,
  type PaymentOperationId,
  type Role,
  TOKENS_MAX,
} from '@pf/contracts/dashboard';
import { auditEntries } from '@pf/database';
import { type Cluster, type Instance, startCluster } from '@pf/testing';
import { Authenticator } from '../identity/authenticator.ts';
import { addPasskey } from '../identity/passkeys.ts';
import { codeOf, emptyAccount, memberOf, PASSWORD, Person } from '../person.ts';

const CLIENT = 'pf on laptop';

describe('device sign-in', () => {
  let cluster: Cluster;
  let dashboard: Instance;
  let accountId: string;
  let owner: Person;
  const member = (name: string, role: Role, account = accountId): Promise<Person> =>
    memberOf(cluster.database, dashboard.url, { name, role, accountId: account });
  const newAccount = (name: string): Promise<string> => emptyAccount(cluster.database, name);
  /** A program: it has neither cookies nor an origin. */
  const program = () => new Person(dashboard.url, '');
  const begin = async (clientName = CLIENT) => {
    const { status, body } = await program().ask('beginDevice', { body: { clientName } });
    expect(status).toBe(201);
    return body;
  };
  const poll = (deviceCode: string) => program().ask('pollDevice', { body: { deviceCode } });
  const decide = (person: Person, userCode: string, how: 'approveDevice' | 'denyDevice' = 'approveDevice') =>
    person.ask(how, { params: { userCode }, ...(how === 'approveDevice' && { body: { password: PASSWORD } }) });
  /** As if the program had waited. */
  const wait = (): Promise<unknown> =>
    cluster.database.sql.query(
      `UPDATE dashboard.device_requests SET polled_at = polled_at - interval_seconds * interval '1 second'`,
    );

  /** As if it had asked a moment ago, however slow the machine is. */
  const askedJustNow = (): Promise<unknown> =>
    cluster.database.sql.query(`UPDATE dashboard.device_requests SET polled_at = now() + interval '1 minute'`);

  beforeAll(async () => {
    cluster = await startCluster();
    dashboard = await cluster.start('dashboard');
    accountId = await newAccount('Shop');
    owner = await member('owner', 'owner');
  });
  afterAll(() => cluster.close());

  it('gives the program a token once, when the person has approved its code', async () => {
    const { deviceCode, userCode, ...shown } = await begin();
    expect(userCode).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(shown).toEqual({
      verificationUrl: `${dashboard.url}/device`,
      verificationUrlComplete: `${dashboard.url}/device#code=${userCode}`,
      expiresInSeconds: 600,
      intervalSeconds: 5,
    });
    expect((await poll(deviceCode)).code).toBe('device.authorization_pending');
    const { body } = await owner.ask('getDevice', {
      params: { userCode: ` ${userCode.toLowerCase().replace('-', '')}` },
    });
    expect(body.device).toMatchObject({ userCode, clientName: CLIENT, address: '127.0.0.1' });
    expect((await decide(owner, userCode)).status).toBe(200);
    expect((await owner.ask('getDevice', { params: { userCode } })).code).toBe('device.not_found');
    const granted = await poll(deviceCode);
    expect(granted.body.token).toMatchObject({ name: CLIENT, status: 'active' });
    const pf = new Person(dashboard.url, granted.body.secret);
    expect((await pf.ask('getSession')).body).toMatchObject({
      user: { email: 'owner@shop.example' },
      token: { id: granted.body.token.id },
    });
    expect((await poll(deviceCode)).code).toBe('device.expired_token');

    const entries = await auditEntries(cluster.database, accountId, {}, null, 2);
    const actor = { kind: 'person', name: 'owner@shop.example' };
    expect(entries).toMatchObject([
      { ...actor, action: 'token.created', subject: granted.body.token.id, after: { name: CLIENT } },
      { ...actor, action: 'device.approved', after: { client: CLIENT } },
    ]);
    const { rows } = await cluster.database.sql.query<{ row: string }>(
      'SELECT r::text AS row FROM dashboard.device_requests r UNION ALL SELECT e::text FROM dashboard.audit_entries e',
    );
    for (const secret of [deviceCode, granted.body.secret.slice(4)]) {
      expect(rows.map(({ row }) => row).join()).not.toContain(secret);
      expect(await readFile(dashboard.log, 'utf8')).not.toContain(secret);
    }
  });

  it('gives none for a code that is denied, has expired, or was never given out', async () => {
    const [denied, expired, late] = [await begin(), await begin(), await begin()];
    expect((await decide(owner, denied.userCode, 'denyDevice')).status).toBe(200);
    // A decision stands.
    expect((await decide(owner, denied.userCode)).code).toBe('device.not_found');
    expect((await poll(denied.deviceCode)).code).toBe('device.access_denied');
    await decide(owner, late.userCode);
    await cluster.database.sql.query(
      `UPDATE dashboard.device_requests SET expires_at = now() - interval '1 second' WHERE user_code = ANY($1)`,
      [[expired.userCode, late.userCode].map((code) => code.replace('-', ''))],
    );
    for (const how of ['approveDevice', 'denyDevice'] as const)
      expect((await decide(owner, expired.userCode, how)).code).toBe('device.not_found');
    for (const deviceCode of [expired.deviceCode, late.deviceCode, 'no-such-code'])
      expect((await poll(deviceCode)).code).toBe('device.expired_token');
  });

  it('slows down a program that polls too often', async () => {
    const { deviceCode, userCode } = await begin();
    expect((await poll(deviceCode)).code).toBe('device.authorization_pending');
    await askedJustNow();
    expect((await poll(deviceCode)).code).toBe('device.slow_down');
    await wait();
    expect((await poll(deviceCode)).code).toBe('device.authorization_pending');
    const { rows } = await cluster.database.sql.query<{ interval_seconds: number }>(
      'SELECT interval_seconds FROM dashboard.device_requests WHERE user_code = $1',
      [userCode.replace('-', '')],
    );
    expect(rows).toEqual([{ interval_seconds: 10 }]);
  });

  it('is decided only by a session, with its origin', async () => {
    const { userCode } = await begin();
    const { body } = await owner.ask('createToken', { body: { name: 'laptop' } });
    const pf = new Person(dashboard.url, body.secret);
    const ids: readonly DashboardOperationId[] = ['getDevice', 'beginDeviceApproval', 'approveDevice', 'denyDevice'];
    for (const id of ids) {
      const params = { userCode };
      const asked = { params, ...(id === 'approveDevice' && { body: { password: PASSWORD } }) };
      expect((await pf.ask(id, asked)).code).toBe('token.insufficient');
      const changes = DASHBOARD_OPERATIONS[id].method !== 'get';
      expect((await new Person(dashboard.url).ask(id, asked)).code).toBe('session.required');
      if (changes)
        expect((await owner.ask(id, { ...asked, headers: { origin: 'https://evil.example' } })).code).toBe(
          'origin.foreign',
        );
    }
    expect((await owner.ask('getDevice', { params: { userCode } })).status).toBe(200);
  });

  describe('approval', () => {
    const approve = (person: Person, userCode: string, body: object) =>
      person.ask('approveDevice', { params: { userCode }, body });
    const signed = async (person: Person, device: Authenticator, userCode: string, how = {}) => {
      const begun = await person.ask('beginDeviceApproval', { params: { userCode } });
      return { credential: device.get(person.url, begun.body.options, how) };
    };

    it('takes the password, not the session alone', async () => {
      const { deviceCode, userCode } = await begin();
      for (const body of [{}, { password: '' }, { password: PASSWORD, credential: {} }])
        expect((await approve(owner, userCode, body)).code).toBe('request.validation_failed');
      expect((await approve(owner, userCode, { password: 'a wrong password' })).code).toBe('credentials.invalid');
      expect((await poll(deviceCode)).code).toBe('device.authorization_pending');
      expect((await approve(owner, userCode, { password: PASSWORD })).status).toBe(200);
    });

    it('takes a passkey of the person, for a challenge of the approval', async () => {
      const [pat, ron] = [await member('pat', 'viewer'), await member('ron', 'viewer')];
      const [device, another] = [new Authenticator(), new Authenticator()];
      await addPasskey(pat, device);
      await addPasskey(ron, another);
      const { userCode } = await begin();
      const refused = async (body: object) => expect((await approve(pat, userCode, body)).code).toBe('passkey.invalid');
      // Of another person; without a challenge; for that of a sign-in; not verified.
      await refused(await signed(pat, another, userCode));
      const used = await signed(pat, device, userCode);
      expect((await approve(pat, 'BBBB-BBBB', used)).code).toBe('device.not_found');
      const signIn = await pat.ask('beginPasskeySignIn');
      await refused({ credential: device.get(pat.url, signIn.body.options) });
      await refused(used);
      await refused(await signed(pat, device, userCode, { verified: false }));
      expect((await approve(pat, userCode, await signed(pat, device, userCode))).status).toBe(200);
    });

    it('takes no challenge of the approval of another program', async () => {
      const vera = await member('vera', 'viewer');
      const device = new Authenticator();
      await addPasskey(vera, device);
      const [own, other] = [await begin(), await begin('of a stranger')];
      const body = await signed(vera, device, own.userCode);
      expect((await approve(vera, other.userCode, body)).code).toBe('passkey.invalid');
      expect((await poll(other.deviceCode)).code).toBe('device.authorization_pending');
      // In any spelling of its own code.
      const again = await signed(vera, device, own.userCode.toLowerCase());
      expect((await approve(vera, own.userCode, again)).status).toBe(200);
    });

    it('takes no challenge that begins a session', async () => {
      const una = await member('una', 'viewer');
      const device = new Authenticator();
      await addPasskey(una, device);
      const body = await signed(una, device, 'BBBB-BBBB');
      expect((await una.ask('signInWithPasskey', { body })).code).toBe('passkey.invalid');
    });
  });

  it('is not decided by a sign-in that waits for its second factor, which can do nothing else', async () => {
    const fay = await member('fay', 'owner');
    const { body: second } = await fay.ask('beginSecondFactor', { body: { password: PASSWORD } });
    expect((await fay.ask('confirmSecondFactor', { body: { code: codeOf(second.uri) } })).status).toBe(200);
    const { deviceCode, userCode } = await begin();
    const waiting = new Person(dashboard.url);
    const signIn = { body: { email: 'fay@shop.example', password: PASSWORD } };
    expect((await waiting.ask('signIn', signIn)).body).toEqual({ next: 'second_factor' });
    expect(waiting.cookies.size).toBeGreaterThan(0);
    const params = { accountId, mode: 'test', userCode };
    for (const operation of Object.values(DASHBOARD_OPERATIONS) as DashboardOperation[]) {
      if (operation.access === 'anyone') continue;
      const id = operation.id as DashboardOperationId;
      const { code } = await waiting.ask(id, { params, ...(operation.body && { body: {} }) });
      expect([id, code]).toEqual([id, 'session.required']);
    }
    for (const [id, { method }] of Object.entries(OPERATIONS) as [PaymentOperationId, { readonly method: string }][]) {
      const { code } = await waiting.pay(id, { accountId, ...(method !== 'get' && { body: {} }) });
      expect([id, code]).toEqual([id, 'session.required']);
    }
    expect((await poll(deviceCode)).code).toBe('device.authorization_pending');
    expect((await waiting.ask('signInWithCode', { body: { code: second.backupCodes[0] } })).status).toBe(200);
    expect((await decide(waiting, userCode)).status).toBe(200);
  });

  it('sets no cookies for programs, and reads none', async () => {
    const headers = { ...owner.headers, origin: 'https://evil.example' };
    const begun = await owner.ask('beginDevice', { body: { clientName: CLIENT }, headers });
    expect([begun.status, begun.cookies]).toEqual([201, []]);
    const polled = await owner.ask('pollDevice', { body: { deviceCode: begun.body.deviceCode }, headers });
    expect([polled.code, polled.cookies]).toEqual(['device.authorization_pending', []]);
  });

  it('ends with a new password, also after it was approved', async () => {
    const pia = await member('pia', 'viewer');
    const { deviceCode, userCode } = await begin();
    await decide(pia, userCode);
    const body = { currentPassword: PASSWORD, password: 'another long password' };
    expect((await pia.ask('changePassword', { body })).status).toBe(200);
    expect((await poll(deviceCode)).code).toBe('device.expired_token');
  });

  it('respects the limit of tokens', async () => {
    const max = await member('max', 'viewer');
    const { deviceCode, userCode } = await begin();
    await decide(max, userCode);
    for (let count = 0; count < TOKENS_MAX; count += 1) await max.ask('createToken', { body: { name: 'x' } });
    expect((await poll(deviceCode)).code).toBe('limit.reached');
    const next = await begin();
    expect((await decide(max, next.userCode)).code).toBe('limit.reached');
    expect((await decide(max, next.userCode, 'denyDevice')).status).toBe(200);
  });

  it('lets a person guess few codes', async () => {
    // Three of each kind; one with a password.
    const other = await cluster.start('dashboard', { env: { RATE_LIMIT_FACTOR: '0.1' } });
    const { userCode } = await begin();
    for (const [id, most] of [
      ['getDevice', 3],
      ['approveDevice', 1],
      ['denyDevice', 3],
    ] as const) {
      const asked = id === 'approveDevice' && { body: { password: PASSWORD } };
      const guesser = new Person(other.url);
      const one = await member(`guesser-${id.toLowerCase()}`, 'viewer');
      for (const [name, value] of one.cookies) guesser.cookies.set(name, value);
      for (let count = 0; count < most; count += 1)
        expect((await guesser.ask(id, { params: { userCode: 'BBBB-BBBB' }, ...asked })).code).toBe('device.not_found');
      expect((await guesser.ask(id, { params: { userCode }, ...asked })).code).toBe('rate_limit.exceeded');
    }
  });
});
