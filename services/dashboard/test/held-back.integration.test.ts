import { once } from 'node:events';
import { type IncomingMessage, request as begin } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, type Instance, startCluster } from '@pf/testing';
import { tokenFor } from './mails.ts';
import { emptyAccount, memberOf, PASSWORD, Person } from './person.ts';

describe('a request whose body is held back', () => {
  let cluster: Cluster;
  let dashboard: Instance;
  let accountId: string;

  /** Sends the head of a request, and its body when `meanwhile` has happened. @returns the error's code, or null */
  const held = async (
    person: Person,
    { method = 'POST', path, body }: { readonly method?: string; readonly path: string; readonly body: unknown },
    meanwhile: () => Promise<unknown>,
  ): Promise<string | null> => {
    const text = JSON.stringify(body);
    const sent = begin(`${person.url}/api${path}`, {
      method,
      headers: {
        ...person.headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        expect: '100-continue',
      },
    });
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    sent.flushHeaders();
    await once(sent, 'continue');
    // Whatever is judged by the head has been judged when another request of the same person was.
    await person.ask('getSession');
    await meanwhile();
    sent.end(text);
    const [response] = await answered;
    const answer = (await json(response)) as { error?: { code: string } };
    return answer.error?.code ?? null;
  };
  const member = (name: string): Promise<Person> =>
    memberOf(cluster.database, dashboard.url, { name, role: 'owner', accountId });
  const endSessions = (name: string) =>
    cluster.database.sql.query(
      'DELETE FROM dashboard.sessions WHERE user_id = (SELECT id FROM dashboard.users WHERE email = $1)',
      [`${name}@shop.example`],
    );

  beforeAll(async () => {
    cluster = await startCluster();
    dashboard = await cluster.start('dashboard');
    accountId = await emptyAccount(cluster.database, 'Shop');
  });
  afterAll(() => cluster.close());

  it('creates no personal token when the session has ended meanwhile', async () => {
    const person = await member('tom');
    const call = { path: '/tokens', body: { name: 'mine' } };
    expect(await held(person, call, () => endSessions('tom'))).toBe('session.required');
    const again = await new Person(dashboard.url).signIn('tom@shop.example', PASSWORD);
    expect((await again.ask('listTokens')).body.tokens).toEqual([]);
  });

  it('creates no API key when the role was taken away meanwhile', async () => {
    const person = await member('rob');
    const call = { path: `/accounts/${accountId}/keys`, body: { name: 'mine', mode: 'test', scope: 'full' } };
    const demote = () =>
      cluster.database.sql.query(
        `UPDATE dashboard.members SET role = 'viewer'
          WHERE user_id = (SELECT id FROM dashboard.users WHERE email = 'rob@shop.example')`,
      );
    expect(await held(person, call, demote)).toBe('role.insufficient');
  });

  it('creates no payment intent when the member was removed meanwhile', async () => {
    const person = await member('pia');
    const remove = () =>
      cluster.database.sql.query(
        `DELETE FROM dashboard.members
          WHERE user_id = (SELECT id FROM dashboard.users WHERE email = 'pia@shop.example')`,
      );
    const path = `/accounts/${accountId}/test/v1/intents`;
    expect(await held(person, { path, body: {} }, remove)).toBe('account.not_found');
  });

  it('sets no password when a reset has set another one meanwhile', async () => {
    const person = await member('sue');
    const reset = 'a password that was reset';
    const call = {
      path: '/password',
      body: { currentPassword: PASSWORD, password: 'the password of a stranger' },
    };
    const meanwhile = async (): Promise<void> => {
      const anyone = new Person(dashboard.url);
      await anyone.ask('forgotPassword', { body: { email: 'sue@shop.example' } });
      const token = await tokenFor(dashboard, 'sue@shop.example', 'reset-password');
      expect((await anyone.ask('resetPassword', { body: { token, password: reset } })).status).toBe(200);
    };
    expect(await held(person, call, meanwhile)).toBe('session.required');
    await new Person(dashboard.url).signIn('sue@shop.example', reset);
  });
});
