import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { intentEvent, intentEventsResponse, newIntentId, streamSnapshot } from '@pf/contracts';
import { createAccount, createKey, intentEvents, revokeKey } from '@pf/database';
import type { IntentId } from '@pf/domain';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  type Instance,
  openStream,
  readBackingStack,
  startCluster,
  startTcpProxy,
  type TcpProxy,
  until,
} from '@pf/testing';

// Each request waits for a real pipeline, on a machine that may be busy.
const good = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};

describe('the events of an intent', () => {
  let cluster: Cluster;
  let redis: TcpProxy;
  let gateways: readonly [Instance, Instance];
  let clients: readonly [ApiClient, ApiClient];

  beforeAll(async () => {
    cluster = await startCluster();
    redis = await startTcpProxy(new URL(readBackingStack().redis).host);
    [gateways] = await Promise.all([
      Promise.all([cluster.start('gateway'), cluster.start('gateway', { detours: { redis: redis.address } })]),
      cluster.start('intent'),
    ]);
    clients = [
      apiClient(`${gateways[0].url}/v1`, cluster.apiKeys.test),
      apiClient(`${gateways[1].url}/v1`, cluster.apiKeys.test),
    ];
  });
  afterAll(async () => {
    await cluster.close();
    await redis.close();
  });

  const created = async (body: Record<string, unknown> = {}): Promise<IntentId> =>
    (await clients[0].create({ ...good, ...body })).body.intent.id;
  const stored = async (id: IntentId) => (await intentEvents(cluster.database, id, 0, 100)).rows;

  it('are listed and streamed with the bodies of the webhooks, from a snapshot to the last one', async () => {
    const id = await created({ metadata: { memo: 'Zürich €', '10': 'b', '2': 'a' } });
    const stream = await clients[0].follow(id);
    expect(
      Object.fromEntries(
        ['content-type', 'cache-control', 'x-accel-buffering'].map((name) => [name, stream.headers.get(name)]),
      ),
    ).toEqual({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    await until('the snapshot', () => stream.messages.length === 1);
    const [snapshot] = stream.messages;
    expect([snapshot?.event, snapshot?.id]).toEqual(['snapshot', '1']);
    expect(streamSnapshot.parse(JSON.parse(snapshot?.data ?? ''))).toEqual({
      intent: (await clients[0].get(id)).body.intent,
    });
    await clients[0].detected(id);
    await clients[1].simulate(id, 'finalized');
    expect(await stream.ended).toBe(true);
    const events = await stored(id);
    expect(events.map(({ type }) => type)).toEqual([
      'intent.created',
      'intent.detected',
      'intent.pending',
      'intent.confirmed',
      'intent.finalized',
    ]);
    expect(stream.messages.slice(1)).toEqual(
      events.slice(1).map(({ version, type, body }) => ({ id: String(version), event: type, data: body })),
    );
    for (const { data } of stream.messages.slice(1)) expect(() => intentEvent.parse(JSON.parse(data))).not.toThrow();

    const history = await clients[1].events(id);
    expect([history.status, history.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(intentEventsResponse.parse(history.body).events).toEqual(
      events.map(({ body }) => JSON.parse(body) as unknown),
    );
    // A stream opened later ends at once.
    const late = await clients[1].follow(id);
    expect([await late.ended, late.messages.map(({ event }) => event)]).toEqual([true, ['snapshot']]);
    const after = await clients[1].follow(id, String(events.at(-1)?.version));
    expect([after.status, await after.ended, after.messages]).toEqual([200, true, []]);
  });

  it('come in pages and in one stream when there are more than a page has', async () => {
    const id = await created();
    for (let round = 0; round < 55; round++)
      for (const state of ['pending', 'created']) expect((await clients[0].simulate(id, state)).status).toBe(200);
    const { rows: all } = await intentEvents(cluster.database, id, 0, 1_000);
    expect(all).toHaveLength(111);
    const bodies = all.map(({ body }) => JSON.parse(body) as unknown);
    const page = async (query: string) => {
      const { status, body } = await clients[0].request('GET', `/intents/${id}/events${query}`);
      expect(status).toBe(200);
      return intentEventsResponse.parse(body);
    };
    const first = await page('');
    expect([first.events, first.hasMore]).toEqual([bodies.slice(0, 100), true]);
    const last = await page(`?cursor=${first.nextCursor ?? ''}`);
    expect(last).toEqual({ events: bodies.slice(100), hasMore: false, nextCursor: null });
    const two = await page('?limit=2');
    expect((await page(`?limit=2&cursor=${two.nextCursor ?? ''}`)).events).toEqual(bodies.slice(2, 4));
    for (const query of ['?limit=0', '?limit=101', '?cursor=x', '?cursor=WzEsMl0'])
      expect((await clients[0].request('GET', `/intents/${id}/events${query}`)).status).toBe(400);
    const stream = await clients[0].follow(id, '0');
    await until('all events', () => stream.messages.length === all.length);
    expect(stream.messages.map(({ id: version }) => version)).toEqual(all.map(({ version }) => String(version)));
    stream.close();
  });

  it.each(['failed', 'cancelled', 'expired'])('end when the intent is %s', async (state) => {
    const id = await created();
    const stream = await clients[1].follow(id);
    await clients[0].simulate(id, state);
    expect(await stream.ended).toBe(true);
    expect(stream.messages.at(-1)?.event).toMatch(new RegExp(`snapshot|intent.${state}`));
    expect(JSON.parse(stream.messages.at(-1)?.data ?? '')).toMatchObject(
      stream.messages.at(-1)?.event === 'snapshot' ? { intent: { state } } : { data: { intent: { state } } },
    );
  });

  it('arrive without gaps or repeats at a client that keeps reconnecting to alternating gateways', async () => {
    const id = await created();
    const first = await clients[0].follow(id);
    await until('the snapshot', () => first.messages.length === 1);
    first.close();
    let at = first.messages[0]?.id ?? '';
    const moving = (async () => {
      for (let round = 0; round < 12; round++) {
        for (const state of ['pending', 'created'])
          expect((await clients[round % 2 ? 1 : 0].simulate(id, state)).status).toBe(200);
      }
      await clients[0].simulate(id, 'confirmed');
      await clients[0].simulate(id, 'finalized');
    })();
    const received: string[] = [];
    for (let connection = 0, over = false; !over; connection++) {
      const stream = await clients[connection % 2 ? 1 : 0].follow(id, at);
      const some = 1 + Math.floor(Math.random() * 4);
      over = await Promise.race([
        stream.ended,
        until('some events', () => stream.messages.length >= some, 30_000).then(() => false),
      ]);
      stream.close();
      await stream.ended;
      // Everything that arrived before the connection closed counts.
      for (const message of stream.messages) received.push(message.id);
      at = received.at(-1) ?? at;
    }
    await moving;
    const expected = (await stored(id))
      .map(({ version }) => String(version))
      .filter((version) => Number(version) > Number(first.messages[0]?.id));
    expect(expected.length).toBeGreaterThan(24);
    expect(received).toEqual(expected);
  });

  it('begin with a snapshot if Last-Event-ID names an event that does not exist', async () => {
    const id = await created();
    for (const unknown of ['99', 'abc', '-1', '1e1', '9'.repeat(40)]) {
      const stream = await clients[0].follow(id, unknown);
      await until('the snapshot', () => stream.messages[0]?.event === 'snapshot');
      stream.close();
    }
    const all = await clients[0].follow(id, '0');
    await until('all from the first on', () => all.messages[0]?.event === 'intent.created');
    all.close();
  });

  it('continue while Redis is unavailable, and after it is back', async () => {
    const id = await created();
    await redis.cut();
    const stream = await clients[1].follow(id);
    await until('the snapshot', () => stream.messages.length === 1);
    await clients[0].simulate(id, 'pending');
    await until('the event', () => stream.messages.at(-1)?.event === 'intent.pending');
    await redis.restore();
    await clients[0].simulate(id, 'finalized');
    expect(await stream.ended).toBe(true);
    expect(stream.messages.map(({ event }) => event)).toEqual([
      'snapshot',
      'intent.pending',
      'intent.confirmed',
      'intent.finalized',
    ]);
  });

  it('are 404 for unknown ids, other accounts and the other mode', async () => {
    const id = await created();
    const other = await createAccount(cluster.database, { name: 'other' });
    const { key } = await createKey(cluster.database, { accountId: other.id, livemode: false });
    const attempts: readonly [string, string][] = [
      [cluster.apiKeys.live, id],
      [key, id],
      [cluster.apiKeys.test, newIntentId(0)],
      [cluster.apiKeys.test, 'pi_none'],
    ];
    for (const accept of ['application/json', 'text/event-stream']) {
      for (const [apiKey, which] of attempts) {
        const response = await apiClient(`${gateways[0].url}/v1`, apiKey).request(
          'GET',
          `/intents/${which}/events`,
          undefined,
          { accept },
        );
        expect([response.status, response.body.error?.code]).toEqual([404, 'intent.not_found']);
      }
      const keyless = await apiClient(`${gateways[0].url}/v1`, null).request(
        'GET',
        `/intents/${id}/events`,
        undefined,
        { accept },
      );
      expect([keyless.status, keyless.body.error?.code]).toEqual([401, 'api_key.missing']);
    }
    const head = await fetch(`${gateways[0].url}/v1/intents/${id}/events`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${cluster.apiKeys.test}`, accept: 'text/event-stream' },
    });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  });

  it('are available to payers, who may also fetch, detect, build and submit, and nothing else', async () => {
    const id = await created();
    const { key } = await createKey(cluster.database, {
      accountId: cluster.accountId,
      livemode: false,
      scope: 'payer',
    });
    const payer = apiClient(`${gateways[0].url}/v1`, key);
    const allowed = [await payer.get(id), await payer.events(id), await payer.detected(id)];
    expect(allowed.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(allowed[0]?.headers.get('ratelimit-policy')).toMatch(/^"address";q=\d+;w=60, "key";q=\d+;w=60$/);
    const stream = await openStream(`${gateways[0].url}/v1/intents/${id}/events`, {
      authorization: `Bearer ${key}`,
      origin: 'https://wallet.example',
    });
    expect([stream.status, stream.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    stream.close();
    // The error is about the request, not about the scope.
    expect((await payer.build(id)).body.error?.code).toBe('request.validation_failed');
    expect((await payer.request('POST', `/intents/${id}/submit`, {})).body.error?.code).toBe(
      'request.validation_failed',
    );
    const refused: readonly [string, string][] = [
      ['POST', '/intents'],
      ['GET', '/intents'],
      ['PATCH', `/intents/${id}`],
      ['POST', `/intents/${id}/cancel`],
      ['POST', `/intents/${id}/refund`],
      ['POST', `/test/intents/${id}/simulate`],
      ['GET', '/webhooks'],
      ['POST', '/webhooks/whd_x/retry'],
    ];
    for (const [method, path] of refused) {
      const { status, body } = await payer.request(method, path);
      expect([method, path, status, body.error?.code]).toEqual([method, path, 401, 'api_key.insufficient_scope']);
    }
  });

  it('end within 30 s of the revocation of the key', async () => {
    const { key, id: keyId } = await createKey(cluster.database, {
      accountId: cluster.accountId,
      livemode: false,
      scope: 'payer',
    });
    const id = await created();
    const stream = await apiClient(`${gateways[0].url}/v1`, key).follow(id);
    const other = await clients[0].follow(id);
    await until('the snapshot', () => stream.messages.length === 1);
    await revokeKey(cluster.database, { accountId: cluster.accountId, keyId });
    const revokedAt = performance.now();
    expect(await stream.ended).toBe(true);
    expect(performance.now() - revokedAt).toBeLessThan(30_000);
    // Others go on, with a comment every 15 s.
    await until('comments', () => other.comments() > 0);
    other.close();
  });

  it('continue at another gateway when one stops', async () => {
    const id = await created();
    const leaving = await cluster.start('gateway');
    const stream = await apiClient(`${leaving.url}/v1`, cluster.apiKeys.test).follow(id);
    await until('the snapshot', () => stream.messages.length === 1);
    leaving.kill('SIGTERM');
    expect(await stream.ended).toBe(true);
    expect(stream.retryMs()).toBeGreaterThan(0);
    await clients[0].simulate(id, 'finalized');
    expect((await leaving.exited).code).toBe(0);
    const resumed = await clients[0].follow(id, stream.messages.at(-1)?.id);
    expect(await resumed.ended).toBe(true);
    expect([...stream.messages, ...resumed.messages].map(({ event }) => event)).toEqual([
      'snapshot',
      'intent.pending',
      'intent.confirmed',
      'intent.finalized',
    ]);
  });
});
