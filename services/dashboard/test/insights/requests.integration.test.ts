import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import type { LoggedRequest } from '@pf/contracts/dashboard';
import { type Cluster, type Instance, startCluster, until } from '@pf/testing';
import { seedOwner } from '../../src/seed.ts';
import { Person } from '../person.ts';

describe('GET /accounts/{accountId}/{mode}/requests', () => {
  let cluster: Cluster;
  let gateway: Instance;
  let owner: Person;
  const unknown = newIntentId(0);

  beforeAll(async () => {
    cluster = await startCluster();
    gateway = await cluster.start('gateway');
    const dashboard = await cluster.start('dashboard', { env: { GATEWAY_URL: gateway.url } });
    const email = 'olivia@shop.example';
    const { accountId, database } = cluster;
    const password = await seedOwner(database, { accountId, name: 'Olivia', email });
    owner = await new Person(dashboard.url).signIn(email, password);
  });
  afterAll(() => cluster.close());

  async function list(query: Readonly<Record<string, string>> = {}, mode = 'test') {
    const { accountId } = cluster;
    const { body, status } = await owner.ask('listRequests', { params: { accountId, mode }, query });
    expect(status).toBe(200);
    return body;
  }
  async function call(method: string, path: string, key = cluster.apiKeys.test, body?: object): Promise<string> {
    const response = await fetch(`${gateway.url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    await response.text();
    return response.headers.get('x-request-id') ?? '';
  }
  /** Waits until as many requests are listed: the gateway writes them in batches. */
  const listed = (count: number, mode?: string): Promise<readonly LoggedRequest[]> =>
    until(`${count} requests`, async () => {
      const { requests } = await list({}, mode);
      return requests.length >= count ? requests : null;
    });

  it('lists each request with its key, status, error, intent and duration, and nothing of its body', async () => {
    const secret = 'metadata that nobody else may read';
    const ids = [
      await call('GET', '/intents?limit=1'),
      await call('GET', `/intents/${unknown}`),
      await call('POST', '/intents', undefined, { chain: 'eip155:84532', metadata: { note: secret } }),
    ];
    await call('GET', '/intents', cluster.apiKeys.live);
    // Not of an account: with another key, without one, and of no endpoint.
    await call('GET', '/intents', `pk_test_${'x'.repeat(32)}`);
    await fetch(`${gateway.url}/v1/intents`);
    await call('GET', '/nowhere');
    const requests = await listed(3);
    expect(
      requests.map(({ method, route, path, status, errorCode, intentId, requestId }) => [
        method,
        route,
        path,
        status,
        errorCode,
        intentId,
        requestId,
      ]),
    ).toEqual([
      ['POST', '/v1/intents', '/v1/intents', 400, 'request.validation_failed', null, ids[2]],
      ['GET', '/v1/intents/{id}', `/v1/intents/${unknown}`, 404, 'intent.not_found', unknown, ids[1]],
      ['GET', '/v1/intents', '/v1/intents', 200, null, null, ids[0]],
    ]);
    const hint = `pk_test_…${cluster.apiKeys.test.slice(-4)}`;
    for (const { key, person, durationMs, at } of requests) {
      expect([key?.hint, person]).toEqual([hint, null]);
      expect(durationMs).toBeLessThan(60_000);
      expect(Math.abs(Date.now() - Date.parse(at))).toBeLessThan(60_000);
    }
    expect(await listed(1, 'live')).toHaveLength(1);
    const { rows } = await cluster.database.sql.query<{ row: string }>(
      'SELECT r::text AS row FROM service.request_records r',
    );
    const stored = rows.map(({ row }) => row).join('\n');
    expect(stored).not.toContain(secret);
    for (const key of Object.values(cluster.apiKeys)) expect(stored).not.toContain(key.slice(8));
  });

  it('truncates long paths, and redacts client secrets', async () => {
    const paths = [`/intents/${'x'.repeat(300)}`, `/intents/${unknown}_secret_opens-it`];
    for (const path of paths) await call('GET', path, cluster.apiKeys.live);
    const requests = await listed(3, 'live');
    expect(requests.map(({ path }) => path).sort()).toEqual([
      '/v1/intents',
      `/v1/intents/${unknown}_secret_[redacted]`,
      `/v1${paths[0]}`.slice(0, 200),
    ]);
  });

  it('filters by status, key and intent, and is paged', async () => {
    expect((await list({ status: '4xx' })).requests).toHaveLength(2);
    expect((await list({ status: '5xx' })).requests).toEqual([]);
    expect((await list({ intentId: unknown })).requests).toHaveLength(1);
    const [first] = (await list({ limit: '1' })).requests;
    expect((await list({ keyId: first?.key?.id ?? '' })).requests).toHaveLength(3);
    expect((await list({ keyId: 'key_of_another' })).requests).toEqual([]);
    const pages: LoggedRequest[] = [];
    for (let cursor: string | null = null, page = 0; page === 0 || cursor !== null; page++) {
      const next: Awaited<ReturnType<typeof list>> = await list({ limit: '2', ...(cursor !== null && { cursor }) });
      pages.push(...next.requests);
      cursor = next.nextCursor;
    }
    expect(pages).toEqual((await list()).requests);
    const params = { accountId: cluster.accountId, mode: 'test' };
    expect(await owner.ask('listRequests', { params, query: { status: '200' } })).toMatchObject({
      status: 400,
      error: { param: 'status' },
    });
  });

  it('names the person who made a request in the dashboard', async () => {
    const { accountId } = cluster;
    expect((await owner.pay('listDeliveries', { accountId })).status).toBe(200);
    const [request] = await until('the request', async () => {
      const { requests } = await list({ limit: '1' });
      return requests[0]?.route === '/v1/webhooks' ? requests : null;
    });
    const { body } = await owner.ask('getSession');
    expect([request?.key, request?.person]).toEqual([null, { id: body.user.id, name: 'Olivia' }]);
  });

  it('names the intent that a request has created', async () => {
    const intent = await cluster.start('intent');
    await call('POST', '/intents', undefined, {
      chain: 'eip155:84532',
      token: 'USDC',
      amount: '1',
      requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    });
    const [request] = await until('the create', async () => {
      const { requests } = await list({ status: '2xx' });
      return requests.some(({ method }) => method === 'POST') ? requests : null;
    });
    const { rows } = await cluster.database.sql.query<{ id: string }>('SELECT id FROM ledger.intents');
    expect([request?.method, request?.status, request?.intentId]).toEqual(['POST', 201, rows[0]?.id]);
    intent.kill('SIGTERM');
    await intent.exited;
  });
});
