import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newAccountId } from '@pf/contracts';
import { auditEntries } from '@pf/database';
import { type Cluster, type Instance, startCluster, until } from '@pf/testing';
import { mailsTo, tokenFor } from '../mails.ts';
import { type Answer, codeOf, memberOf, PASSWORD, Person } from '../person.ts';
import { OpenIdProvider, type Someone } from './openid-provider.ts';

describe('a sign-in at the identity provider', () => {
  const provider = new OpenIdProvider();
  let cluster: Cluster;
  let dashboard: Instance;
  let accountId: string;
  const stranger = (): Person => new Person(dashboard.url);
  const member = (name: string): Promise<Person> =>
    memberOf(cluster.database, dashboard.url, { name, role: 'viewer', accountId });
  const someone = (name: string, change: Partial<Someone> = {}): Someone => ({
    subject: `id-of-${name}`,
    email: `${name}@shop.example`,
    emailVerified: true,
    name,
    ...change,
  });
  const begin = async (browser: Person): Promise<string> => (await browser.ask('beginOidcSignIn')).body.url;
  const complete = (browser: Person, parameters: string): Promise<Answer<{ next: string }>> =>
    browser.ask('signInWithOidc', { body: { parameters } });
  const signIn = async (browser: Person, as: Someone | null): Promise<Answer<{ next: string }>> =>
    complete(browser, await provider.signIn(await begin(browser), as));
  const personOf = async (browser: Person) => (await browser.ask('getSession')).body.user;
  const isRegistered = async (email: string): Promise<boolean> =>
    (await cluster.database.prisma.user.count({ where: { email } })) > 0;

  beforeAll(async () => {
    cluster = await startCluster();
    dashboard = await cluster.start('dashboard', { env: await provider.listen() });
    provider.serve(dashboard.url);
    accountId = (await cluster.database.prisma.account.create({ data: { id: newAccountId(), name: 'Shop' } })).id;
  });
  afterAll(async () => {
    await cluster.close();
    await provider.close();
  });

  it('registers a person whose address the provider has verified, and recognizes them the next time', async () => {
    const first = stranger();
    expect((await first.ask('getSignInOptions')).body).toEqual({ oidc: { name: 'Example ID' } });
    expect(await signIn(first, someone('nora', { email: 'Nora@Shop.example' }))).toMatchObject({
      status: 200,
      body: { next: 'signed_in' },
    });
    const nora = await personOf(first);
    expect(nora).toMatchObject({ name: 'nora', email: 'nora@shop.example' });
    expect([...first.cookies.keys()]).toEqual(['pf.session_token']);
    // By their identity, whatever address the provider has for them now.
    const again = stranger();
    expect((await signIn(again, someone('nora', { email: 'other@shop.example', emailVerified: false }))).status).toBe(
      200,
    );
    expect(await personOf(again)).toEqual(nora);
    expect(await isRegistered('other@shop.example')).toBe(false);
    // Without a password, which can be set by mail.
    await stranger().ask('forgotPassword', { body: { email: 'nora@shop.example' } });
    const token = await tokenFor(dashboard, 'nora@shop.example', 'reset-password');
    expect((await stranger().ask('resetPassword', { body: { token, password: PASSWORD } })).status).toBe(200);
    expect(await personOf(await stranger().signIn('nora@shop.example', PASSWORD))).toEqual(nora);
  });

  it('links to the user who confirmed the address, notifies them and asks for their code', async () => {
    const lena = await member('lena');
    const { body: factor } = await lena.ask('beginSecondFactor', { body: { password: PASSWORD } });
    expect((await lena.ask('confirmSecondFactor', { body: { code: codeOf(factor.uri) } })).status).toBe(200);
    const { id } = await personOf(lena);
    const browser = stranger();
    expect((await signIn(browser, someone('lena'))).body).toEqual({ next: 'second_factor' });
    expect((await browser.ask('getSession')).code).toBe('session.required');
    // The next code: each is accepted once.
    const code = codeOf(factor.uri, Date.now() + 30_000);
    expect((await browser.ask('signInWithCode', { body: { code } })).status).toBe(200);
    expect((await personOf(browser)).id).toBe(id);
    await until('the mail', async () =>
      (await mailsTo(dashboard, 'lena@shop.example')).some((text) => text.includes('with Example ID')),
    );
    const entries = await auditEntries(cluster.database, accountId, { actor: id }, null, 2);
    expect(entries[0]).toMatchObject({ action: 'identity.linked', subject: id });
  });

  it('is refused where the provider has not verified the address, and registers no user', async () => {
    for (const change of [{ emailVerified: false }, { email: undefined }] as const) {
      const { email: _none, ...rest } = someone('ulla');
      const as = 'email' in change ? rest : someone('ulla', change);
      expect((await signIn(stranger(), as)).code).toBe('oidc.email_unverified');
    }
    expect(await isRegistered('ulla@shop.example')).toBe(false);
    // Nor does it open the account of another person.
    await member('vic');
    const eve = stranger();
    expect((await signIn(eve, someone('eve', { email: 'vic@shop.example', emailVerified: false }))).code).toBe(
      'oidc.email_unverified',
    );
    expect((await eve.ask('getSession')).code).toBe('session.required');
  });

  it('is refused where the address was registered here and never confirmed', async () => {
    const email = 'wanda@shop.example';
    await stranger().ask('signUp', { body: { name: 'Not Wanda', email, password: PASSWORD } });
    await tokenFor(dashboard, email, 'verify-email');
    const wanda = stranger();
    expect((await signIn(wanda, someone('wanda'))).code).toBe('email.unverified');
    await tokenFor(dashboard, email, 'verify-email', 2);
    // Who reads the mail of the address sets a new password, and so confirms it.
    await stranger().ask('forgotPassword', { body: { email } });
    const token = await tokenFor(dashboard, email, 'reset-password');
    await stranger().ask('resetPassword', { body: { token, password: 'another long password' } });
    expect((await signIn(wanda, someone('wanda'))).body).toEqual({ next: 'signed_in' });
  });

  it('is completed once, in the browser that began it, with its own response', async () => {
    const [here, there] = [stranger(), stranger()];
    const parameters = await provider.signIn(await begin(here), someone('hanna'));
    expect((await complete(there, parameters)).code).toBe('oidc.refused');
    expect((await complete(here, parameters)).status).toBe(200);
    expect((await complete(here, parameters)).code).toBe('oidc.refused');
    // A response to another browser's sign-in, with the code of another person.
    const own = await begin(there);
    const foreign = await provider.signIn(await begin(here), someone('hanna'));
    expect(own).not.toBe('');
    expect((await complete(there, foreign)).code).toBe('oidc.refused');
    expect((await there.ask('getSession')).code).toBe('session.required');
  });

  it('is refused where the person turns back at the provider', async () => {
    expect((await signIn(stranger(), null)).code).toBe('oidc.refused');
    expect((await complete(stranger(), 'code=of-nothing')).code).toBe('oidc.refused');
  });

  it('is unlinked only by its person, with the password, who is notified; it can then no longer sign in', async () => {
    const olga = await member('olga');
    const other = await member('otto');
    const [{ id: userId }, as] = [await personOf(olga), someone('olga')];
    await signIn(stranger(), as);
    const { body } = await olga.ask('listIdentities');
    const [linked] = body.identities;
    expect(body).toMatchObject({ hasPassword: true, identities: [{ subject: as.subject, provider: 'Example ID' }] });
    expect((await other.ask('listIdentities')).body.identities).toEqual([]);
    const unlink = (person: Person, password: string) =>
      person.ask('unlinkIdentity', { params: { identityId: linked?.id ?? '' }, body: { password } });
    expect((await unlink(olga, 'another long password')).code).toBe('credentials.invalid');
    expect((await unlink(other, PASSWORD)).code).toBe('identity.not_found');
    expect((await unlink(olga, PASSWORD)).status).toBe(200);
    expect((await unlink(olga, PASSWORD)).code).toBe('identity.not_found');
    expect((await olga.ask('listIdentities')).body).toEqual({ hasPassword: true, identities: [] });
    await until('the mail', async () =>
      (await mailsTo(dashboard, 'olga@shop.example')).some((text) => text.includes('was unlinked')),
    );
    const [entry] = await auditEntries(cluster.database, accountId, { actor: userId }, null, 1);
    expect(entry).toMatchObject({ action: 'identity.unlinked', subject: userId, before: { issuer: linked?.issuer } });
    // With an address that is another person's now, or none, it opens nothing.
    expect((await signIn(stranger(), { ...as, emailVerified: false })).code).toBe('oidc.email_unverified');
    // The provider has verified the address of its person: that links it as the first time.
    const again = stranger();
    expect((await signIn(again, as)).body).toEqual({ next: 'signed_in' });
    expect((await personOf(again)).id).toBe(userId);
  });

  it('stays linked while it is the only way in which its person can sign in', async () => {
    const email = 'rita@shop.example';
    const rita = stranger();
    await signIn(rita, someone('rita'));
    const { body } = await rita.ask('listIdentities');
    const params = { identityId: body.identities[0]?.id ?? '' };
    expect(body.hasPassword).toBe(false);
    expect((await rita.ask('unlinkIdentity', { params, body: { password: PASSWORD } })).code).toBe('identity.only_way');
    await stranger().ask('forgotPassword', { body: { email } });
    const token = await tokenFor(dashboard, email, 'reset-password');
    expect((await stranger().ask('resetPassword', { body: { token, password: PASSWORD } })).status).toBe(200);
    const again = await stranger().signIn(email, PASSWORD);
    expect((await again.ask('listIdentities')).body).toEqual({ hasPassword: true, identities: [] });
  });

  it('opens nothing after a new password, which its person may link to it again', async () => {
    const email = 'mia@shop.example';
    const [mia, eve] = [await member('mia'), someone('eve-of-mia', { email })];
    const { id } = await personOf(mia);
    await signIn(stranger(), eve);
    await stranger().ask('forgotPassword', { body: { email } });
    const token = await tokenFor(dashboard, email, 'reset-password');
    expect((await stranger().ask('resetPassword', { body: { token, password: PASSWORD } })).status).toBe(200);
    // The provider vouches for the address of the other one no longer.
    expect((await signIn(stranger(), { ...eve, emailVerified: false })).code).toBe('oidc.email_unverified');
    const own = stranger();
    expect((await signIn(own, someone('mia'))).body).toEqual({ next: 'signed_in' });
    expect((await personOf(own)).id).toBe(id);
    const again = await stranger().signIn(email, PASSWORD);
    expect((await again.ask('listIdentities')).body.identities).toMatchObject([{ subject: 'id-of-mia' }]);
    const body = { currentPassword: PASSWORD, password: 'another long password' };
    expect((await again.ask('changePassword', { body })).status).toBe(200);
    expect((await again.ask('listIdentities')).body.identities).toEqual([]);
  });

  it('is refused where the address is that of another person only in lower case: the Kelvin sign is no k', async () => {
    await member('kim');
    const eve = stranger();
    expect((await signIn(eve, someone('eve-of-kim', { email: '\u212Aim@shop.example' }))).code).toBe(
      'oidc.email_unverified',
    );
    expect((await eve.ask('getSession')).code).toBe('session.required');
  });

  it('is unavailable while the provider is; passwords and passkeys still work', async () => {
    const env = { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b' };
    const other = await cluster.start('dashboard', { env });
    const browser = new Person(other.url);
    const { status, error } = await browser.ask('beginOidcSignIn');
    expect([status, error?.code]).toEqual([503, 'service.unavailable']);
    await member('zoe');
    expect((await browser.ask('signIn', { body: { email: 'zoe@shop.example', password: PASSWORD } })).status).toBe(200);
  });
});
