import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DASHBOARD_OPERATIONS } from '@pf/contracts/dashboard';
import { forgetExpired } from '@pf/database';
import { type Cluster, type Instance, startCluster } from '@pf/testing';
import { DashboardError } from '../src/dashboard-error.ts';
import { Limits } from '../src/limits.ts';
import { mailsTo, tokenFor } from './mails.ts';
import { emptyAccount, memberOf, PASSWORD, Person } from './person.ts';

const WRONG = 'a wrong password';
const isRefused = (admitted: Promise<void>): Promise<boolean> =>
  admitted.then(
    () => false,
    (error: unknown) => error instanceof DashboardError && error.code === 'rate_limit.exceeded',
  );

describe('the limit of sign-ins', () => {
  let cluster: Cluster;
  let dashboard: Instance;
  let accountId: string;
  const rows = async (): Promise<number> =>
    (await cluster.database.sql.query('SELECT FROM dashboard.attempts')).rowCount ?? 0;
  const signIn = (address: string, email: string, password = WRONG) =>
    new Person(dashboard.url).ask('signIn', {
      body: { email, password },
      headers: { 'x-forwarded-for': address },
    });

  beforeAll(async () => {
    cluster = await startCluster();
    // Ten for an address, two for a pair, twenty for a person; one mail.
    dashboard = await cluster.start('dashboard', { env: { RATE_LIMIT_FACTOR: '0.2', TRUSTED_PROXIES: '1' } });
    accountId = await emptyAccount(cluster.database, 'Shop');
  });
  afterAll(() => cluster.close());

  it('costs Postgres nothing once an address is past its own', async () => {
    for (let count = 0; count < 10; count += 1)
      expect((await signIn('192.0.2.1', `${count}@x.example`)).code).toBe('credentials.invalid');
    const before = await rows();
    // Neither rows nor connections: the table is locked.
    const holding = await cluster.database.sql.connect();
    try {
      await holding.query('BEGIN; LOCK TABLE dashboard.attempts IN ACCESS EXCLUSIVE MODE');
      const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => signIn('192.0.2.1', `${n}@y.example`)));
      for (const { status, error } of answers)
        expect([status, Number(error?.details?.['retry_after']) > 0]).toEqual([429, true]);
    } finally {
      await holding.query('ROLLBACK');
      holding.release();
    }
    expect(await rows()).toBe(before);
  });

  it('counts what an address asks without a session, the application and its documents too', async () => {
    // A fifth of 3,000, and ten more a second.
    const ask = async (path: string, address = '192.0.2.9'): Promise<number> => {
      const response = await fetch(`${dashboard.url}${path}`, { headers: { 'x-forwarded-for': address } });
      await response.arrayBuffer();
      return response.status;
    };
    let refused = 0;
    for (let n = 0; n < 400 && refused === 0; n += 1) {
      const paths = Array.from({ length: 20 }, (_, at) => ['/', '/api/openapi.json', '/api/session'][at % 3] ?? '/');
      const statuses = await Promise.all(paths.map((path) => ask(path)));
      refused += statuses.filter((status) => status === 429).length;
    }
    expect(refused).toBeGreaterThan(0);
    expect(await ask('/api/openapi.json', '192.0.2.10')).toBe(200);
  });

  it('counts nothing of a person for a pair that is past its own', async () => {
    await memberOf(cluster.database, dashboard.url, { name: 'paul', accountId, role: 'viewer' });
    const codes: (string | null)[] = [];
    for (let count = 0; count < 8; count += 1) codes.push((await signIn('192.0.2.2', 'paul@shop.example')).code);
    const [wrong, refused] = [
      Array<string>(2).fill('credentials.invalid'),
      Array<string>(6).fill('rate_limit.exceeded'),
    ];
    expect(codes).toEqual([...wrong, ...refused]);
    const { rows: counts } = await cluster.database.sql.query<{ count: number }>(
      'SELECT count FROM dashboard.attempts WHERE count > 7',
    );
    // The address and the pair.
    expect(counts.map(({ count }) => count).sort()).toContain(8);
    expect((await signIn('192.0.2.3', 'paul@shop.example')).code).toBe('credentials.invalid');
  });

  it('lets a person sign in where they have before, whatever others try', async () => {
    await memberOf(cluster.database, dashboard.url, { name: 'vic', accountId, role: 'viewer' });
    const email = 'vic@shop.example';
    expect((await signIn('198.51.100.1', email, PASSWORD)).status).toBe(200);
    for (let count = 0; count < 22; count += 1) await signIn(`203.0.113.${count >> 1}`, email);
    // From elsewhere the right password helps no more.
    expect((await signIn('198.51.100.2', email, PASSWORD)).code).toBe('rate_limit.exceeded');
    expect((await signIn('198.51.100.1', email, PASSWORD)).status).toBe(200);
    // There, too, guesses are counted.
    for (let count = 0; count < 2; count += 1)
      expect((await signIn('198.51.100.1', email)).code).toBe('credentials.invalid');
    expect((await signIn('198.51.100.1', email, PASSWORD)).code).toBe('rate_limit.exceeded');
  });

  it('mails one link that confirms an address in 15 minutes', async () => {
    const email = 'victim@elsewhere.example';
    const body = { name: 'Someone', email, password: PASSWORD };
    expect((await new Person(dashboard.url).ask('signUp', { body })).status).toBe(202);
    await tokenFor(dashboard, email, 'verify-email');
    for (const address of ['192.0.2.11', '192.0.2.12', '192.0.2.13'])
      expect((await signIn(address, email, PASSWORD)).code).toBe('email.unverified');
    expect(await mailsTo(dashboard, email)).toHaveLength(1);
    // As if a quarter of an hour had passed.
    await cluster.database.sql.query(`UPDATE dashboard.attempts SET ends_at = now() - interval '1 second'`);
    for (const address of ['192.0.2.14', '192.0.2.15'])
      expect((await signIn(address, email, PASSWORD)).code).toBe('email.unverified');
    expect(await mailsTo(dashboard, email)).toHaveLength(2);
  });

  it('limits everything that is recorded, and refuses nothing that takes an access away', async () => {
    const ends = ['endSession', 'removeMember', 'revokeKey', 'revokeToken', 'signOut', 'withdrawInvitation'];
    const recorded = Object.values(DASHBOARD_OPERATIONS).filter((one) => 'action' in one && one.action !== null);
    const caller = (id: string) => ({ address: id, email: `${id}@x.example`, userId: id, accountId: id });
    const free: string[] = [];
    for (const { id } of recorded) {
      // Of a thousand an hour, one.
      const limits = new Limits(cluster.database, 0.001);
      await limits.admit(id, caller(id));
      if (!(await isRefused(limits.admit(id, caller(id))))) free.push(id);
    }
    expect(free.sort()).toEqual(ends);
    // What needs a password has limits of its own, of which each of these takes one.
    const used = new Limits(cluster.database, 0.001);
    await used.admit('createToken', caller('thief'));
    expect(await isRefused(used.admit('beginSecondFactor', caller('thief')))).toBe(true);
    for (const id of ['changePassword', 'removePasskey', 'unlinkIdentity'] as const)
      expect([id, await isRefused(used.admit(id, caller('thief')))]).toEqual([id, false]);
    const limits = new Limits(cluster.database, 0.001);
    const of = (userId: string) => limits.admitChange({ userId, accountId: 'acct_1' });
    expect(await isRefused(of('usr_1').then(() => of('usr_1')))).toBe(true);
    // Five of an account, whoever makes them.
    for (let n = 0; n < 4; n += 1) await of(`usr_2${n}`);
    expect(await isRefused(of('usr_3'))).toBe(true);
  });

  it('forgets all that has expired, however much it is', async () => {
    await cluster.database.sql.query(
      `INSERT INTO dashboard.attempts (key, count, ends_at)
       SELECT 'old ' || n, 1, now() - interval '1 hour' FROM generate_series(1, 250) n`,
    );
    expect(await forgetExpired(cluster.database, new Date(), 100)).toBeGreaterThanOrEqual(250);
    const { rowCount } = await cluster.database.sql.query('SELECT FROM dashboard.attempts WHERE ends_at < now()');
    expect(rowCount).toBe(0);
  });

  it.each(['signUp', 'forgotPassword'] as const)('lets %s take as long for a person as for none', async (id) => {
    const [known, unknown] = [`known-${id.toLowerCase()}`, `nobody-${id.toLowerCase()}`];
    await memberOf(cluster.database, dashboard.url, { name: known, accountId, role: 'viewer' });
    const holding = await cluster.database.sql.connect();
    try {
      // Neither reads nor writes a person before it responds.
      await holding.query('BEGIN; LOCK TABLE dashboard.users, dashboard.audit_entries IN ACCESS EXCLUSIVE MODE');
      for (const name of [known, unknown]) {
        const email = `${name}@shop.example`;
        const body = id === 'signUp' ? { name: 'Someone', email, password: PASSWORD } : { email };
        const headers = { 'x-forwarded-for': '192.0.2.21' };
        expect((await new Person(dashboard.url).ask(id, { body, headers })).status).toBe(202);
      }
    } finally {
      await holding.query('ROLLBACK');
      holding.release();
    }
    await tokenFor(
      dashboard,
      `${id === 'signUp' ? unknown : known}@shop.example`,
      id === 'signUp' ? 'verify-email' : 'reset-password',
    );
  });
});
