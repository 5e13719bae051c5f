import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newAccountId } from '@pf/contracts';
import { PASSKEYS_MAX } from '@pf/contracts/dashboard';
import { auditEntries } from '@pf/database';
import { type Cluster, type Instance, startCluster, until } from '@pf/testing';
import { mailsTo, tokenFor } from '../mails.ts';
import { codeOf, memberOf, PASSWORD, Person } from '../person.ts';
import { anotherKey, Authenticator, type Deviation } from './authenticator.ts';
import { addPasskey, signInWithPasskey } from './passkeys.ts';

describe('a passkey', () => {
  let cluster: Cluster;
  let dashboard: Instance;
  let accountId: string;
  let deviant: Awaited<ReturnType<typeof withPasskey>>;
  const member = (name: string): Promise<Person> =>
    memberOf(cluster.database, dashboard.url, { name, role: 'viewer', accountId });
  const stranger = (): Person => new Person(dashboard.url);
  /** A person and the device that has their passkey. */
  const withPasskey = async (name: string) => {
    const person = await member(name);
    const device = new Authenticator();
    const { status, body } = await addPasskey(person, device);
    expect(status).toBe(201);
    return { person, device, passkeyId: body.passkey.id };
  };

  /** Waits for a mail to a person. */
  const untilTold = (name: string, text: string) =>
    until(`a mail: ${text}`, async () =>
      (await mailsTo(dashboard, `${name}@shop.example`)).some((mail) => mail.includes(text)),
    );

  beforeAll(async () => {
    cluster = await startCluster();
    dashboard = await cluster.start('dashboard');
    accountId = (await cluster.database.prisma.account.create({ data: { id: newAccountId(), name: 'Shop' } })).id;
    deviant = await withPasskey('deviant');
  });
  afterAll(() => cluster.close());

  it('is added with the password, and signs in without a code, also where the password needs one', async () => {
    const tom = await member('tom');
    const { body: factor } = await tom.ask('beginSecondFactor', { body: { password: PASSWORD } });
    expect((await tom.ask('confirmSecondFactor', { body: { code: codeOf(factor.uri) } })).status).toBe(200);
    expect((await tom.ask('beginPasskey', { body: { password: 'a wrong one' } })).code).toBe('credentials.invalid');
    const { body: begun } = await tom.ask('beginPasskey', { body: { password: PASSWORD } });
    expect(begun.options).toMatchObject({
      rp: { id: '127.0.0.1' },
      user: { name: 'tom@shop.example', displayName: 'tom' },
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const device = new Authenticator();
    const credential = device.create(dashboard.url, begun.options);
    const { status, body: added } = await tom.ask('addPasskey', { body: { name: 'Phone', credential } });
    expect(status).toBe(201);
    expect(added.passkey).toMatchObject({ name: 'Phone', lastUsedAt: null });
    await untilTold('tom', 'The passkey "Phone" was added.');
    const { body: second } = await tom.ask('beginPasskey', { body: { password: PASSWORD } });
    expect(second.options.excludeCredentials).toEqual([{ id: device.id, type: 'public-key' }]);

    const again = stranger();
    const { body } = await again.ask('beginPasskeySignIn');
    expect(Object.keys(body.options).sort()).toEqual(['challenge', 'rpId', 'timeout', 'userVerification']);
    expect(await signInWithPasskey(again, device)).toMatchObject({ status: 200, body: { next: 'signed_in' } });
    expect((await again.ask('getSession')).body.user.email).toBe('tom@shop.example');
    expect([...again.cookies.keys()]).toEqual(['pf.session_token']);
    const { passkeys } = (await tom.ask('listPasskeys')).body;
    expect(passkeys.map(({ id, name }) => [id, name])).toEqual([[added.passkey.id, 'Phone']]);
    expect(Date.parse(passkeys[0]?.lastUsedAt ?? '')).toBeGreaterThan(Date.now() - 60_000);

    const params = { passkeyId: added.passkey.id };
    const { body: renamed } = await tom.ask('renamePasskey', { params, body: { name: 'Old phone' } });
    expect(renamed.passkey).toEqual({ ...passkeys[0], name: 'Old phone' });
    const { rows } = await cluster.database.sql.query<{ id: string }>(
      `SELECT id FROM dashboard.users WHERE email = 'tom@shop.example'`,
    );
    const entries = await auditEntries(cluster.database, accountId, { actor: rows[0]?.id }, null, 10);
    expect(entries).toMatchObject([
      { action: 'passkey.renamed', subject: params.passkeyId, before: { name: 'Phone' }, after: { name: 'Old phone' } },
      { action: 'passkey.added', subject: params.passkeyId, after: { name: 'Phone' } },
      { action: 'second_factor.enabled' },
      { action: 'second_factor.begun' },
    ]);
  });

  it('begins a session of its own, whatever session the browser has', async () => {
    const { person, device } = await withPasskey('sam');
    const before = person.cookies.get('pf.session_token');
    expect((await signInWithPasskey(person, device)).status).toBe(200);
    expect(person.cookies.get('pf.session_token')).not.toBe(before);
    expect((await person.ask('listSessions')).body.sessions).toHaveLength(2);
  });

  const DEVIATIONS: Readonly<Record<string, Deviation>> = {
    'another origin': { origin: 'https://evil.example' },
    'another port of the host': { origin: 'http://127.0.0.1:1' },
    'another relying party': { rpId: 'evil.example' },
    'no verification of the person': { verified: false },
    'another challenge': { challenge: Buffer.from('a challenge of another sign-in').toString('base64url') },
  };

  it.each(Object.entries(DEVIATIONS))(
    'is refused with %s, when it is added and at sign-in',
    async (_what, deviation) => {
      const { person, device } = deviant;
      const added = await addPasskey(person, new Authenticator(), deviation);
      expect([added.status, added.code]).toEqual([401, 'passkey.invalid']);
      const visitor = stranger();
      const { status, code, cookies } = await signInWithPasskey(visitor, device, deviation);
      expect([status, code, cookies]).toEqual([401, 'passkey.invalid', []]);
      expect((await visitor.ask('getSession')).code).toBe('session.required');
      expect((await signInWithPasskey(visitor, device)).status).toBe(200);
    },
  );

  it('is refused with the signature of another key, for another person, and if it is unknown', async () => {
    const { device } = await withPasskey('vera');
    const other = await withPasskey('walt');
    const { body } = await other.person.ask('getSession');
    for (const deviation of [{ signWith: anotherKey() }, { userId: body.user.id }])
      expect((await signInWithPasskey(stranger(), device, deviation)).code).toBe('passkey.invalid');
    expect((await signInWithPasskey(stranger(), new Authenticator(), { userId: body.user.id })).code).toBe(
      'passkey.invalid',
    );
  });

  it('is refused when its counter stays or goes back, because it was copied', async () => {
    const { device } = await withPasskey('carl');
    expect((await signInWithPasskey(stranger(), device, { counter: 7 })).status).toBe(200);
    for (const counter of [7, 6, 0])
      expect((await signInWithPasskey(stranger(), device, { counter })).code).toBe('passkey.invalid');
    expect((await signInWithPasskey(stranger(), device, { counter: 8 })).status).toBe(200);
    // Devices that synchronize their passkeys do not count.
    const synced = await withPasskey('sync');
    for (const counter of [0, 0])
      expect((await signInWithPasskey(stranger(), synced.device, { counter })).status).toBe(200);
  });

  it('accepts a challenge once, in the same browser and for the same purpose', async () => {
    const { person, device } = await withPasskey('chris');
    const [here, there] = [stranger(), stranger()];
    const { body } = await here.ask('beginPasskeySignIn');
    const credential = device.get(dashboard.url, body.options);
    await there.ask('beginPasskeySignIn');
    for (const visitor of [stranger(), there])
      expect((await visitor.ask('signInWithPasskey', { body: { credential } })).code).toBe('passkey.invalid');
    const copy = stranger();
    for (const [name, value] of here.cookies) copy.cookies.set(name, value);
    expect((await here.ask('signInWithPasskey', { body: { credential } })).status).toBe(200);
    expect((await copy.ask('signInWithPasskey', { body: { credential } })).code).toBe('passkey.invalid');

    // The challenge of a new passkey does not sign in, that of a sign-in adds none, nor does that of another person.
    const { body: begun } = await person.ask('beginPasskey', { body: { password: PASSWORD } });
    const mixed = device.get(dashboard.url, begun.options);
    expect((await person.ask('signInWithPasskey', { body: { credential: mixed } })).code).toBe('passkey.invalid');
    const { body: signIn } = await person.ask('beginPasskeySignIn');
    const user = begun.options.user;
    const made = new Authenticator().create(dashboard.url, { ...signIn.options, user });
    expect((await person.ask('addPasskey', { body: { name: 'x', credential: made } })).code).toBe('passkey.invalid');
    const mallory = await member('mallory');
    const { body: theirs } = await mallory.ask('beginPasskey', { body: { password: PASSWORD } });
    person.cookies.set('pf.passkey', mallory.cookies.get('pf.passkey') ?? '');
    const planted = new Authenticator().create(dashboard.url, theirs.options);
    expect((await person.ask('addPasskey', { body: { name: 'x', credential: planted } })).code).toBe('passkey.invalid');
    expect((await person.ask('listPasskeys')).body.passkeys).toHaveLength(1);
  });

  it('is of one person: no other one lists, renames, removes or adds it', async () => {
    const { person, device, passkeyId } = await withPasskey('olga');
    const eve = await member('eve');
    const params = { passkeyId };
    expect((await eve.ask('listPasskeys')).body.passkeys).toEqual([]);
    expect((await eve.ask('renamePasskey', { params, body: { name: 'Mine' } })).code).toBe('passkey.not_found');
    expect((await eve.ask('removePasskey', { params, body: { password: PASSWORD } })).code).toBe('passkey.not_found');
    expect((await addPasskey(eve, device)).code).toBe('passkey.exists');
    expect((await person.ask('listPasskeys')).body.passkeys).toMatchObject([{ id: passkeyId, name: 'Phone' }]);
  });

  it('is removed with the password, and then refused, while sessions go on', async () => {
    const { person, device, passkeyId } = await withPasskey('rita');
    const params = { passkeyId };
    const visitor = stranger();
    expect((await signInWithPasskey(visitor, device)).status).toBe(200);
    expect((await person.ask('removePasskey', { params, body: { password: 'a wrong one' } })).code).toBe(
      'credentials.invalid',
    );
    expect((await person.ask('removePasskey', { params, body: { password: PASSWORD } })).status).toBe(200);
    expect((await signInWithPasskey(stranger(), device)).code).toBe('passkey.invalid');
    expect((await person.ask('removePasskey', { params, body: { password: PASSWORD } })).code).toBe(
      'passkey.not_found',
    );
    expect((await visitor.ask('getSession')).status).toBe(200);
    await untilTold('rita', 'The passkey "Phone" was removed.');
  });

  it('is removed by a new password, however it was set', async () => {
    const { person, device } = await withPasskey('nina');
    const next = 'another long password';
    const right = { currentPassword: PASSWORD, password: next };
    expect((await person.ask('changePassword', { body: { ...right, currentPassword: 'wrong' } })).status).toBe(401);
    expect((await signInWithPasskey(stranger(), device)).status).toBe(200);
    expect((await person.ask('changePassword', { body: right })).status).toBe(200);
    await untilTold('nina', 'was changed');
    expect((await signInWithPasskey(stranger(), device)).code).toBe('passkey.invalid');

    await person.ask('changePassword', { body: { currentPassword: next, password: PASSWORD } });
    expect((await addPasskey(person, device)).status).toBe(201);
    await stranger().ask('forgotPassword', { body: { email: 'nina@shop.example' } });
    const token = await tokenFor(dashboard, 'nina@shop.example', 'reset-password');
    expect((await stranger().ask('resetPassword', { body: { token, password: next } })).status).toBe(200);
    expect((await signInWithPasskey(stranger(), device)).code).toBe('passkey.invalid');
  });

  it(`is one of at most ${PASSKEYS_MAX}, however many are added at once`, async () => {
    const { person } = await withPasskey('max');
    await cluster.database.sql.query(
      `INSERT INTO dashboard.passkeys (id, user_id, name, credential_id, public_key, counter, created_at)
       SELECT 'pky_' || n, u.id, 'One of many', 'credential-' || n, '', 0, now()
         FROM generate_series(3, $1::int) n, dashboard.users u WHERE u.email = 'max@shop.example'`,
      [PASSKEYS_MAX],
    );
    // Each in a browser of its own: a browser has one challenge.
    const browsers = await Promise.all(
      Array.from({ length: 3 }, () => stranger().signIn('max@shop.example', PASSWORD)),
    );
    const added = await Promise.all(browsers.map((one) => addPasskey(one, new Authenticator())));
    expect(added.map(({ code }) => code).sort()).toEqual(['limit.reached', 'limit.reached', null]);
    expect((await person.ask('listPasskeys')).body.passkeys).toHaveLength(PASSKEYS_MAX);
  });
});
