import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OPERATIONS } from '@pf/contracts';
import { type PaymentOperationId, type Role, ROLES } from '@pf/contracts/dashboard';
import { type Cluster, type Instance, openStream, type OpenStream, startCluster, until } from '@pf/testing';
import { emptyAccount, memberOf, Person } from '../person.ts';

const CREATE = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '1.00',
  requestor: '0x1111111111111111111111111111111111111111',
};

describe('the payment API in the dashboard', () => {
  let cluster: Cluster;
  let gateway: Instance;
  let dashboard: Instance;
  let accountId: string;
  let owner: Person;
  const member = (name: string, role: Role, account = accountId): Promise<Person> =>
    memberOf(cluster.database, dashboard.url, { name, role, accountId: account });
  const newAccount = (name: string): Promise<string> => emptyAccount(cluster.database, name);
  const createIntent = async (): Promise<string> => {
    const { body, status } = await owner.pay('createIntent', { accountId, body: CREATE });
    expect(status).toBe(201);
    return (body as { intent: { id: string } }).intent.id;
  };

  beforeAll(async () => {
    cluster = await startCluster();
    [gateway] = await Promise.all([
      cluster.start('gateway', { env: { CHECKOUT_URL: 'https://pay.example' } }),
      cluster.start('intent'),
    ]);
    dashboard = await cluster.start('dashboard', { env: { GATEWAY_URL: gateway.url } });
    accountId = await newAccount('Shop');
    owner = await member('owner', 'owner');
  });
  afterAll(() => cluster.close());

  it('works with the session, in the account and the mode of the path only', async () => {
    const id = await createIntent();
    const params = { id };
    const found = await owner.pay('getIntent', { accountId, params, headers: { 'x-request-id': 'one.request' } });
    expect([found.status, found.body['intent']]).toEqual([200, expect.objectContaining({ id, livemode: false })]);
    expect(found.headers.get('x-request-id')).toBe('one.request');
    expect(found.headers.get('ratelimit-policy')).toMatch(/^"person";q=\d+;w=60$/);
    expect(
      (await owner.pay('listIntents', { accountId, query: { limit: '1', state: 'created' } })).body['intents'],
    ).toEqual([found.body['intent']]);
    expect((await owner.pay('getIntent', { accountId, mode: 'live', params })).code).toBe('intent.not_found');
    const other = await newAccount('Other');
    const stranger = await member('stranger', 'owner', other);
    expect((await stranger.pay('getIntent', { accountId: other, params })).code).toBe('intent.not_found');
    expect((await stranger.pay('getIntent', { accountId, params })).code).toBe('account.not_found');
    const simulated = await owner.pay('simulateIntent', { accountId, params, body: { targetState: 'confirmed' } });
    expect(simulated.body['intent']).toMatchObject({ state: 'confirmed' });
    const inLive = { accountId, mode: 'live', params, body: { targetState: 'confirmed' } } as const;
    expect((await owner.pay('simulateIntent', inLive)).code).toBe('api_key.test_mode_required');
  });

  it('shows the address of a payment link to those who may see secrets, and to no one else', async () => {
    const { chain, token, requestor } = CREATE;
    const body = { amount: '1.00', offers: [{ chain, token, requestor }] };
    const created = await owner.pay('createPaymentLink', { accountId, body });
    const { paymentLink, url, clientSecret } = created.body as {
      readonly paymentLink: { readonly id: string };
      readonly url: string;
      readonly clientSecret: string;
    };
    expect([created.status, url]).toEqual([201, expect.stringContaining(`/link/${paymentLink.id}#`)]);
    const params = { id: paymentLink.id };
    for (const [role, shown] of [
      ['owner', { url, clientSecret }],
      ['developer', { url, clientSecret }],
      ['support', {}],
      ['viewer', {}],
    ] as const) {
      const person = role === 'owner' ? owner : await member(`link-${role}`, role);
      const found = await person.pay('getPaymentLink', { accountId, params });
      expect([role, found.body]).toEqual([role, { paymentLink, ...shown }]);
      const listed = await person.pay('listPaymentLinks', { accountId });
      expect([role, listed.body['paymentLinks']]).toEqual([role, [paymentLink]]);
    }
  });

  it('gives the client secret of a refund to those who may see secrets, and to no one else', async () => {
    for (const [role, keys] of [
      ['owner', ['intent', 'clientSecret', 'paymentUrl']],
      ['developer', ['intent', 'clientSecret', 'paymentUrl']],
      ['support', ['intent']],
    ] as const) {
      const params = { id: await createIntent() };
      await owner.pay('simulateIntent', { accountId, params, body: { targetState: 'confirmed' } });
      const person = role === 'owner' ? owner : await member(`refund-${role}`, role);
      const refund = await person.pay('refundIntent', { accountId, params });
      expect([role, refund.status, Object.keys(refund.body)]).toEqual([role, 201, keys]);
    }
  });

  it('lets those who may pay out choose the address of a refund, and support not', async () => {
    const to = '0x2222222222222222222222222222222222222222';
    const paid = async (): Promise<{ readonly id: string }> => {
      const params = { id: await createIntent() };
      await owner.pay('simulateIntent', { accountId, params, body: { targetState: 'confirmed' } });
      return params;
    };
    const support = await member('to-support', 'support');
    const refused = { accountId, params: await paid() };
    for (const body of [
      { to },
      // What the gateway reads the same: a byte order mark, an escape, a name twice.
      `\ufeff{"to":"${to}"}`,
      `{"\\u0074o":"${to}"}`,
      `{"to":null,"to":"${to}"}`,
    ]) {
      const { status, code, body: refusal } = await support.pay('refundIntent', { ...refused, body });
      expect([body, status, code]).toEqual([body, 403, 'role.insufficient']);
      expect(refusal['error']).toMatchObject({ details: { roles: ['owner', 'developer'], field: 'to' } });
    }
    const found = await owner.pay('getIntent', refused);
    expect(found.body['intent']).toMatchObject({ refundedBy: null });
    expect((await support.pay('refundIntent', refused)).status).toBe(201);
    for (const person of [owner, await member('to-developer', 'developer')]) {
      const refund = await person.pay('refundIntent', { accountId, params: await paid(), body: { to } });
      expect([refund.status, refund.body['intent']]).toEqual([201, expect.objectContaining({ requestor: to })]);
    }
  });

  it('repeats the response to the same idempotency key', async () => {
    const body = { ...CREATE, idempotencyKey: 'order-1' };
    const [first, second] = [
      await owner.pay('createIntent', { accountId, body }),
      await owner.pay('createIntent', { accountId, body }),
    ];
    expect([first.status, second.status, second.headers.get('idempotent-replayed')]).toEqual([201, 200, 'true']);
    expect(second.body).toEqual({ ...first.body, replayed: true });
  });

  it('accepts bodies of the size and form that the gateway accepts', async () => {
    const create = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
      owner.pay('createIntent', { accountId, body, headers }).then(({ status, code }) => [status, code]);
    expect(await create({ ...CREATE, metadata: { note: 'x'.repeat(70_000) } })).toEqual([413, 'request.too_large']);
    expect(await create('{')).toEqual([400, 'request.malformed_json']);
    expect(await create(CREATE, { 'content-type': 'text/plain' })).toEqual([415, 'request.unsupported_media_type']);
    expect(await create(CREATE, { 'content-encoding': 'gzip' })).toEqual([415, 'request.unsupported_media_type']);
  });

  it('has the paths and methods of the payment API, in two modes', async () => {
    const base = `${dashboard.url}/api/accounts/${accountId}`;
    const ask = async (path: string, method = 'GET') => {
      const response = await fetch(`${base}${path}`, { method, headers: owner.headers });
      const { error } = (await response.json()) as { error?: { code: string } };
      return [response.status, error?.code, response.headers.get('allow')];
    };
    expect(await ask('/test/v1/intents')).toEqual([200, undefined, null]);
    for (const path of [
      '/test/v1',
      '/test/v1/docs',
      '/prod/v1/intents',
      '/v1/intents',
      '/test/intents',
      '/test/v1/a/b',
    ])
      expect(await ask(path)).toEqual([404, 'route.not_found', null]);
    expect(await ask('/test/v1/intents', 'DELETE')).toEqual([405, 'request.method_not_allowed', 'POST, GET, HEAD']);
    // A parameter cannot lead to another path.
    for (const id of ['..', '%2e%2e', '..%2fintents', 'x%2f..%2f..%2fintents'])
      expect(await ask(`/test/v1/webhook-endpoints/${id}`)).not.toEqual([200, undefined, null]);
    const head = await fetch(`${base}/test/v1/intents`, { method: 'HEAD', headers: owner.headers });
    expect([head.status, Number(head.headers.get('content-length')) > 0]).toEqual([200, true]);
  });

  const CALLERS = ['no session', 'owner of another account', ...ROLES] as const;
  type Caller = (typeof CALLERS)[number];
  const DEVELOPERS: readonly Caller[] = ['owner', 'developer'];
  const SUPPORT: readonly Caller[] = [...DEVELOPERS, 'support'];
  const MEMBERS: readonly Caller[] = ROLES;
  const OK = [200, null] as const;
  const INVALID = [400, 'request.validation_failed'] as const;
  const NO_INTENT = [404, 'intent.not_found'] as const;
  const NO_LINK = [404, 'payment_link.not_found'] as const;
  const NO_DEPOSIT = [404, 'deposit.not_found'] as const;
  const NO_DELIVERY = [404, 'delivery.not_found'] as const;
  const NO_ENDPOINT = [404, 'webhook_endpoint.not_found'] as const;
  const NO_REPLAY = [404, 'webhook_replay.not_found'] as const;

  /** Who passes, and what a request that changes nothing then gets. A new operation needs a row. */
  const MATRIX: Readonly<
    Record<PaymentOperationId, { readonly passes: readonly Caller[]; readonly gets: readonly [number, string | null] }>
  > = {
    createIntent: { passes: DEVELOPERS, gets: INVALID },
    getIntent: { passes: MEMBERS, gets: NO_INTENT },
    listIntents: { passes: MEMBERS, gets: OK },
    updateIntent: { passes: DEVELOPERS, gets: NO_INTENT },
    cancelIntent: { passes: SUPPORT, gets: NO_INTENT },
    refundIntent: { passes: SUPPORT, gets: NO_INTENT },
    detectIntent: { passes: DEVELOPERS, gets: NO_INTENT },
    buildIntent: { passes: SUPPORT, gets: NO_INTENT },
    submitIntent: { passes: SUPPORT, gets: NO_INTENT },
    buildAuthorization: { passes: SUPPORT, gets: NO_INTENT },
    submitAuthorization: { passes: SUPPORT, gets: NO_INTENT },
    askPaymaster: { passes: DEVELOPERS, gets: NO_INTENT },
    payByMpp: { passes: DEVELOPERS, gets: NO_INTENT },
    intentEvents: { passes: MEMBERS, gets: NO_INTENT },
    createPaymentLink: { passes: DEVELOPERS, gets: INVALID },
    getPaymentLink: { passes: MEMBERS, gets: NO_LINK },
    listPaymentLinks: { passes: MEMBERS, gets: OK },
    listDeposits: { passes: MEMBERS, gets: OK },
    getDeposit: { passes: MEMBERS, gets: NO_DEPOSIT },
    ignoreDeposit: { passes: SUPPORT, gets: NO_DEPOSIT },
    reopenDeposit: { passes: SUPPORT, gets: NO_DEPOSIT },
    assignDeposit: { passes: SUPPORT, gets: NO_DEPOSIT },
    unassignDeposit: { passes: SUPPORT, gets: NO_DEPOSIT },
    cancelPaymentLink: { passes: SUPPORT, gets: NO_LINK },
    chooseOffer: { passes: DEVELOPERS, gets: NO_LINK },
    setSponsor: { passes: DEVELOPERS, gets: INVALID },
    listSponsors: { passes: MEMBERS, gets: OK },
    removeSponsor: { passes: DEVELOPERS, gets: [404, 'sponsor.not_found'] },
    listDeliveries: { passes: MEMBERS, gets: OK },
    retryDelivery: { passes: SUPPORT, gets: NO_DELIVERY },
    deliveryAttempts: { passes: MEMBERS, gets: NO_DELIVERY },
    createEndpoint: { passes: DEVELOPERS, gets: INVALID },
    listEndpoints: { passes: MEMBERS, gets: OK },
    getEndpoint: { passes: MEMBERS, gets: NO_ENDPOINT },
    updateEndpoint: { passes: DEVELOPERS, gets: NO_ENDPOINT },
    removeEndpoint: { passes: DEVELOPERS, gets: NO_ENDPOINT },
    enableEndpoint: { passes: DEVELOPERS, gets: NO_ENDPOINT },
    rotateEndpointSecret: { passes: DEVELOPERS, gets: NO_ENDPOINT },
    testEndpoint: { passes: DEVELOPERS, gets: NO_ENDPOINT },
    createReplay: { passes: SUPPORT, gets: INVALID },
    listReplays: { passes: MEMBERS, gets: OK },
    getReplay: { passes: MEMBERS, gets: NO_REPLAY },
    cancelReplay: { passes: SUPPORT, gets: NO_REPLAY },
    simulateIntent: { passes: SUPPORT, gets: NO_INTENT },
  };
  const rows = Object.entries(MATRIX) as [PaymentOperationId, (typeof MATRIX)[PaymentOperationId]][];

  describe('every operation', () => {
    it('allows exactly the callers in its row of the matrix', async () => {
      const callers: Readonly<Record<Caller, Person>> = {
        'no session': new Person(dashboard.url),
        'owner of another account': await member('foreign', 'owner', await newAccount('Foreign')),
        owner,
        developer: await member('developer', 'developer'),
        support: await member('support', 'support'),
        viewer: await member('viewer', 'viewer'),
      };
      for (const [id, { passes, gets }] of rows)
        for (const caller of CALLERS) {
          const { method } = OPERATIONS[id];
          const hasBody = ['post', 'put', 'patch'].includes(method);
          const { status, code } = await callers[caller].pay(id, { accountId, ...(hasBody && { body: {} }) });
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

    it('is refused without the origin of the dashboard, if it can change something', async () => {
      for (const [id] of rows)
        for (const origin of ['https://evil.example', 'null', `${dashboard.url}.evil.example`, '']) {
          const { code } = await owner.pay(id, { accountId, headers: { origin } });
          expect([id, origin, code === 'origin.foreign']).toEqual([id, origin, OPERATIONS[id].method !== 'get']);
        }
    });
  });

  describe('a stream', () => {
    const follow = (person: Person, id: string, lastEventId?: string): Promise<OpenStream> =>
      openStream(`${person.paymentsUrl(accountId)}/intents/${id}/events`, {
        ...person.headers,
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      });
    const simulate = async (id: string, targetState: string): Promise<void> => {
      const { status } = await owner.pay('simulateIntent', { accountId, params: { id }, body: { targetState } });
      expect(status).toBe(200);
    };
    const names = ({ messages }: OpenStream) => messages.map(({ event }) => event);

    it('shows changes as they happen, resumes where it was, and ends with the intent', async () => {
      const viewer = await member('watching', 'viewer');
      const id = await createIntent();
      const first = await follow(viewer, id);
      expect([first.status, first.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      expect(first.headers.get('access-control-allow-origin')).toBeNull();
      await until('the snapshot', () => first.messages.length === 1);
      await simulate(id, 'pending');
      await until('the event', () => names(first).includes('intent.pending'));
      const last = first.messages.at(-1)?.id ?? '';
      first.close();
      await simulate(id, 'finalized');
      const second = await follow(viewer, id, last);
      expect(await second.ended).toBe(true);
      expect(names(second)).toEqual(['intent.confirmed', 'intent.finalized']);
    });

    it('ends within 30 s when its session ends, when its role goes, or when its member is removed', async () => {
      const id = await createIntent();
      const [leaving, demoted, removed, staying] = await Promise.all([
        member('leaving', 'viewer'),
        member('demoted', 'support'),
        member('removed', 'viewer'),
        member('staying', 'viewer'),
      ]);
      const people = [leaving, demoted, removed, staying] as const;
      const streams = await Promise.all(people.map((person) => follow(person, id)));
      await until('the snapshots', () => streams.every(({ messages }) => messages.length === 1));
      const { members } = (await owner.ask('listMembers', { params: { accountId } })).body;
      const idOf = (name: string): string => members.find((one) => one.name === name)?.userId ?? '';
      await leaving.ask('signOut');
      // Every role may watch: another one keeps the stream.
      const change = { params: { accountId, userId: idOf('demoted') }, body: { role: 'viewer' } };
      expect((await owner.ask('updateMember', change)).status).toBe(200);
      expect((await owner.ask('removeMember', { params: { accountId, userId: idOf('removed') } })).status).toBe(200);
      const began = performance.now();
      expect(await Promise.all([streams[0]?.ended, streams[2]?.ended])).toEqual([true, true]);
      expect(performance.now() - began).toBeLessThan(30_000);
      await simulate(id, 'pending');
      for (const stream of [streams[1], streams[3]]) {
        await until('the event', () => stream?.messages.at(-1)?.event === 'intent.pending');
        stream?.close();
      }
    });

    it('ends properly when the dashboard stops, and is resumed at another process', async () => {
      const other = await cluster.start('dashboard', {
        env: { GATEWAY_URL: gateway.url, DASHBOARD_URL: dashboard.url },
      });
      const id = await createIntent();
      const elsewhere = `${other.url}/api/accounts/${accountId}/test/v1/intents/${id}/events`;
      const stream = await openStream(elsewhere, owner.headers);
      await until('the snapshot', () => stream.messages.length === 1);
      other.kill('SIGTERM');
      expect(await stream.ended).toBe(true);
      expect(await other.exited).toEqual({ code: 0, signal: null });
      const resumed = await follow(owner, id, stream.messages.at(-1)?.id);
      await simulate(id, 'pending');
      await until('the event', () => names(resumed).includes('intent.pending'));
      resumed.close();
    });

    it('is refused beyond ten of a person', async () => {
      const id = await createIntent();
      const many = await member('many', 'viewer');
      const streams = await Promise.all(Array.from({ length: 10 }, () => follow(many, id)));
      expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
      expect((await follow(many, id)).status).toBe(429);
      streams[0]?.close();
      await until('a free place', async () => {
        const stream = await follow(many, id);
        stream.close();
        return stream.status === 200;
      });
      for (const stream of streams) stream.close();
    });
  });
});
