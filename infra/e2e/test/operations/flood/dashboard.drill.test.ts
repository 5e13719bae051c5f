import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newAccountId } from '@pf/contracts';
import { DASHBOARD_OPERATIONS, type DashboardOperationId } from '@pf/contracts/dashboard';
import { setPlan } from '@pf/database';
import { type Cluster, type Instance, startCluster } from '@pf/testing';
import { memberOf, PASSWORD, type Person } from '../../../../../services/dashboard/test/person.ts';
import { type Asked, type Flood, Flooding } from './flooding.ts';
import { floodOf, newStranger, PAYMENT, PAYMENT_OPERATIONS, type Stranger } from './payments.ts';
import { DASHBOARD_PATHS } from './routes.ts';

/** A person may make 600 requests a minute. */
const ROUTES_OF_A_PERSON = 8;
const OTHERS = 12;
const LONG = 'n'.repeat(100);
const TOKEN = 't'.repeat(64);
const email = (n: number): string => `${n}@${'x'.repeat(60)}.example`;

type Fields = Readonly<Record<string, unknown>>;
interface Worst {
  readonly body?: Fields | ((n: number) => Fields);
  readonly query?: string;
}

/** The worst that each operation takes, beside its path. One without an entry does not compile. */
const WORST: { readonly [Id in DashboardOperationId]: Worst } = {
  signUp: { body: (n) => ({ name: LONG, email: email(n), password: PASSWORD }) },
  verifyEmail: { body: { token: TOKEN, password: PASSWORD } },
  signIn: { body: (n) => ({ email: email(n), password: PASSWORD }) },
  signInWithCode: { body: { code: '123456' } },
  forgotPassword: { body: (n) => ({ email: email(n) }) },
  resetPassword: { body: { token: TOKEN, password: PASSWORD } },
  getSession: {},
  signOut: { body: {} },
  listSessions: {},
  endSession: {},
  changePassword: { body: { currentPassword: 'p'.repeat(100), password: PASSWORD } },
  beginSecondFactor: { body: { password: PASSWORD } },
  confirmSecondFactor: { body: { code: '123456' } },
  disableSecondFactor: { body: { password: PASSWORD } },
  createAccount: { body: { name: LONG } },
  acceptInvitation: { body: { token: TOKEN } },
  getAccount: {},
  updateAccount: { body: { name: LONG } },
  listMembers: {},
  updateMember: { body: { role: 'viewer' } },
  removeMember: {},
  listInvitations: {},
  invite: { body: (n) => ({ email: email(n), role: 'viewer' }) },
  withdrawInvitation: {},
  listKeys: {},
  createKey: { body: { name: LONG, mode: 'test', scope: 'full' } },
  revokeKey: {},
  getSettings: {},
  updateSettings: { body: {} },
  listTokens: {},
  createToken: { body: { name: LONG } },
  revokeToken: {},
  beginDevice: { body: { clientName: LONG } },
  pollDevice: { body: { deviceCode: TOKEN } },
  getDevice: {},
  beginDeviceApproval: { body: {} },
  approveDevice: { body: { password: PASSWORD } },
  denyDevice: { body: {} },
  listAudit: { query: 'limit=100' },
  exportAudit: {},
  getSummary: {},
  listEvents: {},
  followAccount: {},
  listAttention: {},
  markAttentionDone: { body: {} },
  reopenAttention: {},
  listRequests: { query: 'limit=100' },
  getSignInOptions: {},
  beginOidcSignIn: { body: {} },
  signInWithOidc: { body: { code: TOKEN, state: TOKEN } },
  listIdentities: {},
  unlinkIdentity: { body: { password: PASSWORD } },
  beginPasskeySignIn: { body: {} },
  signInWithPasskey: { body: { credential: {} } },
  listPasskeys: {},
  beginPasskey: { body: { password: PASSWORD } },
  addPasskey: { body: { name: LONG, credential: {} } },
  renamePasskey: { body: { name: LONG } },
  removePasskey: { body: { password: PASSWORD } },
};

