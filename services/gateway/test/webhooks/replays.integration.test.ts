import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PaymentClient, type WebhookReplay, webhooks } from '@pf/client';
import { checkedFetch, type Cluster, startCluster, until, type WebhookReceiver, webhookReceiver } from '@pf/testing';

const good = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};

describe('webhook replays', () => {
  let cluster: Cluster;
  let client: PaymentClient;
  let url: string;
  const receivers: WebhookReceiver[] = [];
  const start = new Date().toISOString();

  beforeAll(async () => {
    cluster = await startCluster();
    const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('webhook')]);
    url = `${gateway.url}/v1`;
    client = clientWith(cluster.apiKeys.test);
  });
  afterAll(async () => {
    await cluster.close();
    for (const receiver of receivers) await receiver.close();
  });

  const clientWith = (apiKey: string) =>
    new PaymentClient({ baseUrl: url, apiKey, maxRetries: 0, fetch: checkedFetch(url) });
  const replays = () => client.webhooks.replays;
  /** An endpoint with a receiver of its own. */
  const endpoint = async () => {
    const receiver = await webhookReceiver();
    receivers.push(receiver);
    const created = await client.webhooks.endpoints.create({ url: receiver.url });
    return { id: created.endpoint.id, secret: created.secret, receiver };
  };
  const completed = ({ id }: WebhookReplay) =>
    until('the replay to complete', async () => {
      const replay = await replays().get(id);
      return replay.state === 'completed' ? replay : null;
    });
  const eventsOf = ({ received }: WebhookReceiver): string[] => received.map(({ body }) => body.eventId).sort();

  it('send to a new URL what another one got before, once each, and show their progress', async () => {
    const old = await endpoint();
    const intent = await client.intents.create(good);
    await client.intents.simulate(intent.id, 'finalized');
    await until('all events', () => old.receiver.received.length === 4);
    const fresh = await endpoint();
    const request = {
      since: start,
      endpointId: old.id,
      toEndpointId: fresh.id,
      status: 'all' as const,
      idempotencyKey: 'to the new URL',
    };
    const replay = await replays().create(request);
    expect(replay).toMatchObject({ state: 'counting', total: 0, endpointId: old.id, toEndpointId: fresh.id });
    // A repeated request begins no other; it shows how far the first one is.
    expect(await replays().create({ ...request, status: 'failed' })).toMatchObject({ id: replay.id, status: 'all' });
    expect(await completed(replay)).toMatchObject({ total: 4, pending: 0, delivered: 4, failed: 0, skipped: 0 });
    expect(eventsOf(fresh.receiver)).toEqual(eventsOf(old.receiver));
    for (const { raw, headers } of fresh.receiver.received)
      expect(await webhooks.verify(raw, headers, fresh.secret)).toMatchObject({ data: { intent: { id: intent.id } } });

    await client.webhooks.endpoints.remove(old.id);
    const again = await completed(await replays().create({ ...request, idempotencyKey: 'once more' }));
    expect(again).toMatchObject({ total: 4, delivered: 0, skipped: 4 });
    expect(fresh.receiver.received).toHaveLength(4);
    expect((await replays().list().page()).items.map(({ id }) => id)).toEqual([again.id, replay.id]);
    const [first] = (await replays().list({ limit: 1 }).page()).items;
    expect(first).toEqual(again);
  });

  it('send again what failed since a time, to its own URL', async () => {
    const { id, receiver } = await endpoint();
    receiver.respond = 500;
    const since = new Date().toISOString();
    const intent = await client.intents.create(good);
    const [delivery] = await until('the attempt', async () => {
      const found = (await client.webhooks.list({ intentId: intent.id }).page()).items.filter(
        (one) => one.url === receiver.url && one.attemptCount === 1,
      );
      return found.length === 1 ? found : null;
    });
    // As after its last attempt, days later.
    await cluster.database.prisma.delivery.update({
      where: { id: delivery?.id ?? '' },
      data: { status: 'failed', failedAt: new Date(), nextAttemptAt: null },
    });
    receiver.respond = 200;
    const selection = { since, endpointId: id, eventTypes: ['intent.created' as const] };
    expect(await completed(await replays().create(selection))).toMatchObject({ total: 1, delivered: 1 });
    expect(receiver.received).toHaveLength(2);
    expect(await completed(await replays().create(selection))).toMatchObject({ total: 0, delivered: 0 });
    expect(receiver.received).toHaveLength(2);
  });

  it('are cancelled, belong to one account and mode, and are at most ten that have not ended', async () => {
    const { id, receiver } = await endpoint();
    await client.intents.create(good);
    await until('the event', () => receiver.received.length === 1);
    // What waits for a paused endpoint keeps a replay from its end.
    const paused = await endpoint();
    await client.webhooks.endpoints.update(paused.id, { paused: true });
    const begun = await replays().create({ since: start, endpointId: id, toEndpointId: paused.id, status: 'all' });
    const foreign = clientWith(cluster.apiKeys.live).webhooks.replays;
    expect((await foreign.list().page()).items).toEqual([]);
    for (const attempt of [foreign.get(begun.id), foreign.cancel(begun.id), replays().get('whr_1'), replays().get('x')])
      await expect(attempt).rejects.toMatchObject({ status: 404, code: 'webhook_replay.not_found' });
    for (const [selection, param] of [
      [{ endpointId: id }, 'endpointId'],
      [{ toEndpointId: id }, 'toEndpointId'],
    ] as const)
      await expect(foreign.create({ since: start, ...selection })).rejects.toMatchObject({
        status: 404,
        code: 'webhook_endpoint.not_found',
        param,
      });
    await expect(replays().create({ since: start, endpointId: 'x', toEndpointId: id })).rejects.toMatchObject({
      code: 'webhook_endpoint.not_found',
      param: 'endpointId',
    });
    expect(await replays().cancel(begun.id)).toMatchObject({ state: 'cancelled', id: begun.id });
    expect(await replays().cancel(begun.id)).toMatchObject({ state: 'cancelled', id: begun.id });

    const ended = await cluster.database.prisma.webhookReplay.findUniqueOrThrow({ where: { id: begun.id } });
    const open = Array.from({ length: 10 }, (_, n) => ({
      ...ended,
      id: `whr_${'ABCDEFGHJK'[n] ?? ''}`,
      state: 'sending',
      endedAt: null,
      nextStepAt: null,
    }));
    await cluster.database.prisma.webhookReplay.createMany({ data: open });
    await expect(replays().create({ since: start })).rejects.toMatchObject({
      status: 409,
      code: 'webhook_replay.limit_reached',
      details: { max: 10 },
    });
    for (const replay of open) await replays().cancel(replay.id);
  });

  it('are refused without a time in the past, and to an endpoint that is disabled', async () => {
    const { id } = await endpoint();
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    await expect(replays().create({ since: tomorrow })).rejects.toMatchObject({ status: 400, param: 'since' });
    await expect(replays().create({ since: start, until: start })).rejects.toMatchObject({
      status: 400,
      param: 'until',
    });
    await cluster.database.prisma.webhookEndpoint.update({
      where: { id },
      data: { disabledAt: new Date(), disabledBy: 'gone' },
    });
    for (const selection of [{ endpointId: id }, { toEndpointId: id }])
      await expect(replays().create({ since: start, ...selection })).rejects.toMatchObject({
        status: 409,
        code: 'webhook_endpoint.not_enabled',
      });
  });

  it('count for their quota where the request is valid, before anything is looked up', async () => {
    // One replay in ten minutes.
    const limited = await cluster.start('gateway', { env: { RATE_LIMIT_FACTOR: '0.017' } });
    const base = `${limited.url}/v1`;
    const { webhooks: hooks } = new PaymentClient({
      baseUrl: base,
      apiKey: cluster.apiKeys.live,
      maxRetries: 0,
      fetch: checkedFetch(base),
    });
    const [past, future] = [-60_000, 60_000].map((ms) => new Date(Date.now() + ms).toISOString());
    for (const invalid of [{ since: future }, { since: start, until: past }, { since: start, eventTypes: [] }])
      await expect(hooks.replays.create(invalid as { since: string })).rejects.toMatchObject({ status: 400 });
    const begun = await hooks.replays.create({ since: start, idempotencyKey: 'once' });
    await expect(hooks.replays.create({ since: start, endpointId: 'x' })).rejects.toMatchObject({ status: 429 });
    await expect(hooks.endpoints.enable('x', { replay: true })).rejects.toMatchObject({ status: 429 });
    await expect(hooks.endpoints.enable('x')).rejects.toMatchObject({ status: 404 });
    expect(await hooks.replays.create({ since: start, idempotencyKey: 'once' })).toMatchObject({ id: begun.id });
    const inTest = new PaymentClient({ baseUrl: base, apiKey: cluster.apiKeys.test, maxRetries: 0 }).webhooks.replays;
    await expect(inTest.create({ since: start, endpointId: 'x' })).rejects.toMatchObject({ status: 404 });
    await expect(inTest.create({ since: start })).rejects.toMatchObject({ status: 429 });
  });
});
