import { eventIdOf, webhookBody } from '@pf/contracts';
import {
  addTestDelivery,
  createWebhookSecret,
  listWebhookEndpoints,
  managedEndpoints,
  removeWebhookEndpoint,
  retryDelivery,
} from '@pf/database';
import { until } from '@pf/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { WebhookService } from '../src/index.ts';
import { pfSignature } from '../src/signature.ts';
import { type Respond, Harness, status } from './harness.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('A webhook delivery', () => {
  let harness: Harness;
  let service: WebhookService;
  beforeAll(async () => {
    harness = await Harness.open();
    service = await harness.start();
  });
  afterAll(() => harness.close());

  const only = async (accountId: string) => {
    const [delivery, ...others] = await harness.deliveries(accountId);
    if (!delivery || others.length > 0)
      throw new Error(`expected one delivery, there are ${others.length + (delivery ? 1 : 0)}`);
    return delivery;
  };
  /** Waits until a delivery's attempt of this number has been made and recorded. */
  const attempted = (accountId: string, number: number) =>
    until(`attempt ${number} to be recorded`, async () => {
      const [delivery] = await harness.deliveries(accountId);
      return delivery?.attemptCount === number &&
        (delivery.responseStatus !== null || delivery.error !== null) &&
        (delivery.nextAttemptAt === null || delivery.nextAttemptAt.getTime() !== harness.clock + MINUTE)
        ? delivery
        : null;
    });

  it('sends the exact bytes, signed in both ways, and is recorded as delivered', async () => {
    const { account, receiver } = await harness.account(status(200));
    const { event, body } = await harness.emit(account.id);
    const delivery = await attempted(account.id, 1);
    const [received, ...others] = receiver.received;
    expect(others).toEqual([]);
    expect(received?.raw).toBe(body);
    expect(received?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'PaymentIntents-Webhooks/1.0',
      'x-pf-signature': pfSignature(Buffer.from(body), account.webhookSecrets.test),
      'x-pf-event-id': event.eventId,
      'x-pf-delivery-id': delivery.id,
      'x-pf-attempt': '1',
      'x-pf-api-version': '2026-11-21',
      'webhook-id': event.eventId,
    });
    expect(
      new Webhook(account.webhookSecrets.test).verify(body, received?.headers as Record<string, string>),
    ).toMatchObject({ eventId: event.eventId, type: 'intent.detected' });
    expect(delivery).toMatchObject({
      status: 'delivered',
      eventId: event.eventId,
      url: receiver.url,
      responseStatus: 200,
      nextAttemptAt: null,
      failedAt: null,
      requestId: 'req-42',
    });
    expect(delivery.deliveredAt).not.toBeNull();
    expect(delivery.id).toMatch(/^whd_/);
  });

  it('is signed with both secrets after a rotation', async () => {
    const { account, receiver } = await harness.account(status(200));
    const next = await createWebhookSecret(
      harness.cluster.database,
      harness.cluster.secretsKey,
      { accountId: account.id, livemode: false },
      new Date(harness.clock),
    );
    harness.clock += 1_000;
    const { body } = await harness.emit(account.id);
    await until('it to arrive', () => receiver.received.length === 1);
    const headers = receiver.received[0]?.headers as Record<string, string>;
    for (const secret of [next, account.webhookSecrets.test]) new Webhook(secret).verify(body, headers);
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
  });

  it('goes to every URL of the account and mode, and to no other', async () => {
    const { account, receiver } = await harness.account(status(204));
    const second = await harness.receiver(account.id, status(204));
    const live = await harness.receiver(account.id, status(204), true);
    const removed = await harness.receiver(account.id, status(204));
    await removeWebhookEndpoint(harness.cluster.database, {
      accountId: account.id,
      livemode: false,
      url: removed.url,
      at: new Date(),
    });
    const stranger = await harness.account(status(204));

    await harness.emit(account.id, { type: 'confirmation_lost' });
    await harness.emit(account.id);
    await harness.emit(account.id, { livemode: true });
    await until('all to arrive', () => [receiver, second, live].every(({ received }) => received.length > 0));
    expect([receiver, second, live, removed, stranger.receiver].map(({ received }) => received.length)).toEqual([
      1, 1, 1, 0, 0,
    ]);
    expect(live.received[0]?.headers['x-pf-signature']).toBe(
      pfSignature(Buffer.from(live.received[0]?.raw ?? ''), account.webhookSecrets.live),
    );
  });

  it('skips a record that cannot be parsed and follows the next one', async () => {
    const { account, receiver } = await harness.account(status(200));
    await harness.write('{"eventId":');
    await harness.write(JSON.stringify({ eventId: 'evt_1', type: 'intent.from_the_future' }));
    await harness.emit(account.id);
    await until('the event behind to arrive', () => receiver.received.length === 1);
  });

  it('is sent for a known event of a newer schema version, and no unknown event stops it', async () => {
    const { account, receiver } = await harness.account(status(200));
    const first = await harness.emit(account.id);
    const { intentId } = first.event;
    const next = (version: number, change: object) => ({
      ...first.event,
      version,
      eventId: eventIdOf(intentId, version),
      ...change,
    });
    const known = next(4, { schemaVersion: 4 });
    const body = webhookBody(known) ?? '';
    await harness.project({ event: known, body });
    for (const newer of [
      next(2, { type: 'payout_scheduled', data: { to: 'a bank' } }),
      next(3, { type: 'intent.paused' }),
      { ...known, data: 'of another form' },
    ])
      await harness.write(JSON.stringify(newer), intentId);
    await until('both webhooks', () => receiver.received.length === 2);
    expect(receiver.received.map(({ raw }) => raw)).toEqual([first.body, body]);
  });

  it('is attempted once where it is a test event, whatever the receiver responds', async () => {
    const { account, receiver } = await harness.account(status(500));
    const owner = { accountId: account.id, livemode: false };
    const [endpoint] = await managedEndpoints(harness.cluster.database, owner);
    if (!endpoint) throw new Error('the account has no endpoint');
    await addTestDelivery(harness.cluster.database, owner, endpoint, new Date(harness.clock));
    await service.sweep();
    expect(await attempted(account.id, 1)).toMatchObject({
      status: 'failed',
      responseStatus: 500,
      nextAttemptAt: null,
      failedAt: new Date(harness.clock),
    });
    harness.clock += 72 * HOUR;
    await service.sweep();
    expect(receiver.received).toHaveLength(1);
  });

  it('is attempted ten times on schedule, with the same event and bytes, and then fails', async () => {
    const { account, receiver } = await harness.account(status(500));
    const { event, body } = await harness.emit(account.id);
    const first = harness.clock;
    for (let attempt = 1; attempt < 10; attempt += 1) {
      const delivery = await attempted(account.id, attempt);
      expect(delivery).toMatchObject({
        status: 'pending',
        responseStatus: 500,
        error: 'The response status was 500.',
        deliveredAt: null,
        failedAt: null,
      });
      const wait = (delivery.nextAttemptAt?.getTime() ?? 0) - harness.clock;
      const nominal = 3 ** (attempt - 1) * MINUTE;
      expect(wait).toBeGreaterThanOrEqual(Math.min(nominal * 0.8, 24 * HOUR) - 1);
      expect(wait).toBeLessThanOrEqual(Math.min(nominal * 1.2, 24 * HOUR) + 1);
      harness.clock = delivery.nextAttemptAt?.getTime() ?? 0;
      await service.sweep();
    }
    expect(await attempted(account.id, 10)).toMatchObject({
      status: 'failed',
      attemptCount: 10,
      nextAttemptAt: null,
      deliveredAt: null,
      failedAt: new Date(harness.clock),
    });
    expect(harness.clock - first).toBeLessThanOrEqual(72 * HOUR);
    expect(receiver.received.map(({ headers }) => headers['x-pf-attempt'])).toEqual(
      Array.from({ length: 10 }, (_, index) => String(index + 1)),
    );
    expect(new Set(receiver.received.map(({ raw }) => raw))).toEqual(new Set([body]));
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([event.eventId]));
  });

  it('waits as long as Retry-After says, at most a day', async () => {
    const responses: readonly Respond[] = [
      status(503, { 'retry-after': '7200' }),
      status(429, { 'retry-after': '999999' }),
      status(200),
    ];
    let turn = 0;
    const { account } = await harness.account((received, response) => responses[turn++]?.(received, response));
    await harness.emit(account.id);
    expect((await attempted(account.id, 1)).nextAttemptAt).toEqual(new Date(harness.clock + 2 * HOUR));
    harness.clock += 2 * HOUR;
    await service.sweep();
    expect((await attempted(account.id, 2)).nextAttemptAt).toEqual(new Date(harness.clock + 24 * HOUR));
    harness.clock += 24 * HOUR;
    await service.sweep();
    expect(await attempted(account.id, 3)).toMatchObject({ status: 'delivered', error: null, responseStatus: 200 });
  });

  it('disables an endpoint that returns 410 Gone, with everything outstanding for it', async () => {
    let gone = false;
    const { account, receiver } = await harness.account((received, response) =>
      status(gone ? 410 : 500)(received, response),
    );
    await harness.emit(account.id);
    await attempted(account.id, 1);
    gone = true;
    await harness.emit(account.id);
    const deliveries = await until('both to be given up', async () => {
      const all = await harness.deliveries(account.id);
      return all.length === 2 && all.every((delivery) => delivery.status === 'failed') ? all : null;
    });
    expect(deliveries.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([null, null]);
    expect(
      await listWebhookEndpoints(harness.cluster.database, { accountId: account.id, livemode: false }),
    ).toMatchObject([{ disabledBy: 'gone', disabledAt: new Date(harness.clock) }]);

    const successor = await harness.receiver(account.id, status(200));
    await harness.emit(account.id);
    await until('the next event to arrive at the new URL', () => successor.received.length === 1);
    expect(receiver.received).toHaveLength(2);
  });

  it('counts a redirect as a failure', async () => {
    const { account, receiver } = await harness.account(status(307, { location: 'http://127.0.0.1:1/' }));
    await harness.emit(account.id);
    expect(await attempted(account.id, 1)).toMatchObject({
      status: 'pending',
      responseStatus: 307,
      error: 'The response status was 307. Redirects are not followed.',
    });
    expect(receiver.received).toHaveLength(1);
  });

  it('is not sent before the projection shows the event, and does not count the wait as an attempt', async () => {
    const { account, receiver } = await harness.account(status(200));
    const early = await harness.emit(account.id, { projected: false });
    await harness.emit(account.id);
    await until('the event that is shown to arrive', () => receiver.received.length === 1);
    await service.sweep();
    await harness.emit(account.id);
    await until('another to arrive', () => receiver.received.length === 2);
    expect(receiver.received.map(({ headers }) => headers['x-pf-event-id'])).not.toContain(early.event.eventId);
    expect((await harness.deliveries(account.id)).find(({ eventId }) => eventId === early.event.eventId)).toMatchObject(
      {
        attemptCount: 0,
        lastAttemptedAt: null,
      },
    );

    await harness.project(early);
    await until('it to arrive', () => receiver.received.length === 3);
    expect(receiver.received[2]?.headers).toMatchObject({ 'x-pf-event-id': early.event.eventId, 'x-pf-attempt': '1' });
  });

  it('can be retried by the account in any state, with the same bytes and an increasing attempt number', async () => {
    const { account, receiver } = await harness.account(status(200));
    const { body } = await harness.emit(account.id);
    const { id: deliveryId } = await attempted(account.id, 1);
    const { database } = harness.cluster;
    const retry = { deliveryId, accountId: account.id, livemode: false, at: new Date(harness.clock) };
    expect(await retryDelivery(database, { ...retry, accountId: 'acct_another' })).toBeNull();
    expect(await retryDelivery(database, { ...retry, livemode: true })).toBeNull();
    expect(await retryDelivery(database, retry)).toMatchObject({
      delivery: { attemptCount: 1 },
    });
    expect(await only(account.id)).toMatchObject({ status: 'pending', deliveredAt: null });
    await service.sweep();
    await until('it to be delivered again', async () => (await only(account.id)).status === 'delivered');
    expect(receiver.received.map(({ raw, headers }) => [raw, headers['x-pf-attempt']])).toEqual([
      [body, '1'],
      [body, '2'],
    ]);
  });

  it('is sent by another process once the lease of one that died has ended', async () => {
    const { account, receiver } = await harness.account(status(200));
    const [endpoint] = await listWebhookEndpoints(harness.cluster.database, { accountId: account.id, livemode: false });
    const endpointId = endpoint?.id ?? '';
    await harness.cluster.database.prisma.webhookLane.create({
      data: { endpointId, holder: 'a process that died', leasedUntil: new Date(harness.clock + 45_000) },
    });
    await harness.emit(account.id);
    const lane = () => harness.cluster.database.prisma.webhookLane.findUniqueOrThrow({ where: { endpointId } });
    await until('the lane to be asked for', async () => (await lane()).woken);
    expect(receiver.received).toHaveLength(0);
    harness.clock += 45_000;
    await service.sweep();
    expect(await attempted(account.id, 1)).toMatchObject({ status: 'delivered', attemptCount: 1 });
    expect(receiver.received.map(({ headers }) => headers['x-pf-attempt'])).toEqual(['1']);
  });

  it('is kept with the response to each attempt', async () => {
    let code = 503;
    const { account } = await harness.account((_received, response) =>
      response.writeHead(code).end('€'.repeat(100 * 1024)),
    );
    await harness.emit(account.id);
    const failed = await attempted(account.id, 1);
    code = 200;
    harness.clock = failed.nextAttemptAt?.getTime() ?? 0;
    await service.sweep();
    const { id: deliveryId } = await attempted(account.id, 2);
    const attempts = await harness.cluster.database.prisma.deliveryAttempt.findMany({
      where: { deliveryId },
      orderBy: { number: 'asc' },
    });
    expect(attempts).toMatchObject([
      { number: 1, responseStatus: 503, reason: 'The response status was 503.', at: failed.lastAttemptedAt },
      { number: 2, responseStatus: 200, reason: null, at: new Date(harness.clock) },
    ]);
    // 1 KiB, cut between characters.
    expect(attempts.map(({ responseStart }) => responseStart)).toEqual(['€'.repeat(341), '€'.repeat(341)]);
    for (const { durationMs } of attempts) expect(durationMs).toBeGreaterThanOrEqual(0);
  });
});