describe('a flood of the dashboard from one address', () => {
  let cluster: Cluster;
  let service: Instance;
  let flooding: Flooding;
  const floods: (readonly [route: string, flood: Flood])[] = [];
  /** Members of an account, who have signed in. */
  const peopleOf = (name: string, accountId: string, count: number): Promise<readonly Person[]> =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        memberOf(cluster.database, service.url, { name: `${name}-${n}`, accountId, role: 'owner' }),
      ),
    );

  beforeAll(async () => {
    cluster = await startCluster();
    const env = { TRUSTED_PROXIES: '1', RATE_LIMIT_FACTOR: '1' };
    const [gateway, intent] = await Promise.all([cluster.start('gateway', { env }), cluster.start('intent')]);
    let strict: Instance;
    [service, strict] = await Promise.all([
      cluster.start('dashboard', { env: { ...env, GATEWAY_URL: gateway.url } }),
      // Of an address 50 requests a minute, of a person 10.
      cluster.start('dashboard', { env: { ...env, GATEWAY_URL: gateway.url, RATE_LIMIT_FACTOR: '0.0167' } }),
    ]);
    await setPlan(cluster.database, cluster.accountId, 'scale');
    const others = await peopleOf('other', cluster.accountId, OTHERS);
    let asked = 0;
    const ask = (path: string, init: RequestInit = {}): Promise<Response> => {
      const person = others[(asked += 1) % OTHERS];
      const headers = { ...person?.headers, 'x-forwarded-for': `198.51.100.${asked % 250}` };
      return fetch(`${service.url}/api${path}`, {
        ...init,
        headers: { ...headers, 'content-type': 'application/json' },
      });
    };
    flooding = new Flooding({
      service,
      strict,
      beside: [gateway, intent],
      others: [
        () => ask(asked % 2 ? `/accounts/${cluster.accountId}` : `/accounts/${cluster.accountId}/test/v1/intents`),
        () => ask(`/accounts/${cluster.accountId}/test/v1/intents`, { method: 'POST', body: JSON.stringify(PAYMENT) }),
      ],
    });
    const stranger = await newStranger(cluster, gateway.url, 'http://127.0.0.1:9/');
    const own = Object.keys(WORST) as readonly DashboardOperationId[];
    const people = await peopleOf(
      'stranger',
      stranger.accountId,
      Math.ceil((own.length + PAYMENT_OPERATIONS.length) / ROUTES_OF_A_PERSON),
    );
    const headersOf = () => people[Math.floor(floods.length / ROUTES_OF_A_PERSON)]?.headers ?? {};
    for (const id of own) floods.push([id, ownFlood(id, stranger, headersOf())]);
    for (const [place, operation] of PAYMENT_OPERATIONS.entries()) {
      const mode = place % 2 === 0 ? 'test' : 'live';
      const base = `/api/accounts/${stranger.accountId}/${mode}`;
      const headers = headersOf();
      const asked = floodOf(operation, stranger);
      floods.push([`${operation}, ${mode}`, (n) => ({ ...asked(n), path: `${base}${asked(n).path}`, headers })]);
    }
    for (const path of [...Object.values(DASHBOARD_PATHS).flat(), `/api/${'x'.repeat(2_000)}`])
      floods.push([path.slice(0, 20), () => ({ method: 'GET', path })]);
  });
  afterAll(() => cluster.close());

  const ownFlood = (
    id: DashboardOperationId,
    { accountId }: Stranger,
    headers: Readonly<Record<string, string>>,
  ): Flood => {
    const { method, path } = DASHBOARD_OPERATIONS[id];
    const { body, query } = WORST[id];
    const params: Readonly<Record<string, string>> = { accountId, mode: 'test' };
    const filled = path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => params[name] ?? newAccountId());
    return (n): Asked => ({
      method: method.toUpperCase(),
      path: `/api${filled}${query === undefined ? '' : `?${query}`}`,
      headers,
      body: typeof body === 'function' ? body(n) : body,
    });
  };

  it('leaves the requests of another account as quick as they are, whatever it asks', async () => {
    await flooding.warmUp();
    for (const [route, flood] of floods) await flooding.hold(route, flood);
    await flooding.expectUnhurt();
  });

  // Afterwards: it signs one of the people out.
  it('is refused on every route, and says when to try again', async () => {
    for (const [route, flood] of floods) expect([route, await flooding.isRefused(flood)]).toEqual([route, true]);
  });
});
