import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PaymentClient, type WebhookEndpoint, webhooks } from '@pf/client';
import { createAccount, createKey } from '@pf/database';
import { checkedFetch, type Cluster, startCluster, until, type WebhookReceiver, webhookReceiver } from '@pf/testing';

const good = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};

describe('webhook endpoints', () => {
  let cluster: Cluster;
  let client: PaymentClient;
  let url: string;
  const receivers: WebhookReceiver[] = [];

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
  const receive = async (): Promise<WebhookReceiver> => {
    const receiver = await webhookReceiver();
    receivers.push(receiver);
    return receiver;
  };
  const secretsOf = (endpointId: string) => cluster.database.prisma.webhookSecret.count({ where: { endpointId } });
  /** Whether a text can be read in what is kept for repeated requests. */
  const stored = async (text: string): Promise<boolean> =>
    (await cluster.database.prisma.idempotentAnswer.findMany()).some(({ ciphertext }) =>
      Buffer.from(ciphertext).includes(text),
    );
  const typesOf = (receiver: WebhookReceiver): string[] => receiver.received.map(({ body }) => body.type).sort();
  const endpoints = () => client.webhooks.endpoints;
  const created: WebhookEndpoint[] = [];
  const create = async (receiver: WebhookReceiver, settings: object = {}) => {
    const { endpoint, secret } = await endpoints().create({ url: receiver.url, ...settings });
    created.push(endpoint);
    return { ...endpoint, secret };
  };

  it('get the types that they select, signed with a secret of their own', async () => {
    const [all, some] = [await receive(), await receive()];
    const { secret, ...first } = await create(all);
    const second = await create(some, { name: 'paid', eventTypes: ['intent.confirmed'] });
    expect(first).toMatchObject({ name: null, eventTypes: null, status: 'enabled', livemode: false });
    expect(await endpoints().list()).toEqual([first, { ...second, secret: undefined }]);
    expect(await endpoints().get(first.id)).toEqual(first);

    const { id } = await client.intents.create(good);
    await client.intents.simulate(id, 'finalized');
    await until('all events', () => all.received.length === 4 && some.received.length === 1);
    expect(typesOf(some)).toEqual(['intent.confirmed']);
    for (const [receiver, known, foreign] of [
      [all, secret, second.secret],
      [some, second.secret, cluster.webhookSecrets.test],
    ] as const)
      for (const { raw, headers } of receiver.received) {
        expect(await webhooks.verify(raw, headers, known)).toMatchObject({ data: { intent: { id } } });
        await expect(webhooks.verify(raw, headers, foreign)).rejects.toThrow('invalid');
      }
  });

  it('are signed with the former and the next secret after a rotation', async () => {
    const receiver = await receive();
    const { id, secret } = await create(receiver, { eventTypes: ['intent.cancelled'] });
    const { secret: next } = await endpoints().rotateSecret(id);
    const intent = await client.intents.create(good);
    await client.intents.cancel(intent.id);
    await until('the event', () => receiver.received.length === 1);
    const [{ raw, headers } = { raw: '', headers: {} }] = receiver.received;
    for (const known of [secret, next]) await webhooks.verify(raw, headers, known);
    for (let secrets = 2; secrets < 5; secrets++) await endpoints().rotateSecret(id);
    await expect(endpoints().rotateSecret(id)).rejects.toMatchObject({ code: 'webhook_endpoint.limit_reached' });
    await expect(endpoints().rotateSecret(id, { validFrom: '2020-01-01T00:00:00Z' })).rejects.toMatchObject({
      param: 'validFrom',
    });
  });

  it('are made once for an idempotency key, and a repeated request gets the same secret', async () => {
    const [receiver, other] = [await receive(), await receive()];
    const request = { url: receiver.url, eventTypes: ['intent.expired' as const], idempotencyKey: 'shop' };
    const [first, ...repeated] = await Promise.all([1, 2, 3].map(() => endpoints().create(request)));
    expect(repeated).toEqual([first, first]);
    // Whatever the body says; another mode has keys of its own.
    expect(await endpoints().create({ url: other.url, idempotencyKey: 'shop' })).toEqual(first);
    const id = first?.endpoint.id ?? '';
    expect((await endpoints().list()).filter(({ url }) => [receiver.url, other.url].includes(url))).toEqual([
      first?.endpoint,
    ]);

    const soon = { validFrom: new Date(Date.now() + 60_000).toISOString(), idempotencyKey: 'shop' };
    const rotated = await endpoints().rotateSecret(id, soon);
    expect(rotated.secret).not.toBe(first?.secret);
    // By the time of the repeat, the moment may have passed.
    const late = { validFrom: '2026-01-01T00:00:00Z', idempotencyKey: 'shop' };
    expect(await endpoints().rotateSecret(id, late)).toEqual(rotated);
    await expect(endpoints().rotateSecret(id, { ...late, idempotencyKey: 'new' })).rejects.toMatchObject({
      param: 'validFrom',
    });
    expect(await secretsOf(id)).toBe(2);
    await endpoints().remove(id);

    const answer = await fetch(`${url}/webhook-endpoints`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cluster.apiKeys.test}`, 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(await answer.json()).toEqual(first);
    expect(await stored(first?.secret ?? '')).toBe(false);
  });

  it('get nothing while paused, and afterwards what has waited', async () => {
    const receiver = await receive();
    const { id } = await create(receiver, { eventTypes: ['intent.created'] });
    expect(await endpoints().update(id, { paused: true, name: 'resting' })).toMatchObject({
      status: 'paused',
      name: 'resting',
    });
    await expect(endpoints().test(id)).rejects.toMatchObject({ code: 'webhook_endpoint.not_enabled' });
    const intent = await client.intents.create(good);
    const [delivery] = await until('its delivery', async () => {
      const found = (await client.webhooks.list({ intentId: intent.id }).page()).items.filter(
        (one) => one.url === receiver.url,
      );
      return found.length === 1 ? found : null;
    });
    expect(delivery).toMatchObject({ type: 'intent.created', intentId: intent.id, attemptCount: 0 });
    // The others have got it by then.
    await until('another endpoint', () => receivers[0]?.received.some(({ body }) => body.data.intent.id === intent.id));
    expect(receiver.received).toEqual([]);
    expect(await endpoints().update(id, { paused: false })).toMatchObject({ status: 'enabled' });
    await until('what has waited', () => receiver.received.length === 1);
  });

  it('get a test event once, and list its attempt', async () => {
    const receiver = await receive();
    const { id, secret } = await create(receiver, { eventTypes: ['intent.failed'] });
    expect(await endpoints().test(id)).toMatchObject({ number: 1, responseStatus: 200, reason: null });
    const [{ raw, headers } = { raw: '', headers: {} }] = receiver.received;
    expect(await webhooks.verify(raw, headers, secret)).toMatchObject({ type: 'webhook_endpoint.test' });

    receiver.respond = 500;
    const failed = await endpoints().test(id);
    expect(failed).toMatchObject({ responseStatus: 500, reason: 'The response status was 500.' });
    const [delivery] = (await client.webhooks.list({ type: 'webhook_endpoint.test', status: 'failed' }).page()).items;
    expect(delivery).toMatchObject({ url: receiver.url, intentId: null, nextAttemptAt: null });
    expect(await client.webhooks.attempts(delivery?.id ?? '')).toEqual({
      attempts: [failed],
      nextAttemptAt: null,
      requestBody: receiver.received[1]?.raw,
    });
  });

  it('are disabled by a 410, and get what they have missed when they are enabled again', async () => {
    const receiver = await receive();
    receiver.respond = 410;
    const { id } = await create(receiver, { eventTypes: ['intent.created'] });
    await client.intents.create(good);
    await until('it to be disabled', async () => (await endpoints().get(id)).status === 'disabled');
    receiver.respond = 200;
    const { endpoint, replayed } = await endpoints().enable(id, { replay: true });
    expect([endpoint.status, replayed]).toEqual(['enabled', 1]);
    await until('what it has missed', () => receiver.received.length === 2);
    await expect(client.webhooks.attempts('whd_1')).rejects.toMatchObject({ code: 'delivery.not_found' });
  });

  it('list for each attempt the reason in words, and when the next one is due', async () => {
    const receiver = await receive();
    await create(receiver, { eventTypes: ['intent.expired'] });
    await receiver.close();
    const intent = await client.intents.create(good);
    await client.intents.simulate(intent.id, 'expired');
    const found = await until('the attempt', async () => {
      const [delivery] = (
        await client.webhooks.list({ intentId: intent.id, type: 'intent.expired' }).page()
      ).items.filter((one) => one.url === receiver.url);
      const listed = delivery && (await client.webhooks.attempts(delivery.id));
      return listed?.attempts.length ? listed : null;
    });
    expect(found).toEqual({
      attempts: [
        {
          number: 1,
          at: expect.any(String) as unknown,
          durationMs: expect.any(Number) as unknown,
          responseStatus: null,
          reason: 'The connection was refused.',
          responseBody: null,
        },
      ],
      nextAttemptAt: expect.any(String) as unknown,
      requestBody: expect.any(String) as unknown,
    });
    const expired = (await client.intents.events(intent.id)).find(({ type }) => type === 'intent.expired');
    expect(JSON.parse(found.requestBody ?? '')).toEqual(expired);
  });

  it('are removed, and belong to one account and mode', async () => {
    const other = await createAccount(cluster.database, { name: 'other' });
    const { key } = await createKey(cluster.database, { accountId: other.id, livemode: false });
    const [{ id } = { id: '' }] = created;
    for (const apiKey of [cluster.apiKeys.live, key]) {
      const stranger = clientWith(apiKey).webhooks.endpoints;
      expect(await stranger.list()).toEqual([]);
      for (const attempt of [
        stranger.get(id),
        stranger.update(id, { paused: true }),
        stranger.remove(id),
        stranger.enable(id),
        stranger.rotateSecret(id),
        stranger.test(id),
      ])
        await expect(attempt).rejects.toMatchObject({ status: 404, code: 'webhook_endpoint.not_found' });
    }
    await expect(endpoints().create({ url: receivers[0]?.url ?? '' })).rejects.toMatchObject({
      code: 'webhook_endpoint.exists',
      details: { endpoint_id: id },
    });
    await endpoints().remove(id);
    await expect(endpoints().get(id)).rejects.toMatchObject({ status: 404 });
    expect((await endpoints().list()).map((endpoint) => endpoint.id)).not.toContain(id);
  });

  it('are refused beyond 16, and in live mode at http:// URLs', async () => {
    const live = clientWith(cluster.apiKeys.live).webhooks.endpoints;
    await expect(live.create({ url: 'http://shop.example/hook' })).rejects.toMatchObject({
      param: 'url',
      message: 'url must start with https://, because it gets live events.',
    });
    for (let n = 0; n < 16; n++) await live.create({ url: `https://shop.example/${n}` });
    await expect(live.create({ url: 'https://shop.example/more' })).rejects.toMatchObject({
      status: 409,
      code: 'webhook_endpoint.limit_reached',
      details: { max: 16 },
    });
  });
});
