import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OPERATIONS } from '@pf/contracts';
import {
  DASHBOARD_OPERATIONS,
  type DashboardOperationId,
  PAYMENT_CHANGES,
  type PaymentChange,
  PERSONAL_ACTIONS,
  PRIVATE_ACTIONS,
} from '@pf/contracts/dashboard';
import { auditEntries, type AuditEntry, recordChange } from '@pf/database';
import { events, samples } from '@pf/domain/testing';
import { type Cluster, type Instance, startCluster, until } from '@pf/testing';
import { Authenticator } from '../identity/authenticator.ts';
import { OpenIdProvider } from '../identity/openid-provider.ts';
import { addPasskey, signInWithPasskey } from '../identity/passkeys.ts';
import { addIntent } from '../insights/payments.ts';
import { tokenFor } from '../mails.ts';
import { codeOf, emptyAccount, memberOf, PASSWORD, Person } from '../person.ts';

type Operations = typeof DASHBOARD_OPERATIONS;
/** The operations that change something. */
type Change = {
  [Id in DashboardOperationId]: Operations[Id] extends { readonly action: string } ? Id : never;
}[DashboardOperationId];

const AGENT = 'a browser of the test';
const NEXT_PASSWORD = 'another long password';

describe('the audit log', () => {
  let cluster: Cluster;
  let dashboard: Instance;
  let accountId: string;
  let owner: Person;
  /** What the gateway of this test answers. */
  let answer: { status: number; body: unknown; headers?: Readonly<Record<string, string>> } | 'hang' | 'close';
  let received = 0;
  const provider = new OpenIdProvider();
  const gateway = createServer((request, response) => {
    request.resume().on('end', () => {
      received += 1;
      if (answer === 'hang') return;
      if (answer === 'close') response.destroy();
      else {
        response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
        response.end(JSON.stringify(answer.body));
      }
    });
  });
  const member = (name: string, role: 'owner' | 'viewer', account = accountId): Promise<Person> =>
    memberOf(cluster.database, dashboard.url, { name, role, accountId: account });
  const newAccount = (name: string): Promise<string> => emptyAccount(cluster.database, name);
  const entries = (of = accountId): Promise<readonly AuditEntry[]> =>
    auditEntries(cluster.database, of, {}, null, 1_000);
  const idOf = async (email: string): Promise<string> =>
    (await cluster.database.prisma.user.findUniqueOrThrow({ where: { email } })).id;
  const params = () => ({ accountId });
  const headers = { 'user-agent': AGENT };

  beforeAll(async () => {
    gateway.listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    cluster = await startCluster();
    dashboard = await cluster.start('dashboard', {
      env: {
        GATEWAY_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
        ...(await provider.listen()),
      },
    });
    provider.serve(dashboard.url);
    accountId = await newAccount('Shop');
    owner = await member('owner', 'owner');
  });
  afterAll(async () => {
    await cluster.close();
    await provider.close();
    gateway.closeAllConnections();
    gateway.close();
    await once(gateway, 'close');
  });

  /** A person of one step, and what they have done last. */
  const step = (name: string, role: 'owner' | 'viewer' = 'viewer') => member(name, role);
  const invited = async (email: string): Promise<string> => {
    await owner.ask('invite', { params: params(), body: { email, role: 'viewer' } });
    return tokenFor(dashboard, email, 'accept-invitation');
  };
  const enrolled = async (person: Person): Promise<{ readonly uri: string; readonly backup: string }> => {
    const { body } = await person.ask('beginSecondFactor', { body: { password: PASSWORD } });
    return { uri: body.uri, backup: body.backupCodes[0] ?? '' };
  };
  const withFactor = async (name: string): Promise<{ readonly person: Person; readonly backup: string }> => {
    const person = await step(name);
    const { uri, backup } = await enrolled(person);
    expect((await person.ask('confirmSecondFactor', { body: { code: codeOf(uri) } })).status).toBe(200);
    return { person, backup };
  };

  const attentionItem = async (state: 'open' | 'done') => {
    const of = { ...params(), mode: 'test' };
    const { body } = await owner.ask('listAttention', { params: of, query: { state } });
    return { ...of, itemId: body.attention[0]?.id ?? '' };
  };
  const device = async () => (await owner.ask('beginDevice', { body: { clientName: 'pf' } })).body;

  /** How each change is made. Resolves with who made it, by e-mail address, and the account whose log shows it. */
  interface Made {
    readonly by: string;
    /** Null: in none, because the person is a member of none. */
    readonly account?: string | null;
    readonly status: number;
  }
  const CHANGES: Readonly<Record<Change, () => Promise<Made>>> = {
    async signUp() {
      const by = 'new@shop.example';
      const body = { name: 'New', email: by, password: PASSWORD };
      return { by, account: null, ...(await new Person(dashboard.url).ask('signUp', { body, headers })) };
    },
    async verifyEmail() {
      const by = 'new@shop.example';
      const token = await tokenFor(dashboard, by, 'verify-email');
      const body = { token, password: PASSWORD };
      return { by, account: null, ...(await new Person(dashboard.url).ask('verifyEmail', { body, headers })) };
    },
    async signIn() {
      const by = 'owner@shop.example';
      const body = { email: 'Owner@shop.example', password: PASSWORD };
      return { by, ...(await new Person(dashboard.url).ask('signIn', { body, headers })) };
    },
    async signInWithCode() {
      const by = 'coded@shop.example';
      const { backup } = await withFactor('coded');
      const person = new Person(dashboard.url);
      await person.ask('signIn', { body: { email: by, password: PASSWORD } });
      return { by, ...(await person.ask('signInWithCode', { body: { code: backup }, headers })) };
    },
    async forgotPassword() {
      const by = 'forgetful@shop.example';
      await step('forgetful');
      return { by, ...(await new Person(dashboard.url).ask('forgotPassword', { body: { email: by }, headers })) };
    },
    async resetPassword() {
      const by = 'forgetful@shop.example';
      const token = await tokenFor(dashboard, by, 'reset-password');
      const body = { token, password: NEXT_PASSWORD };
      return { by, ...(await new Person(dashboard.url).ask('resetPassword', { body, headers })) };
    },
    async signOut() {
      return { by: 'leaving@shop.example', ...(await (await step('leaving')).ask('signOut', { headers })) };
    },
    async endSession() {
      const person = await step('ending');
      const { body } = await person.ask('listSessions');
      const sessionId = body.sessions[0]?.id ?? '';
      const made = await person.ask('endSession', { params: { sessionId }, headers });
      return { by: 'ending@shop.example', ...made };
    },
    async changePassword() {
      const body = { currentPassword: PASSWORD, password: NEXT_PASSWORD };
      const made = await (await step('changing')).ask('changePassword', { body, headers });
      return { by: 'changing@shop.example', ...made };
    },
    async beginSecondFactor() {
      const made = await (await step('beginning')).ask('beginSecondFactor', { body: { password: PASSWORD }, headers });
      return { by: 'beginning@shop.example', ...made };
    },
    async confirmSecondFactor() {
      const person = await step('confirming');
      const { uri } = await enrolled(person);
      const made = await person.ask('confirmSecondFactor', { body: { code: codeOf(uri) }, headers });
      return { by: 'confirming@shop.example', ...made };
    },
    async disableSecondFactor() {
      const { person } = await withFactor('disabling');
      const made = await person.ask('disableSecondFactor', { body: { password: PASSWORD }, headers });
      return { by: 'disabling@shop.example', ...made };
    },
    async addPasskey() {
      return {
        by: 'adding@shop.example',
        ...(await addPasskey(await step('adding'), new Authenticator(), { headers })),
      };
    },
    async signInWithPasskey() {
      const by = 'keyed@shop.example';
      const device = new Authenticator();
      await addPasskey(await step('keyed'), device);
      return { by, ...(await signInWithPasskey(new Person(dashboard.url), device, { headers })) };
    },
    async renamePasskey() {
      const person = await step('renaming');
      const { body } = await addPasskey(person, new Authenticator());
      const params = { passkeyId: body.passkey.id };
      const made = await person.ask('renamePasskey', { params, body: { name: 'Old phone' }, headers });
      return { by: 'renaming@shop.example', ...made };
    },
    async removePasskey() {
      const person = await step('removing');
      const { body } = await addPasskey(person, new Authenticator());
      const params = { passkeyId: body.passkey.id };
      const made = await person.ask('removePasskey', { params, body: { password: PASSWORD }, headers });
      return { by: 'removing@shop.example', ...made };
    },
    async createToken() {
      const person = await step('creating');
      const made = await person.ask('createToken', { body: { name: 'laptop' }, headers });
      return { by: 'creating@shop.example', ...made };
    },
    async revokeToken() {
      const person = await step('revoking');
      const { body } = await person.ask('createToken', { body: { name: 'laptop' } });
      const made = await person.ask('revokeToken', { params: { tokenId: body.token.id }, headers });
      return { by: 'revoking@shop.example', ...made };
    },
    async approveDevice() {
      const person = await step('approving');
      const { userCode } = await device();
      const made = await person.ask('approveDevice', { params: { userCode }, body: { password: PASSWORD }, headers });
      return { by: 'approving@shop.example', ...made };
    },
    async denyDevice() {
      const person = await step('denying');
      const { userCode } = await device();
      return { by: 'denying@shop.example', ...(await person.ask('denyDevice', { params: { userCode }, headers })) };
    },
    async pollDevice() {
      const person = await step('connecting');
      const { deviceCode, userCode } = await device();
      await person.ask('approveDevice', { params: { userCode }, body: { password: PASSWORD } });
      const made = await new Person(dashboard.url).ask('pollDevice', { body: { deviceCode }, headers });
      return { by: 'connecting@shop.example', ...made };
    },
    async createAccount() {
      const made = await owner.ask('createAccount', { body: { name: 'Second shop' }, headers });
      return { by: 'owner@shop.example', account: made.body.account.id, status: made.status };
    },
    async acceptInvitation() {
      const person = await memberOf(cluster.database, dashboard.url, {
        name: 'joining',
        role: 'owner',
        accountId: await newAccount('Theirs'),
      });
      const body = { token: await invited('joining@shop.example') };
      return { by: 'joining@shop.example', ...(await person.ask('acceptInvitation', { body, headers })) };
    },
    async updateAccount() {
      const made = await owner.ask('updateAccount', { params: params(), body: { name: 'Bar' }, headers });
      return { by: 'owner@shop.example', ...made };
    },
    async updateSettings() {
      const body = { branding: { name: 'Bar' } };
      return { by: 'owner@shop.example', ...(await owner.ask('updateSettings', { params: params(), body, headers })) };
    },
    async updateMember() {
      await step('changed');
      const of = { ...params(), userId: await idOf('changed@shop.example') };
      const made = await owner.ask('updateMember', { params: of, body: { role: 'support' }, headers });
      return { by: 'owner@shop.example', ...made };
    },
    async removeMember() {
      const of = { ...params(), userId: await idOf('changed@shop.example') };
      return { by: 'owner@shop.example', ...(await owner.ask('removeMember', { params: of, headers })) };
    },
    async invite() {
      const body = { email: 'later@shop.example', role: 'viewer' };
      return { by: 'owner@shop.example', ...(await owner.ask('invite', { params: params(), body, headers })) };
    },
    async withdrawInvitation() {
      const { body } = await owner.ask('listInvitations', { params: params() });
      const of = { ...params(), invitationId: body.invitations[0]?.id ?? '' };
      return { by: 'owner@shop.example', ...(await owner.ask('withdrawInvitation', { params: of, headers })) };
    },
    async createKey() {
      const body = { name: 'Till', mode: 'test', scope: 'full' };
      return { by: 'owner@shop.example', ...(await owner.ask('createKey', { params: params(), body, headers })) };
    },
    async revokeKey() {
      const { body } = await owner.ask('listKeys', { params: params() });
      const of = { ...params(), keyId: body.keys.find(({ status }) => status === 'active')?.id ?? '' };
      return { by: 'owner@shop.example', ...(await owner.ask('revokeKey', { params: of, headers })) };
    },
    async signInWithOidc() {
      const by = 'federated@shop.example';
      await step('federated');
      const person = new Person(dashboard.url);
      const { body } = await person.ask('beginOidcSignIn');
      const parameters = await provider.signIn(body.url, { subject: 'federated', email: by, emailVerified: true });
      return { by, ...(await person.ask('signInWithOidc', { body: { parameters }, headers })) };
    },
    async unlinkIdentity() {
      const by = 'unlinking@shop.example';
      const person = await step('unlinking');
      const browser = new Person(dashboard.url);
      const { body } = await browser.ask('beginOidcSignIn');
      const parameters = await provider.signIn(body.url, { subject: 'unlinking', email: by, emailVerified: true });
      await browser.ask('signInWithOidc', { body: { parameters } });
      const { body: linked } = await person.ask('listIdentities');
      const params = { identityId: linked.identities[0]?.id ?? '' };
      return { by, ...(await person.ask('unlinkIdentity', { params, body: { password: PASSWORD }, headers })) };
    },
    async markAttentionDone() {
      const wrong = events.mismatchedPayment(samples.FIRST, { amount: 1n }, 'amount');
      const now = Date.now();
      const history = [events.created(), wrong].map((event) => [now, event] as const);
      await addIntent(cluster.database, { accountId, events: history });
      const of = await attentionItem('open');
      return { by: 'owner@shop.example', ...(await owner.ask('markAttentionDone', { params: of, headers })) };
    },
    async reopenAttention() {
      const of = await attentionItem('done');
      return { by: 'owner@shop.example', ...(await owner.ask('reopenAttention', { params: of, headers })) };
    },
  };

  it.each(Object.keys(CHANGES) as Change[])('has an entry for %s: who, when and from where', async (id) => {
    const operation = DASHBOARD_OPERATIONS[id];
    const since = Date.now();
    const { by, account = accountId, status } = await CHANGES[id]();
    expect([id, status]).toEqual([id, operation.status]);
    // What a person does as themselves is of no account.
    const isPersonal = (PERSONAL_ACTIONS as readonly string[]).includes(operation.action);
    const isOwn = isPersonal || (PRIVATE_ACTIONS as readonly string[]).includes(operation.action);
    // Some is done after the response.
    const entry = await until('the entry', async () => {
      const { rows } = await cluster.database.sql.query<Record<string, unknown>>(
        `SELECT account_id, actor_id, actor_kind, actor_name, address, user_agent, request_id, at
           FROM dashboard.audit_entries
          WHERE actor_name = $1 AND action = $2 AND user_agent = $3 ORDER BY at DESC, id`,
        [by, operation.action, AGENT],
      );
      return rows[0] ?? null;
    });
    expect(entry).toMatchObject({
      account_id: isOwn ? null : account,
      actor_id: await idOf(by),
      actor_kind: 'person',
      actor_name: by,
      address: '127.0.0.1',
      request_id: expect.stringMatching(/^req_/) as unknown,
    });
    expect((entry['at'] as Date).getTime()).toBeGreaterThan(since - 60_000);
    if (!isOwn) return;
    // The account has what concerns it, and not from where.
    const listed = (await entries()).filter(({ action, name }) => action === operation.action && name === by);
    const from = listed.map(({ address, userAgent }) => [address, userAgent]);
    expect([id, from.slice(0, 1)]).toEqual([id, isPersonal ? [[null, null]] : []]);
  });

  it('knows every operation that changes something', () => {
    const changing = Object.values(DASHBOARD_OPERATIONS).filter(({ method }) => method !== 'get');
    // What begins changes nothing yet.
    const begins = ['beginDevice', 'beginDeviceApproval', 'beginOidcSignIn', 'beginPasskey', 'beginPasskeySignIn'];
    expect([...Object.keys(CHANGES), ...begins].sort()).toEqual(changing.map(({ id }) => id).sort());
    const forwarded = Object.values(OPERATIONS).filter(({ method }) => method !== 'get');
    expect(Object.keys(PAYMENT_CHANGES).sort()).toEqual(forwarded.map(({ id }) => id).sort());
  });

  it('holds neither passwords, keys, tokens nor codes', async () => {
    const { rows } = await cluster.database.sql.query<{ row: string }>(
      'SELECT e::text AS row FROM dashboard.audit_entries e',
    );
    const text = rows.map(({ row }) => row).join('\n');
    const made = await owner.ask('createKey', { params: params(), body: { name: 'x', mode: 'live', scope: 'full' } });
    expect(text).not.toContain(made.body.secret.slice(8));
    for (const secret of [PASSWORD, NEXT_PASSWORD, 'otpauth', 'pf.session_token']) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/pk_(test|live)_\w{32}/);
  });

  describe('of forwarded requests', () => {
    const ask = (id: PaymentChange, body?: object, mode: 'test' | 'live' = 'live', signal?: AbortSignal) => {
      const { method, path } = OPERATIONS[id];
      return fetch(`${owner.paymentsUrl(accountId, mode)}${path.replace(/\{\w+\}/, 'some_id')}`, {
        method: method.toUpperCase(),
        headers: { ...owner.headers, ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      });
    };
    const newest = async (): Promise<AuditEntry | undefined> => (await entries())[0];

    it.each(Object.keys(PAYMENT_CHANGES) as PaymentChange[])('has an entry for %s that was accepted', async (id) => {
      const { action, fields } = PAYMENT_CHANGES[id];
      answer = { status: 200, body: { intent: { id: 'pi_made' }, secret: 'whsec_hidden' } };
      const body = { ...Object.fromEntries(fields.map((name) => [name, `${name}?x=1`])), metadata: { note: 'hidden' } };
      const { method, path } = OPERATIONS[id];
      expect((await ask(id, method === 'delete' ? undefined : body)).status).toBe(200);
      const shown = Object.fromEntries(fields.map((name) => [name, name === 'url' ? 'url' : `${name}?x=1`]));
      const isNamed = /\{\w+\}/.test(path);
      const after = { ...shown, ...(isNamed && { created: 'pi_made' }) };
      expect(await newest()).toMatchObject({
        kind: 'person',
        name: 'owner@shop.example',
        action,
        livemode: true,
        subject: isNamed ? 'some_id' : 'pi_made',
        after: Object.keys(after).length === 0 ? null : after,
        userAgent: AGENT,
      });
      expect(JSON.stringify(await newest())).not.toContain('hidden');
    });

    it('names the payment link that was created or cancelled, and nothing that opens it', async () => {
      const paymentLink = { id: 'pl_made' };
      answer = { status: 201, body: { paymentLink, clientSecret: 'pl_made_secret_hidden', url: 'https://p/#hidden' } };
      await ask('createPaymentLink', { amount: '1.00', offers: [], metadata: { note: 'hidden' } });
      expect(await newest()).toMatchObject({
        action: 'payment_link.created',
        subject: 'pl_made',
        after: { amount: '1.00' },
      });
      expect(JSON.stringify(await newest())).not.toContain('hidden');
      answer = { status: 200, body: { paymentLink: { id: 'some_id' } } };
      await ask('cancelPaymentLink', {});
      expect(await newest()).toMatchObject({ action: 'payment_link.cancelled', subject: 'some_id', after: null });
    });

    it('has none for what was refused, repeated or only read', async () => {
      const count = (await entries()).length;
      const refused = { error: { code: 'intent.invalid_state', message: 'No.', param: null, details: null } };
      answer = { status: 409, body: refused };
      await ask('cancelIntent');
      answer = { status: 200, body: { intent: { id: 'pi_1' } }, headers: { 'idempotent-replayed': 'true' } };
      await ask('createIntent', {});
      answer = { status: 200, body: { intents: [], hasMore: false, nextCursor: null } };
      await owner.pay('listIntents', { accountId });
      expect(await entries()).toHaveLength(count);
    });

    it('has none for an update that changed nothing', async () => {
      const count = (await entries()).length;
      const updatedAt = '2026-11-28T12:00:00.000Z';
      answer = { status: 200, body: { intent: { id: 'some_id', updatedAt } } };
      expect((await ask('updateIntent', { updatedAt: '2026-11-28T12:00:00Z', amount: '1.00' })).status).toBe(200);
      expect(await entries()).toHaveLength(count);
      await ask('updateIntent', { updatedAt: '2026-11-28T11:59:59.999Z', amount: '1.00' });
      expect(await newest()).toMatchObject({ action: 'intent.updated', after: { amount: '1.00' } });
    });

    it('are refused before the gateway is asked, once a person has as many as an hour may have', async () => {
      const other = await newAccount('Another shop');
      const busy = await member('busy', 'owner', other);
      const cancel = () =>
        fetch(`${busy.paymentsUrl(other, 'live')}/intents/some_id/cancel`, { method: 'POST', headers: busy.headers });
      answer = { status: 200, body: { intent: { id: 'some_id' } } };
      await cluster.database.sql.query('DELETE FROM dashboard.attempts');
      expect((await cancel()).status).toBe(200);
      await cluster.database.sql.query('UPDATE dashboard.attempts SET count = 1000000');
      received = 0;
      const refused = await cancel();
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0, received]).toEqual([429, true, 0]);
      answer = { status: 200, body: { intents: [], hasMore: false, nextCursor: null } };
      expect((await busy.pay('listIntents', { accountId: other })).status).toBe(200);
    });

    it('says that the outcome is unknown where the gateway does not', async () => {
      for (const unknown of ['close', { status: 503, body: { error: { code: 'service.unavailable' } } }] as const) {
        answer = unknown;
        expect((await ask('refundIntent', undefined, 'test')).status).toBe(503);
        expect(await newest()).toMatchObject({
          action: 'intent.refunded',
          livemode: false,
          subject: 'some_id',
          after: { outcome: 'unknown' },
        });
      }
    });

    it('has an entry also if the client disconnects before the response', async () => {
      const before = (await entries()).length;
      received = 0;
      answer = 'hang';
      const hung: { end?: () => void } = {};
      gateway.once('request', (_request, response) => {
        hung.end = () =>
          response.writeHead(200, { 'content-type': 'application/json' }).end('{"intent":{"id":"pi_2"}}');
      });
      const aborting = new AbortController();
      const asked = ask('cancelIntent', undefined, 'live', aborting.signal).catch(() => 'aborted');
      await until('the request', () => received === 1);
      aborting.abort();
      expect(await asked).toBe('aborted');
      hung.end?.();
      await until('the entry', async () => (await entries()).length === before + 1);
      expect(await newest()).toMatchObject({ action: 'intent.cancelled', subject: 'some_id' });
    });
  });

  describe('GET /accounts/{accountId}/audit', () => {
    it('lists the entries of the account by page and filter', async () => {
      const of = await newAccount('Listed');
      const auditor = await member('auditor', 'owner', of);
      const created = await auditor.ask('createKey', {
        params: { accountId: of },
        body: { name: 'Till', mode: 'live', scope: 'full' },
      });
      const keyId = created.body.key.id;
      await auditor.ask('revokeKey', { params: { accountId: of, keyId } });
      const { body } = await auditor.ask('listAudit', { params: { accountId: of } });
      expect(body.entries.map(({ action, mode, subject }) => [action, mode, subject])).toEqual([
        ['key.revoked', 'live', keyId],
        ['key.created', 'live', keyId],
      ]);
      expect(body.entries[1]).toMatchObject({
        actor: { kind: 'person', id: await idOf('auditor@shop.example'), name: 'auditor@shop.example', token: null },
        before: null,
        after: { name: 'Till', scope: 'full', expiresAt: null, hint: created.body.key.hint },
      });
      const list = async (query: Readonly<Record<string, string>>) =>
        (await auditor.ask('listAudit', { params: { accountId: of }, query })).body;
      const first = await list({ limit: '1' });
      expect([first.entries.length, first.hasMore]).toEqual([1, true]);
      const second = await list({ limit: '1', cursor: first.nextCursor ?? '' });
      expect([...first.entries, ...second.entries]).toEqual(body.entries);
      expect((await list({ action: 'key.created' })).entries).toEqual([body.entries[1]]);
      expect((await list({ subject: keyId, since: body.entries[0]?.at ?? '' })).entries).toEqual([body.entries[0]]);
      expect((await list({ actor: 'usr_none' })).entries).toEqual([]);
      for (const query of [
        { action: 'key.stolen' },
        { cursor: 'x' },
        { limit: '1000' },
        { since: 'yesterday' },
        { a: 'b' },
      ]) {
        const refused = await auditor.ask('listAudit', { params: { accountId: of }, query });
        expect([query, refused.code]).toEqual([query, 'request.validation_failed']);
      }
    });
  });

  describe('GET /accounts/{accountId}/audit.csv', () => {
    it('exports all entries of a filter, and no cell that a spreadsheet would run', async () => {
      const of = await newAccount('Exported');
      const exporter = await member('+1-1', 'owner', of);
      const formulas = ['=HYPERLINK("https://evil.example")', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '＝1'];
      const by = { kind: 'person', id: null, address: '192.0.2.1', requestId: 'req_1' } as const;
      for (const formula of formulas)
        await recordChange(
          cluster.database.sql,
          { ...by, name: formula, userAgent: formula },
          { accountId: of, action: 'key.created', subject: formula, after: { name: `${formula}",\n` } },
        );
      const response = await fetch(`${dashboard.url}/api/accounts/${of}/audit.csv`, { headers: exporter.headers });
      expect([response.headers.get('content-type'), response.headers.get('content-disposition')]).toEqual([
        'text/csv; charset=utf-8',
        'attachment; filename="audit.csv"',
      ]);
      const cells = cellsOf(await response.text());
      expect(cells[0]?.slice(0, 4)).toEqual(['at', 'actor_kind', 'actor_id', 'actor_name']);
      expect(cells.slice(1).map((row) => row[3])).toEqual(formulas.toReversed().map((formula) => `'${formula}`));
      for (const cell of cells.flat()) expect(cell).not.toMatch(/^[=+\-@\t\r＝＋－＠]/);
      expect(JSON.parse(cells[1]?.[9] ?? '')).toEqual({ name: `${formulas.at(-1)}",\n` });
      const { body } = await exporter.ask('exportAudit', {
        params: { accountId: of },
        query: { action: 'key.revoked' },
      });
      expect(cellsOf(body)).toHaveLength(1);
    });

    it('has all of more than a thousand entries, once each', async () => {
      const of = await newAccount('Many');
      const exporter = await member('many', 'owner', of);
      await cluster.database.sql.query(
        `INSERT INTO dashboard.audit_entries (id, account_id, actor_kind, actor_name, action, at)
         SELECT 'aud_' || n, $1, 'operator', 'n', 'key.created', now() - (n / 7) * interval '1 second'
           FROM generate_series(1, 2500) n`,
        [of],
      );
      const { body } = await exporter.ask('exportAudit', { params: { accountId: of } });
      const ids = cellsOf(body)
        .slice(1)
        .map((row) => row.at(-1));
      expect([ids.length, new Set(ids).size]).toEqual([2_500, 2_500]);
    });

    it('is one at a time for an account and for a person, on connections that nothing else waits for', async () => {
      const [of, elsewhere] = [await newAccount('Exporting'), await newAccount('Elsewhere')];
      const [exporter, other] = [await member('exporting', 'owner', of), await member('elsewhere', 'owner', elsewhere)];
      const ask = (person: Person, account: string) => person.ask('exportAudit', { params: { accountId: account } });
      const holding = await cluster.database.sql.connect();
      try {
        // All reading of the table waits.
        await holding.query('BEGIN; LOCK TABLE dashboard.audit_entries IN ACCESS EXCLUSIVE MODE');
        const first = ask(exporter, of);
        await until('the first export', async () => {
          const { rowCount } = await cluster.database.sql.query(
            `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%audit_entries%'`,
          );
          return rowCount === 1;
        });
        const second = await ask(exporter, of);
        expect([second.status, second.code, second.error?.details]).toEqual([
          429,
          'rate_limit.exceeded',
          { retry_after: 10 },
        ]);
        // The person has one at a time, whatever the account.
        await cluster.database.sql.query(
          `INSERT INTO dashboard.members (account_id, user_id, role) VALUES ($1, $2, 'owner')`,
          [elsewhere, await idOf('exporting@shop.example')],
        );
        expect((await ask(exporter, elsewhere)).code).toBe('rate_limit.exceeded');
        // Another account's begins, and what reads little has connections.
        const another = ask(other, elsewhere);
        expect((await exporter.ask('getSession')).status).toBe(200);
        await holding.query('ROLLBACK');
        expect((await first).status).toBe(200);
        expect((await another).status).toBe(200);
      } finally {
        holding.release();
      }
      expect((await ask(exporter, of)).status).toBe(200);
    });
  });
});

/** The cells of a CSV file (RFC 4180). */
function cellsOf(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [[]];
  let rest = text;
  while (rest !== '') {
    const [whole, quoted, plain = '', end] = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(rest) ?? [];
    if (whole === undefined) throw new Error(`not CSV: ${rest.slice(0, 50)}`);
    rows.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '\r\n') rows.push([]);
    rest = rest.slice(whole.length);
  }
  return rows.slice(0, -1);
}
