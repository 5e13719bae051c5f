import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deliveryResponse, deliveriesResponse, type WebhookDelivery } from '@pf/contracts';
import { addWebhookEndpoint, createAccount, createKey } from '@pf/database';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  startCluster,
  startTcpProxy,
  type TcpProxy,
  readBackingStack,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '@pf/testing';

const good = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};

describe('webhook deliveries', () => {
  let cluster: Cluster;
  let redis: TcpProxy;
  let receiver: WebhookReceiver;
  let client: ApiClient;
  let url: string;

  beforeAll(async () => {
    cluster = await startCluster();
    redis = await startTcpProxy(new URL(readBackingStack().redis).host);
    receiver = await webhookReceiver();
    await addWebhookEndpoint(cluster.database, { accountId: cluster.accountId, livemode: false, url: receiver.url });
    const [gateway] = await Promise.all([
      cluster.start('gateway', { detours: { redis: redis.address } }),
      cluster.start('intent'),
      cluster.start('webhook'),
    ]);
    url = `${gateway.url}/v1`;
    client = apiClient(url, cluster.apiKeys.test);
  });
  afterAll(async () => {
    await cluster.close();
    await receiver.close();
    await redis.close();
  });

  const all = async (query: Record<string, string> = {}): Promise<readonly WebhookDelivery[]> => {
    const deliveries: WebhookDelivery[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { status, body } = await client.deliveries({ ...query, ...(cursor !== '' && { cursor }) });
      expect(status).toBe(200);
      const page = deliveriesResponse.parse(body);
      deliveries.push(...page.deliveries);
      expect(page.hasMore).toBe(page.nextCursor !== null);
      cursor = page.nextCursor;
    }
    return deliveries;
  };
  const received = (eventId: string) => receiver.received.filter(({ body }) => body.eventId === eventId);

  it('are listed newest first, in pages and by each filter', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      const { id } = (await client.create(good)).body.intent;
      await client.simulate(id, 'finalized');
      ids.push(id);
    }
    const deliveries = await until('all deliveries', async () => {
      const found = await all({ limit: '5' });
      return found.length === 12 && found.every(({ deliveredAt }) => deliveredAt !== null) ? found : null;
    });
    expect(new Set(deliveries.map(({ id }) => id)).size).toBe(12);
    expect(deliveries).toEqual(await all({ limit: '100' }));
    expect(deliveries[0]).toEqual({
      id: expect.stringMatching(/^whd_/),
      eventId: expect.stringMatching(/^evt_/),
      type: expect.stringMatching(/^intent\./),
      intentId: expect.stringMatching(/^pi_/),
      url: receiver.url,
      responseStatus: 200,
      attemptCount: 1,
      lastAttemptedAt: expect.any(String),
      deliveredAt: expect.any(String),
      failedAt: null,
      nextAttemptAt: null,
    });
    const [id = ''] = ids;
    const { events } = (await client.events(id)).body;
    const ofIntent = await all({ intentId: id, limit: '3' });
    expect(new Set(ofIntent.map(({ eventId }) => eventId))).toEqual(new Set(events.map(({ eventId }) => eventId)));
    const eventId = events[0]?.eventId ?? '';
    expect((await all({ eventId })).map((delivery) => delivery.eventId)).toEqual([eventId]);
    expect(await all({ type: 'intent.pending' })).toHaveLength(3);
    expect(await all({ status: 'delivered', type: 'intent.created', intentId: id })).toEqual([
      expect.objectContaining({ type: 'intent.created', intentId: id }),
    ]);
    expect(await all({ status: 'failed' })).toEqual([]);
    expect(await all({ intentId: 'pi_none' })).toEqual([]);
  });

  it('are invisible to other accounts and the other mode', async () => {
    const other = await createAccount(cluster.database, { name: 'other' });
    const { key } = await createKey(cluster.database, { accountId: other.id, livemode: false });
    const [{ id, eventId }] = (await all()) as [WebhookDelivery];
    for (const apiKey of [cluster.apiKeys.live, key]) {
      const stranger = apiClient(url, apiKey);
      expect((await stranger.deliveries({ eventId })).body).toEqual({
        deliveries: [],
        hasMore: false,
        nextCursor: null,
      });
      const retried = await stranger.retry(id);
      expect([retried.status, retried.body.error?.code]).toEqual([404, 'delivery.not_found']);
    }
    for (const unknown of ['whd_11111111', 'evt_x', 'whd_%00', 'x'.repeat(300)]) {
      const { status, body } = await client.retry(unknown);
      expect([status, body.error?.code]).toEqual([404, 'delivery.not_found']);
    }
    expect((await apiClient(url, null).deliveries()).status).toBe(401);
    expect((await apiClient(url, null).retry(id)).status).toBe(401);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=5&limit=6', 'limit'],
    ['cursor=made-up', 'cursor'],
    ['type=intent.updated', 'type'],
    ['status=lost', 'status'],
    ['intentId=', 'intentId'],
    ['url=x', 'url'],
    ['__proto__=x', '__proto__'],
  ])('are not listed by ?%s', async (query, param) => {
    const { status, body } = await client.request('GET', `/webhooks?${query}`);
    expect([status, body.error?.code, body.error?.param]).toEqual([400, 'request.validation_failed', param]);
  });

  it('are retried immediately with the same body, also while Redis is unavailable', async () => {
    const [{ id, eventId }] = (await all({ type: 'intent.created' })) as [WebhookDelivery];
    const [first] = received(eventId);
    for (const [attempt, cut] of [
      [2, false],
      [3, true],
    ] as const) {
      if (cut) await redis.cut();
      const { status, body } = await client.retry(id);
      expect(status).toBe(200);
      expect(deliveryResponse.parse(body).delivery).toMatchObject({
        id,
        eventId,
        attemptCount: attempt - 1,
        deliveredAt: null,
        failedAt: null,
        responseStatus: 200,
      });
      const again = await until('the delivery', () => received(eventId)[attempt - 1], 60_000);
      expect([again.raw, again.headers['x-pf-delivery-id'], again.headers['x-pf-attempt']]).toEqual([
        first?.raw,
        id,
        String(attempt),
      ]);
      if (cut) await redis.restore();
      await until('its result', async () => (await all({ eventId }))[0]?.attemptCount === attempt);
    }
    await until('the end of it', async () => (await all({ eventId }))[0]?.deliveredAt);
    const wrong = await client.request('POST', `/webhooks/${id}/retry`, { now: true });
    expect([wrong.status, wrong.body.error?.param]).toEqual([400, 'now']);
  });

  it('show the receiver’s last status while they fail', async () => {
    receiver.respond = 503;
    const { id } = (await client.create(good)).body.intent;
    const [failing] = await until('a failed attempt', async () => {
      const found = await all({ intentId: id, status: 'pending' });
      return found[0]?.responseStatus === 503 ? found : null;
    });
    expect(failing).toMatchObject({ attemptCount: 1, deliveredAt: null, failedAt: null });
    receiver.respond = 200;
    await client.retry(failing?.id ?? '');
    await until('the delivery', async () => (await all({ intentId: id, status: 'delivered' }))[0]);
  });
});
