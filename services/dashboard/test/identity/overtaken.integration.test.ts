import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { personOfResetLink, resetPassword } from '@pf/database';
import { type Cluster, type Instance, startCluster } from '@pf/testing';
import { hashPassword } from 'better-auth/crypto';
import { tokenFor } from '../mails.ts';
import { overtaken } from '../overtaken.ts';
import { type Answer, codeOf, emptyAccount, memberOf, PASSWORD, Person } from '../person.ts';
import { Authenticator } from './authenticator.ts';
import { OpenIdProvider } from './openid-provider.ts';
import { addPasskey } from './passkeys.ts';

const BY = { kind: 'person', id: null, name: '', address: null, userAgent: null, requestId: null } as const;
const NEW_PASSWORD = 'a password that was reset';

describe.each(['locked', 'done'] as const)('a request that a new password overtakes, its person %s', (when) => {
  const provider = new OpenIdProvider();
  let cluster: Cluster;
  let dashboard: Instance;
  let accountId: string;
  const stranger = (): Person => new Person(dashboard.url);
  const emailOf = (name: string): string => `${name}@shop.example`;
  const member = (name: string): Promise<Person> =>
    memberOf(cluster.database, dashboard.url, { name, role: 'viewer', accountId });
  const signIn = (browser: Person, name: string): Promise<Answer> =>
    browser.ask('signIn', { body: { email: emailOf(name), password: PASSWORD } });

  /** Makes a request while the password of a person is reset, by the newest of so many mails. */
  const behindReset = async <Body>(
    name: string,
    request: () => Promise<Answer<Body>>,
    mails = 1,
  ): Promise<Answer<Body>> => {
    await stranger().ask('forgotPassword', { body: { email: emailOf(name) } });
    const token = await tokenFor(dashboard, emailOf(name), 'reset-password', mails);
    const at = new Date();
    const person = await personOfResetLink(cluster.database, token, at);
    if (!person) throw new Error('The link is invalid.');
    const reset = { token, person, hash: await hashPassword(NEW_PASSWORD), at };
    return overtaken(cluster.database, (database) => resetPassword(database, reset, BY), request, when);
  };
  /** How many sessions, identities and challenges there are of a person. */
  const left = async (name: string): Promise<number> => {
    const { rows } = await cluster.database.sql.query<{ count: number }>(
      `SELECT (SELECT count(*) FROM dashboard.sessions WHERE user_id = u.id)::int
            + (SELECT count(*) FROM dashboard.provider_identities WHERE user_id = u.id)::int
            + (SELECT count(*) FROM dashboard.verifications WHERE value = u.id)::int AS count
         FROM dashboard.users u WHERE email = $1`,
      [emailOf(name)],
    );
    return rows[0]?.count ?? -1;
  };
  const withSecondFactor = async (name: string): Promise<{ readonly person: Person; readonly uri: string }> => {
    const person = await member(name);
    const { body } = await person.ask('beginSecondFactor', { body: { password: PASSWORD } });
    expect((await person.ask('confirmSecondFactor', { body: { code: codeOf(body.uri) } })).status).toBe(200);
    return { person, uri: body.uri };
  };
  /** The request with which a sign-in at the provider ends that has begun now. */
  const atProvider = async (name: string): Promise<() => Promise<Answer>> => {
    const browser = stranger();
    const { url } = (await browser.ask('beginOidcSignIn')).body;
    const as = { subject: `id-of-${name}`, email: emailOf(name), emailVerified: true, name };
    const parameters = await provider.signIn(url, as);
    return () => browser.ask('signInWithOidc', { body: { parameters } });
  };

  beforeAll(async () => {
    cluster = await startCluster();
    dashboard = await cluster.start('dashboard', { env: await provider.listen() });
    provider.serve(dashboard.url);
    accountId = await emptyAccount(cluster.database, 'Shop');
  });
  afterAll(async () => {
    await cluster.close();
    await provider.close();
  });

  it('begins no session with the password before', async () => {
    await member('pat');
    expect((await behindReset('pat', () => signIn(stranger(), 'pat'))).code).toBe('credentials.invalid');
    expect(await left('pat')).toBe(0);
    await stranger().signIn(emailOf('pat'), NEW_PASSWORD);
  });

  it('asks for no code after the password before', async () => {
    await withSecondFactor('quinn');
    expect((await behindReset('quinn', () => signIn(stranger(), 'quinn'))).code).toBe('credentials.invalid');
    expect(await left('quinn')).toBe(0);
  });

  it('begins no session with a code that follows the password before', async () => {
    const { uri } = await withSecondFactor('rosa');
    const browser = stranger();
    expect((await signIn(browser, 'rosa')).body).toEqual({ next: 'second_factor' });
    // The next code: each is accepted once.
    const code = codeOf(uri, Date.now() + 30_000);
    const answer = await behindReset('rosa', () => browser.ask('signInWithCode', { body: { code } }));
    expect(answer.code).toBe('second_factor.invalid');
    expect(await left('rosa')).toBe(0);
  });

  it('begins no session with a passkey from before', async () => {
    const device = new Authenticator();
    await addPasskey(await member('sam'), device);
    const browser = stranger();
    const { body } = await browser.ask('beginPasskeySignIn');
    const credential = device.get(dashboard.url, body.options);
    const answer = await behindReset('sam', () => browser.ask('signInWithPasskey', { body: { credential } }));
    expect(answer.code).toBe('passkey.invalid');
    expect(await left('sam')).toBe(0);
  });

  it('begins no session with an identity that it unlinks', async () => {
    await member('tina');
    expect((await (await atProvider('tina'))()).status).toBe(200);
    expect((await behindReset('tina', await atProvider('tina'))).code).toBe('oidc.refused');
    expect(await left('tina')).toBe(0);
  });

  it('links no identity by a sign-in at the provider that began before', async () => {
    await member('uma');
    expect((await behindReset('uma', await atProvider('uma'))).code).toBe('oidc.refused');
    const late = await atProvider('uma');
    expect((await behindReset('uma', () => stranger().ask('getSignInOptions'), 2)).status).toBe(200);
    expect((await late()).code).toBe('oidc.refused');
    expect(await left('uma')).toBe(0);
    // One that has begun since.
    expect((await (await atProvider('uma'))()).status).toBe(200);
  });

  it('begins no session in place of one that it ends', async () => {
    const { person: vera } = await withSecondFactor('vera');
    const disable = () => vera.ask('disableSecondFactor', { body: { password: PASSWORD } });
    expect((await behindReset('vera', disable)).code).toBe('session.required');
    expect(await left('vera')).toBe(0);
    const again = { email: emailOf('vera'), password: NEW_PASSWORD };
    expect((await stranger().ask('signIn', { body: again })).body).toEqual({ next: 'second_factor' });

    const wim = await member('wim');
    const { body } = await wim.ask('beginSecondFactor', { body: { password: PASSWORD } });
    const confirm = () => wim.ask('confirmSecondFactor', { body: { code: codeOf(body.uri) } });
    expect((await behindReset('wim', confirm)).code).toBe('session.required');
    expect(await left('wim')).toBe(0);
    await stranger().signIn(emailOf('wim'), NEW_PASSWORD);
  });
});
