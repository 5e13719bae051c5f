import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { AccountId } from '@pf/domain';
import {
  addWebhookEndpoint,
  type DeliverableEvent,
  dueDeliveries,
  type DueDelivery,
  forgetDeliveries,
  managedEndpoints,
  openAccount,
  recordDeliveries,
  removeWebhookEndpoint,
  retryDelivery,
  type Settled,
  settleAttempts,
  updateManagedEndpoint,
  webhookPositions,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';
import { deliverableEvent } from './deliverable-event.ts';

const HOUR = 3_600_000;

describe('Deliveries', () => {
  let own: OwnDatabase;
  let accountId: string;
  let partition = 10;
  const now = new Date('2026-11-21T12:00:00.000Z');
  const later = (ms: number): Date => new Date(now.getTime() + ms);
  beforeAll(async () => {
    own = await createOwnDatabase();
  });
  afterAll(() => own.close());
  beforeEach(async () => {
    ({ id: accountId } = await openAccount(own.database, randomBytes(32), { name: 'deliveries' }));
    await addWebhookEndpoint(own.database, { accountId, livemode: false, url: 'https://shop.example/hooks' });
    partition += 1;
  });

  const events = (count: number): DeliverableEvent[] =>
    Array.from({ length: count }, () => deliverableEvent({ accountId, livemode: false }));
  const record = async (from: bigint, next: bigint, batch: readonly DeliverableEvent[]) =>
    (await recordDeliveries(own.database, [{ partition, from, next, events: batch }], now)).due;
  const project = async (batch: readonly DeliverableEvent[]): Promise<void> => {
    for (const { intentId, version, eventId } of batch) {
      await own.database.sql.query(
        `INSERT INTO ledger.intent_events (intent_id, version, event_id, type, body, at)
          VALUES ($1, $2, $3, 'intent.created', '{}', now())`,
        [intentId, version, eventId],
      );
    }
  };
  /** A delivery that can be claimed. */
  const claimable = async () => {
    const { database } = own;
    await webhookPositions(database, [partition]);
    const batch = events(1);
    await project(batch);
    const [delivery] = (await record(0n, 1n, batch)) ?? [];
    if (!delivery) throw new Error('no delivery was written');
    return { database, deliveryId: delivery.id, endpointId: delivery.endpointId };
  };
  const row = (id: string) => own.database.prisma.delivery.findUniqueOrThrow({ where: { id } });

  const due = (endpointId: string, at: Date, except: readonly string[] = [], count = 10) =>
    dueDeliveries(own.database, [{ endpointId, count }], except, at);
  const settled = (delivery: DueDelivery, change: Partial<Settled> = {}): Settled => ({
    deliveryId: delivery.deliveryId,
    number: delivery.number,
    dueAt: delivery.dueAt,
    at: later(100),
    durationMs: 7,
    responseStatus: 500,
    responseStart: 'oops',
    reason: 'The response status was 500.',
    next: later(HOUR),
    ...change,
  });
  const DELIVERED = { responseStatus: 200, reason: null, next: null };
  /** The delivery as its lane's holder has it. */
  const claimed = async () => {
    const { database, deliveryId, endpointId } = await claimable();
    const [delivery] = await due(endpointId, now);
    if (!delivery) throw new Error('nothing is due');
    return { database, deliveryId, endpointId, delivery };
  };

  it('are made for the types that their URL asks for', async () => {
    const owner = { accountId: accountId as AccountId, livemode: false };
    const [endpoint] = await managedEndpoints(own.database, owner);
    await webhookPositions(own.database, [partition]);
    const made = [];
    for (const eventTypes of [['intent.confirmed'], ['intent.confirmed', 'intent.created'], null]) {
      await updateManagedEndpoint(own.database, owner, endpoint?.id ?? '', { eventTypes }, now);
      made.push((await record(0n, 0n, events(1)))?.length);
    }
    expect(made).toEqual([0, 1, 1]);
  });

  it('are read for sending, except those that the lane has', async () => {
    const { deliveryId, endpointId } = await claimable();
    expect(await due(endpointId, later(-1))).toEqual([]);
    expect(await due(endpointId, now)).toMatchObject([{ deliveryId, endpointId, number: 1, dueAt: now, body: '{}' }]);
    expect(await due(endpointId, now, [deliveryId])).toEqual([]);
  });

  it('are not read before the projection shows their event', async () => {
    const { database } = own;
    await webhookPositions(database, [partition]);
    const batch = events(1);
    const [delivery] = (await record(0n, 1n, batch)) ?? [];
    const { id = '', endpointId = '' } = delivery ?? {};
    expect(await due(endpointId, now)).toEqual([]);
    expect(await row(id)).toMatchObject({ attemptCount: 0 });
    await project(batch);
    expect(await due(endpointId, now)).toHaveLength(1);
  });

  it('are read by version where they are due since the same time, up to what the lane wants', async () => {
    const { database } = own;
    await webhookPositions(database, [partition]);
    const [first] = events(1);
    if (!first) throw new Error('no event');
    const versions = [4, 2, 1, 3].map((version) => ({ ...first, version, eventId: `${first.eventId}-${version}` }));
    await project(versions);
    const [delivery] = (await record(0n, 1n, versions)) ?? [];
    const read = await due(delivery?.endpointId ?? '', now, [], 3);
    expect(read.map(({ eventId }) => eventId)).toEqual([1, 2, 3].map((version) => `${first.eventId}-${version}`));
  });

  it('count attempts, and keep their responses', async () => {
    const { database, deliveryId, endpointId, delivery } = await claimed();
    const attempt = settled(delivery);
    await settleAttempts(database, [attempt]);
    // Whoever does not know whether it was written writes it again.
    await settleAttempts(database, [attempt]);
    expect(await row(deliveryId)).toMatchObject({
      status: 'pending',
      attemptCount: 1,
      firstAttemptAt: later(100),
      nextAttemptAt: later(HOUR),
      responseStatus: 500,
      error: 'The response status was 500.',
    });
    const [again] = await due(endpointId, later(HOUR));
    if (!again) throw new Error('nothing is due');
    await settleAttempts(database, [settled(again, { ...DELIVERED, at: later(HOUR), responseStart: '' })]);
    expect(await row(deliveryId)).toMatchObject({
      status: 'delivered',
      attemptCount: 2,
      firstAttemptAt: later(100),
      deliveredAt: later(HOUR),
      nextAttemptAt: null,
      error: null,
    });
    expect(
      await database.prisma.deliveryAttempt.findMany({ where: { deliveryId }, orderBy: { number: 'asc' } }),
    ).toEqual([
      {
        deliveryId,
        number: 1,
        at: later(100),
        durationMs: 7,
        responseStatus: 500,
        reason: 'The response status was 500.',
        responseStart: 'oops',
      },
      {
        deliveryId,
        number: 2,
        at: later(HOUR),
        durationMs: 7,
        responseStatus: 200,
        reason: null,
        responseStart: '',
      },
    ]);
  });

  it('stay due when the account retried them during an attempt that failed, and end when it succeeded', async () => {
    const { database, deliveryId, delivery } = await claimed();
    const retry = { deliveryId, accountId, livemode: false };
    await retryDelivery(database, { ...retry, at: later(1_000) });
    await settleAttempts(database, [settled(delivery, { next: null })]);
    expect(await row(deliveryId)).toMatchObject({
      status: 'pending',
      attemptCount: 1,
      nextAttemptAt: later(1_000),
      failedAt: null,
    });
    const [second] = await due(delivery.endpointId, later(1_000));
    if (!second) throw new Error('nothing is due');
    await retryDelivery(database, { ...retry, at: later(2_000) });
    await settleAttempts(database, [settled(second, DELIVERED)]);
    expect(await row(deliveryId)).toMatchObject({ status: 'delivered', attemptCount: 2, nextAttemptAt: null });
  });

  it('fail when their URL is removed, unless the attempt under way is delivered', async () => {
    const { database, deliveryId, delivery } = await claimed();
    await record(1n, 2n, events(1));
    expect(
      await removeWebhookEndpoint(database, { accountId, livemode: false, url: 'https://shop.example/hooks', at: now }),
    ).toBe(true);
    const ended = await database.prisma.delivery.findMany({ where: { accountId } });
    expect(ended.map(({ status, error }) => [status, error])).toEqual(
      Array.from({ length: 2 }, () => ['failed', 'The URL was removed.']),
    );
    expect(await record(2n, 3n, events(1))).toEqual([]);
    await settleAttempts(database, [settled(delivery, { ...DELIVERED, at: later(10) })]);
    expect(await row(deliveryId)).toMatchObject({ status: 'delivered', deliveredAt: later(10), failedAt: null });
  });

  it('are forgotten with their attempts, once they have ended long ago', async () => {
    const { database, deliveryId, delivery } = await claimed();
    await settleAttempts(database, [settled(delivery, DELIVERED)]);
    await forgetDeliveries(database, { createdBefore: later(1), endedBefore: new Date(0) }, 1_000);
    expect(await database.prisma.delivery.count({ where: { id: deliveryId } })).toBe(1);
    await forgetDeliveries(database, { createdBefore: later(1), endedBefore: new Date(Date.now() + HOUR) }, 1_000);
    expect(await database.prisma.delivery.count({ where: { id: deliveryId } })).toBe(0);
    expect(await database.prisma.deliveryAttempt.count({ where: { deliveryId } })).toBe(0);
  });

  it('are never left pending for a URL that is removed while they are written', async () => {
    const { database } = own;
    await webhookPositions(database, [partition]);
    for (let round = 0n; round < 10n; round += 1n) {
      const url = `https://shop.example/${round}`;
      await addWebhookEndpoint(database, { accountId, livemode: false, url });
      await Promise.all([
        record(round, round + 1n, events(20)),
        removeWebhookEndpoint(database, { accountId, livemode: false, url, at: now }),
      ]);
      const { rows } = await database.sql.query(
        "SELECT 1 FROM service.deliveries WHERE url = $1 AND status = 'pending'",
        [url],
      );
      expect(rows).toEqual([]);
    }
  });

  it('are not doubled by a URL that is added several times at once', async () => {
    const { database } = own;
    const added = await Promise.all(
      Array.from({ length: 6 }, () =>
        addWebhookEndpoint(database, { accountId, livemode: true, url: 'https://shop.example/live' }),
      ),
    );
    expect(new Set(added.map((endpoint) => endpoint?.id)).size).toBe(1);
    expect(
      await addWebhookEndpoint(database, { accountId: 'acct_unknown', livemode: true, url: 'https://shop.example' }),
    ).toBeNull();
  });
});
