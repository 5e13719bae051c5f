import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import {
  addWebhookEndpoint,
  claimAttempt,
  type DeliverableEvent,
  listWebhookEndpoints,
  openAccount,
  outstandingDeliveries,
  recordDelivered,
  recordDeliveries,
  recordFailure,
  removeWebhookEndpoint,
  retryDelivery,
  webhookPositions,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const LEASE_MS = 60_000;
const HOUR = 3_600_000;
const RESULT = { responseStatus: 500, responseBody: null, error: 'The response status was 500.' };

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
    Array.from({ length: count }, () => {
      const intentId = newIntentId(0);
      return {
        eventId: `evt_${intentId}`,
        eventType: 'intent.created',
        intentId,
        version: 1,
        accountId,
        livemode: false,
        traceparent: null,
        requestId: null,
      };
    });
  const record = (from: bigint, next: bigint, batch: readonly DeliverableEvent[]) =>
    recordDeliveries(own.database, { partition, from, next, events: batch, at: now });
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

  it('are claimed by one worker at a time, and again only after its lease has ended', async () => {
    const { database, deliveryId, endpointId } = await claimable();
    const claims = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        claimAttempt(database, index % 2 === 0 ? { deliveryId } : { endpointId }, now, LEASE_MS),
      ),
    );
    expect(claims.filter((claim) => claim !== null)).toMatchObject([
      { deliveryId, number: 1, leaseUntil: later(LEASE_MS), firstAttemptAt: now, body: '{}' },
    ]);
    expect(await claimAttempt(database, { deliveryId }, later(LEASE_MS - 1), LEASE_MS)).toBeNull();
    expect(await claimAttempt(database, { deliveryId }, later(LEASE_MS), LEASE_MS)).toMatchObject({
      number: 2,
      firstAttemptAt: now,
    });
  });

  it('are not claimed before the projection shows their event', async () => {
    const { database } = own;
    await webhookPositions(database, [partition]);
    const batch = events(1);
    const [delivery] = (await record(0n, 1n, batch)) ?? [];
    const deliveryId = delivery?.id ?? '';
    expect(await claimAttempt(database, { deliveryId }, now, LEASE_MS)).toBeNull();
    expect(await row(deliveryId)).toMatchObject({ attemptCount: 0 });
    await project(batch);
    expect(await claimAttempt(database, { deliveryId }, now, LEASE_MS)).not.toBeNull();
  });

  it('are not changed by the result of an attempt after a retry by the account or the next worker', async () => {
    const { database, deliveryId } = await claimable();
    const first = await claimAttempt(database, { deliveryId }, now, LEASE_MS);
    if (!first) throw new Error('the delivery could not be claimed');
    await retryDelivery(database, { deliveryId, accountId, livemode: false, at: later(1_000) });
    await recordFailure(database, first, RESULT, later(2_000), later(HOUR));
    expect(await row(deliveryId)).toMatchObject({ status: 'pending', nextAttemptAt: later(1_000) });

    const second = await claimAttempt(database, { deliveryId }, later(2_000), LEASE_MS);
    await recordDelivered(database, first, { ...RESULT, responseStatus: 200 }, later(3_000));
    expect(await row(deliveryId)).toMatchObject({
      status: 'pending',
      attemptCount: 2,
      nextAttemptAt: second?.leaseUntil,
    });
  });

  it('fail when their URL is removed, unless the attempt under way is delivered', async () => {
    const { database, deliveryId } = await claimable();
    await record(1n, 2n, events(1));
    const attempt = await claimAttempt(database, { deliveryId }, now, LEASE_MS);
    if (!attempt) throw new Error('the delivery could not be claimed');
    expect(
      await removeWebhookEndpoint(database, { accountId, livemode: false, url: 'https://shop.example/hooks', at: now }),
    ).toBe(true);
    const ended = await database.prisma.delivery.findMany({ where: { accountId } });
    expect(ended.map((delivery) => delivery.status)).toEqual(['failed', 'failed']);
    expect(await record(2n, 3n, events(1))).toEqual([]);
    await recordDelivered(database, attempt, { ...RESULT, responseStatus: 200 }, later(10));
    expect(await row(deliveryId)).toMatchObject({ status: 'delivered', deliveredAt: later(10), failedAt: null });
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

  it('are listed for a sweep, up to a limit for each URL', async () => {
    const { database } = own;
    await webhookPositions(database, [partition]);
    await addWebhookEndpoint(database, { accountId, livemode: false, url: 'https://other.example/hooks' });
    await record(0n, 30n, events(30));
    const endpointIds = new Set(
      (await listWebhookEndpoints(database, { accountId, livemode: false })).map(({ id }) => id),
    );
    const found = (await outstandingDeliveries(database, now, 5)).filter(({ endpointId }) =>
      endpointIds.has(endpointId),
    );
    expect(found).toHaveLength(10);
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
