import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { publicIntent } from '@pf/contracts';
import { createAccount, createKey } from '@pf/database';
import { type ApiClient, apiClient, type Cluster, type Instance, readWholeLog, startCluster, until } from '@pf/testing';

// Each request waits for a real pipeline, on a machine that may be busy.
const REQUESTOR = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const good = { chain: 'eip155:84532', token: 'USDC', amount: '12.50', requestor: REQUESTOR };

describe('two gateways with one log', () => {
  let cluster: Cluster;
  let gateways: readonly [Instance, Instance];
  let clients: readonly [ApiClient, ApiClient];
  const client = (gateway: Instance, key: string): ApiClient => apiClient(`${gateway.url}/v1`, key);

  beforeAll(async () => {
    cluster = await startCluster();
    [gateways] = await Promise.all([
      Promise.all([cluster.start('gateway'), cluster.start('gateway')]),
      cluster.start('intent'),
    ]);
    clients = [client(gateways[0], cluster.apiKeys.test), client(gateways[1], cluster.apiKeys.test)];
  });
  afterAll(() => cluster.close());

  it('create one intent from 100 concurrent creates with one idempotency key', async () => {
    const idempotencyKey = 'order-1001';
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        clients[n % 2 ? 1 : 0].create({ ...good, amount: String(n + 1), idempotencyKey }),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array<number>(99).fill(200), 201]);
    expect(responses.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(99);
    expect(new Set(responses.map(({ body }) => JSON.stringify(body.intent))).size).toBe(1);
    const { intents } = await readWholeLog(cluster);
    expect([...intents.values()].filter((intent) => intent.idempotencyKey === idempotencyKey)).toHaveLength(1);
  });

  it('return the intent of a used idempotency key whatever the body contains', async () => {
    const idempotencyKey = 'order-1002';
    const first = await clients[0].create({ ...good, idempotencyKey });
    const replayed = await clients[1].create({ ...good, token: 'DOGE', chain: 'eip155:1', idempotencyKey });
    expect([replayed.status, replayed.headers.get('idempotent-replayed'), replayed.body]).toEqual([
      200,
      'true',
      {
        ...first.body,
        replayed: true,
        differs: {
          chain: { existing: 'eip155:84532', requested: 'eip155:1' },
          token: { existing: 'USDC', requested: 'DOGE' },
        },
      },
    ]);
    // Idempotency keys are separate per mode.
    const live = await client(gateways[0], cluster.apiKeys.live).create({
      ...good,
      chain: 'eip155:8453',
      idempotencyKey,
    });
    expect([live.status, live.body.intent.livemode]).toEqual([201, true]);
  });

  it('say of a repeat what it asked for otherwise, however the same is spelled', async () => {
    const idempotencyKey = 'order-1003';
    const metadata = { order: '1003' };
    const first = await clients[0].create({ ...good, metadata, idempotencyKey });
    const { id, updatedAt } = first.body.intent;
    await clients[0].request('PATCH', `/intents/${id}`, { updatedAt, metadata: { note: 'gift' } });
    const asked = {
      chain: 'eip155:8453',
      token: 'usdc',
      amount: '12.5',
      requestor: REQUESTOR.toLowerCase(),
      metadata,
      idempotencyKey,
    };
    const same = await clients[1].create(asked);
    expect(same.body).toEqual({ ...same.body, replayed: true });
    expect(same.body).not.toHaveProperty('differs');
    expect(first.body).not.toHaveProperty('replayed');

    const other = await clients[1].create({
      ...asked,
      amount: '99',
      requestor: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      fulfiller: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      ttlSeconds: 60,
      metadata: { order: '1004', cart: '7' },
    });
    expect(other.body).toMatchObject({
      intent: { id },
      replayed: true,
      differs: {
        amount: { existing: '12.50', requested: '99' },
        requestor: { existing: REQUESTOR, requested: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' },
        fulfiller: { existing: null, requested: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' },
        ttlSeconds: { existing: 86_400, requested: 60 },
        'metadata.order': { existing: '1003', requested: '1004' },
        'metadata.cart': { existing: null, requested: '7' },
      },
    });
  });

  it('take the idempotency key from the header, too', async () => {
    const ask = (key: string, body: object, path = '/intents') =>
      clients[0].request<{ intent?: { id: string; idempotencyKey?: string }; error?: object }>('POST', path, body, {
        'idempotency-key': key,
      });
    const first = await ask('order-1005', good);
    expect([first.status, first.body.intent?.idempotencyKey]).toEqual([201, 'order-1005']);
    const id = first.body.intent?.id;
    // In quotes it is the string of RFC 8941.
    for (const [key, body] of [
      ['order-1005', good],
      ['"order-1005"', good],
      ['order-1005', { ...good, idempotencyKey: 'order-1005' }],
    ] as const)
      expect(await ask(key, body)).toMatchObject({ status: 200, body: { intent: { id } } });
    expect(await ask('order-1005', { ...good, idempotencyKey: 'order-1006' })).toMatchObject({
      status: 400,
      body: { error: { code: 'request.validation_failed', param: 'idempotencyKey' } },
    });
    expect(await ask('k'.repeat(256), good)).toMatchObject({
      status: 400,
      body: { error: { param: 'Idempotency-Key' } },
    });
    expect(await ask('', {}, `/intents/${id}/cancel`)).toMatchObject({ status: 400 });
    expect(await ask('cancel-1005', {}, `/intents/${id}/cancel`)).toMatchObject({ status: 200 });
  });

  it('return exactly the documented fields', async () => {
    const { body } = await clients[0].create({
      ...good,
      idempotencyKey: 'k',
      metadata: { order: 'A-1' },
      ttlSeconds: 60,
      fulfiller: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
      direction: 'send',
    });
    expect(publicIntent.parse(body.intent)).toMatchObject({
      state: 'created',
      direction: 'send',
      fulfiller: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      ttlSeconds: 60,
      metadata: { order: 'A-1' },
    });
    expect((await clients[1].get(body.intent.id)).body).toEqual(body);
  });

  it('use the last of several fields with one name, as JSON parsers do', async () => {
    const ask = (amounts: string): Promise<{ status: number; body: { intent?: { amount: string } } }> =>
      clients[0].request(
        'POST',
        '/intents',
        `{"chain":"eip155:84532","token":"USDC","requestor":"${REQUESTOR}",${amounts}}`,
      );
    expect(await ask('"amount":"x","amount":"7"')).toMatchObject({ status: 201, body: { intent: { amount: '7' } } });
    expect(await ask('"amount":"7","amount":"x"')).toMatchObject({ status: 400 });
  });

  it('accept strings of the documented length in any alphabet', async () => {
    const request = { ...good, idempotencyKey: '🪙'.repeat(255), metadata: { ['ключ'.repeat(10)]: '値'.repeat(500) } };
    const { status, body } = await clients[0].create(request);
    expect([status, body.intent]).toMatchObject([
      201,
      { idempotencyKey: request.idempotencyKey, metadata: request.metadata },
    ]);
    expect((await clients[1].create(request)).status).toBe(200);
  });

  it('map a live chain and a live token address to the testnet for a test key', async () => {
    const { body } = await clients[0].create({
      ...good,
      chain: 'eip155:8453',
      token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    });
    expect(body.intent).toMatchObject({
      chain: 'eip155:84532',
      token: 'USDC',
      tokenAddress: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      livemode: false,
    });
  });

  it('list the available chains and tokens when the requested one is not available', async () => {
    const live = client(gateways[0], cluster.apiKeys.live);
    // No upstream is configured for Tempo's live network.
    const chain = await live.create({ ...good, chain: 'eip155:4217' });
    expect([chain.status, chain.body.error]).toMatchObject([
      422,
      { code: 'chain.not_available', param: 'chain', details: { available: ['eip155:8453'] } },
    ]);
    const token = await clients[0].create({ ...good, token: 'USDT' });
    expect([token.status, token.body.error]).toMatchObject([
      422,
      { code: 'token.not_available', param: 'token', message: expect.stringMatching(/USDC or EURC/) },
    ]);
    const testnet = await live.create(good);
    expect([testnet.status, testnet.body.error]).toMatchObject([
      422,
      { code: 'chain.not_available', message: expect.stringMatching(/testnet.*live key/) },
    ]);
  });

  it('list every invalid field that depends on the chain', async () => {
    const { status, body } = await clients[0].create({
      ...good,
      amount: '0.0000001',
      requestor: `0x${'0'.repeat(40)}`,
      direction: 'send',
    });
    expect([status, body.error]).toMatchObject([400, { param: 'amount' }]);
    expect((body.error?.details?.['issues'] as { param: string }[]).map(({ param }) => param)).toEqual([
      'amount',
      'requestor',
      'fulfiller',
    ]);
  });

  it('detect once, cancel once, and name the state afterwards', async () => {
    const { id } = (await clients[0].create(good)).body.intent;
    const [first, again] = [await clients[0].detected(id), await clients[1].detected(id)];
    expect(first.body.intent.detectedAt).not.toBeNull();
    expect(again.body).toEqual(first.body);
    expect((await clients[1].cancel(id)).body.intent.state).toBe('cancelled');
    for (const conflict of [await clients[0].cancel(id), await clients[0].detected(id)]) {
      expect([conflict.status, conflict.body.error]).toMatchObject([
        409,
        { code: 'intent.invalid_state', details: { intent_id: id, current_state: 'cancelled' } },
      ]);
    }
  });

  it('accept JSON in UTF-8, and no body where none is needed', async () => {
    const { id } = (await clients[0].create(good)).body.intent;
    const post = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>, to = '/intents') => {
      const response = await fetch(`${gateways[0].url}/v1${to}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${cluster.apiKeys.test}`, ...headers },
        body,
      });
      return [response.status, ((await response.json()) as { error?: { code: string } }).error?.code];
    };
    const json = { 'content-type': 'application/json' };
    expect(await post(JSON.stringify(good), { 'content-type': 'application/json; charset=UTF-8' })).toEqual([
      201,
      undefined,
    ]);
    expect(await post(JSON.stringify(good), { 'content-type': 'text/plain' })).toEqual([
      415,
      'request.unsupported_media_type',
    ]);
    expect(await post(JSON.stringify(good), { 'content-type': 'application/json; charset=latin1' })).toEqual([
      415,
      'request.unsupported_media_type',
    ]);
    expect(await post(JSON.stringify(good), { ...json, 'content-encoding': 'gzip' })).toEqual([
      415,
      'request.unsupported_media_type',
    ]);
    expect(await post(Uint8Array.of(0x7b, 0xff, 0x7d), json)).toEqual([400, 'request.malformed_json']);
    expect(await post('{"chain":', json)).toEqual([400, 'request.malformed_json']);
    expect(await post('['.repeat(60_000), json)).toEqual([400, 'request.validation_failed']);
    expect(await post(`{"metadata":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, json)).toEqual([
      400,
      'request.validation_failed',
    ]);
    expect(await post(`{"x":"${'x'.repeat(65_536)}"}`, json)).toEqual([413, 'request.too_large']);
    expect(await post(`{"amount":"1",${JSON.stringify(good).slice(1)}`, json)).toEqual([201, undefined]);
    expect(await post('', json, `/intents/${id}/detected`)).toEqual([200, undefined]);
    expect(await post('{"reason":"x"}', json, `/intents/${id}/cancel`)).toEqual([400, 'request.validation_failed']);
    expect(await post('', {}, `/intents/${id}/cancel`)).toEqual([200, undefined]);
  });

  it('give a payer’s key only the endpoints for payers, and another account nothing', async () => {
    const { id } = (await clients[0].create(good)).body.intent;
    const payer = client(
      gateways[0],
      (await createKey(cluster.database, { accountId: cluster.accountId, livemode: false, scope: 'payer' })).key,
    );
    expect([(await payer.get(id)).status, (await payer.detected(id)).status]).toEqual([200, 200]);
    for (const refused of [await payer.create(good), await payer.cancel(id)])
      expect([refused.status, refused.body.error?.code]).toEqual([401, 'api_key.insufficient_scope']);
    const account = await createAccount(cluster.database, { name: 'stranger' });
    const stranger = client(
      gateways[0],
      (await createKey(cluster.database, { accountId: account.id, livemode: false })).key,
    );
    for (const foreign of [stranger, client(gateways[1], cluster.apiKeys.live)]) {
      for (const response of [
        await foreign.get(id),
        await foreign.cancel(id),
        await foreign.detected(id),
        await foreign.build(id, REQUESTOR),
        await foreign.submit(id, '0x02', REQUESTOR),
      ]) {
        expect([response.status, response.body.error?.code]).toEqual([404, 'intent.not_found']);
      }
    }
  });

  it('write the request id and the trace into the event log, and no API key into any log line', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    // It asks for its request to be traced, too: no client decides that.
    const { body } = await clients[0].request('POST', '/intents', good, {
      'x-request-id': 'checkout-77',
      traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
    });
    const { events } = await readWholeLog(cluster);
    const created = events.find(({ intentId }) => intentId === body.intent.id);
    expect(created?.trace.requestId).toBe('checkout-77');
    expect(created?.trace.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
    const lines = (): string => readFileSync(gateways[0].log, 'utf8');
    const line = await until('the line of the request', () =>
      lines()
        .split('\n')
        .find((text) => text.includes('checkout-77')),
    );
    expect(JSON.parse(line)).toMatchObject({
      level: 'info',
      method: 'POST',
      route: '/v1/intents',
      status: 201,
      accountId: cluster.accountId,
      requestId: 'checkout-77',
      traceId,
      ms: expect.any(Number),
    });
    for (const key of [cluster.apiKeys.test, cluster.apiKeys.live]) expect(lines()).not.toContain(key.slice(8));
  });

  it('read outcomes from the database while Redis is unavailable', async () => {
    const deaf = client(await cluster.start('gateway', { detours: { redis: '127.0.0.1:1' } }), cluster.apiKeys.test);
    const idempotencyKey = 'without-redis';
    const responses = await Promise.all(Array.from({ length: 20 }, () => deaf.create({ ...good, idempotencyKey })));
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array<number>(19).fill(200), 201]);
    expect((await clients[0].create({ ...good, idempotencyKey })).body.intent).toEqual(responses[0]?.body.intent);
    const { id } = responses[0]?.body.intent ?? { id: '' };
    expect((await deaf.cancel(id)).body.intent.state).toBe('cancelled');
    expect((await deaf.cancel(id)).body.error?.code).toBe('intent.invalid_state');
  });

  it('lose no request when one stops: kept connections close after a last response', async () => {
    const leaving = await cluster.start('gateway');
    const api = client(leaving, cluster.apiKeys.test);
    const answered: number[] = [];
    // Like a proxy, it sends requests until a response closes the connection.
    const workers = Array.from({ length: 8 }, async () => {
      for (let told = false; !told;) {
        const { status, headers } = await api.create(good);
        answered.push(status);
        told = headers.get('connection') === 'close';
      }
    });
    await until('creates to be answered', () => answered.length > 30);
    leaving.kill('SIGTERM');
    await Promise.all(workers);
    expect(new Set(answered)).toEqual(new Set([201]));
    expect(await leaving.exited).toEqual({ code: 0, signal: null });
  });
});

describe('POST /intents without a writer', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());

  it('returns 503 with the id of the intent that may still be created', async () => {
    const gateway = await cluster.start('gateway');
    const { status, headers, body } = await apiClient(`${gateway.url}/v1`, cluster.apiKeys.test).create(good);
    expect([status, body.error]).toMatchObject([
      503,
      { code: 'service.unavailable', details: { intent_id: expect.stringMatching(/^pi_/), retry_after: 2 } },
    ]);
    expect(headers.get('retry-after')).toBe('2');
  });
});
