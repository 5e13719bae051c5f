import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { identityIdOf } from '@pf/contracts';
import { DASHBOARD_OPERATIONS, type DashboardOperationId } from '@pf/contracts/dashboard';
import { changeMember, type Database, inTransaction, invite } from '@pf/database';
import { events, samples } from '@pf/domain/testing';
import { type Cluster, type Instance, startCluster } from '@pf/testing';
import { Authenticator } from './identity/authenticator.ts';
import { addPasskey } from './identity/passkeys.ts';
import { addIntent } from './insights/payments.ts';
import { overtaken } from './overtaken.ts';
import { type Asked, codeOf, emptyAccount, memberOf, PASSWORD, Person } from './person.ts';

const BY = { kind: 'operator', id: null, name: 'Test', address: null, userAgent: null, requestId: null } as const;

/** What a person with a session changes, and the audit log records. */
type Changes = {
  [Id in DashboardOperationId]: (typeof DASHBOARD_OPERATIONS)[Id] extends { action: null } | { access: 'anyone' }
    ? never
    : (typeof DASHBOARD_OPERATIONS)[Id] extends { action: string }
      ? Id
      : never;
}[DashboardOperationId];

describe('a change whose maker loses the right to make it meanwhile', () => {
  let cluster: Cluster;
  let dashboard: Instance;
  let accountId: string;
  let person: Person;
  let userId: string;
  let otherId: string;
  const device = new Authenticator();
  const idOf = async (of: Person): Promise<string> => (await of.ask('getSession')).body.user.id;
  const own = () => ({ accountId });
  const invited = async (token: string, email: string, into: string): Promise<string> => {
    const at = new Date();
    const expiresAt = new Date(at.getTime() + 60_000);
    const invitation = { accountId: into, email, role: 'viewer', token, invitedBy: otherId, at, expiresAt } as const;
    const made = await invite(cluster.database, { ...invitation, max: 100 }, BY);
    return typeof made === 'string' ? made : made.id;
  };
  const waitingDevice = async (): Promise<{ readonly userCode: string }> =>
    (await new Person(dashboard.url).ask('beginDevice', { body: { clientName: 'pf' } })).body;
  const attentionItem = async (state: 'open' | 'done') => {
    const { body } = await person.ask('listAttention', { params: { ...own(), mode: 'test' }, query: { state } });
    return { ...own(), mode: 'test', itemId: body.attention[0]?.id ?? '' };
  };
  const password = { password: PASSWORD };

  /** A valid request of each, for which all that it needs is made. Not of what only ends the request's own session. */
  const requests: Readonly<Record<Exclude<Changes, 'signOut'>, () => Promise<Asked> | Asked>> = {
    async endSession() {
      await new Person(dashboard.url).signIn('ada@shop.example', PASSWORD);
      const { sessions } = (await person.ask('listSessions')).body;
      return { params: { sessionId: sessions.find(({ current }) => !current)?.id ?? '' } };
    },
    changePassword: () => ({ body: { currentPassword: PASSWORD, password: 'another long password' } }),
    beginSecondFactor: () => ({ body: password }),
    async confirmSecondFactor() {
      const { body } = await person.ask('beginSecondFactor', { body: password });
      return { body: { code: codeOf(body.uri) } };
    },
    disableSecondFactor: () => ({ body: password }),
    async addPasskey() {
      const { body } = await person.ask('beginPasskey', { body: password });
      return { body: { name: 'Phone', credential: new Authenticator().create(dashboard.url, body.options) } };
    },
    async renamePasskey() {
      const { body } = await addPasskey(person, device);
      return { params: { passkeyId: body.passkey.id }, body: { name: 'Stolen' } };
    },
    async removePasskey() {
      const { passkeys } = (await person.ask('listPasskeys')).body;
      return { params: { passkeyId: passkeys[0]?.id ?? '' }, body: password };
    },
    async unlinkIdentity() {
      const identity = { issuer: 'https://id.example', subject: 'ada' };
      await cluster.database.prisma.providerIdentity.create({ data: { ...identity, userId, createdAt: new Date() } });
      return { params: { identityId: identityIdOf(identity.issuer, identity.subject) }, body: password };
    },
    createAccount: () => ({ body: { name: 'Second' } }),
    async acceptInvitation() {
      const into = await emptyAccount(cluster.database, 'Theirs');
      await cluster.database.prisma.member.create({ data: { accountId: into, userId: otherId, role: 'owner' } });
      await invited('joining', 'ada@shop.example', into);
      return { body: { token: 'joining' } };
    },
    updateAccount: () => ({ params: own(), body: { name: 'Stolen' } }),
    updateSettings: () => ({ params: own(), body: { returnOrigins: ['https://evil.example'] } }),
    updateMember: () => ({ params: { ...own(), userId: otherId }, body: { role: 'viewer' } }),
    removeMember: () => ({ params: { ...own(), userId: otherId } }),
    invite: () => ({ params: own(), body: { email: 'eve@shop.example', role: 'owner' } }),
    async withdrawInvitation() {
      const invitationId = await invited(randomUUID(), 'later@shop.example', accountId);
      return { params: { ...own(), invitationId } };
    },
    createKey: () => ({ params: own(), body: { name: 'Till', mode: 'test', scope: 'full' } }),
    async revokeKey() {
      const { body } = await person.ask('createKey', {
        params: own(),
        body: { name: 'Till', mode: 'test', scope: 'full' },
      });
      return { params: { ...own(), keyId: body.key.id } };
    },
    createToken: () => ({ body: { name: 'laptop' } }),
    async revokeToken() {
      const { body } = await person.ask('createToken', { body: { name: 'laptop' } });
      return { params: { tokenId: body.token.id } };
    },
    async approveDevice() {
      return { params: { userCode: (await waitingDevice()).userCode }, body: password };
    },
    async denyDevice() {
      return { params: { userCode: (await waitingDevice()).userCode } };
    },
    async markAttentionDone() {
      await cluster.database.sql.query('DELETE FROM dashboard.attention_done WHERE account_id = $1', [accountId]);
      return { params: await attentionItem('open') };
    },
    async reopenAttention() {
      await person.ask('markAttentionDone', { params: await attentionItem('open') });
      return { params: await attentionItem('done') };
    },
  };
  const changes = Object.keys(requests) as (keyof typeof requests)[];

  /** What each of the requests gets that `ends` overtakes; `restore` gives the right back. */
  const outcomes = async (
    of: readonly (keyof typeof requests)[],
    ends: (database: Database) => Promise<unknown>,
    restore: () => Promise<unknown>,
  ): Promise<Readonly<Record<string, string | number>>> => {
    const got: Record<string, string | number> = {};
    for (const id of of) {
      const asked = await requests[id]();
      const { code, status } = await overtaken(cluster.database, ends, () => person.ask(id, asked));
      await restore();
      got[id] = code ?? status;
    }
    return got;
  };
  const all = (of: readonly string[], code: string) => Object.fromEntries(of.map((id) => [id, code]));

  beforeAll(async () => {
    cluster = await startCluster();
    dashboard = await cluster.start('dashboard');
    accountId = await emptyAccount(cluster.database, 'Shop');
    const member = (name: string): Promise<Person> =>
      memberOf(cluster.database, dashboard.url, { name, role: 'owner', accountId });
    person = await member('ada');
    userId = await idOf(person);
    otherId = await idOf(await member('bea'));
    const wrong = events.mismatchedPayment(samples.FIRST, { amount: 1n }, 'amount');
    const history = [events.created(), wrong].map((event) => [Date.now(), event] as const);
    await addIntent(cluster.database, { accountId, events: history });
  });
  afterAll(() => cluster.close());

  it('is not made once the session has ended', async () => {
    const { session } = cluster.database.prisma;
    const { sessions } = (await person.ask('listSessions')).body;
    const { id = '' } = sessions.find(({ current }) => current) ?? {};
    const data = await session.findUniqueOrThrow({ where: { id } });
    const end = (database: Database) =>
      inTransaction(database, async (client) => {
        await client.query('SELECT FROM dashboard.users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
        await client.query('DELETE FROM dashboard.sessions WHERE id = $1', [id]);
      });
    const got = await outcomes(changes, end, () => session.create({ data }));
    expect(got).toEqual(all(changes, 'session.required'));
  });

  it('is not made once the role does not allow it', async () => {
    const ofAccount = changes.filter((id) => typeof DASHBOARD_OPERATIONS[id].access !== 'string');
    const become = (database: Database, role: 'owner' | 'viewer') =>
      changeMember(database, { accountId, userId, role }, BY);
    const got = await outcomes(
      ofAccount,
      (database) => become(database, 'viewer'),
      () => become(cluster.database, 'owner'),
    );
    expect(ofAccount).toHaveLength(10);
    expect(got).toEqual(all(ofAccount, 'role.insufficient'));
  });
});
