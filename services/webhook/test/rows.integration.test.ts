import { newIntentId } from '@pf/contracts';
import {
  addWebhookEndpoint,
  claimAttempt,
  createWebhookSecret,
  type DeliverableEvent,
  listWebhookEndpoints,
  openAccount,
  outstandingDeliveries,
  recordDelivered,
  recordDeliveries,
  recordFailure,
  removeWebhookEndpoint,
  retryDelivery,
  secretsInForce,
  webhookPositions,
  webhookSecrets,
} from '@pf/database';
import { until } from '@pf/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { Harness, status } from './harness.ts';

const LEASE_MS = 60_000;
const HOUR = 3_600_000;
const RESULT = { responseStatus: 500, responseBody: null, error: 'The answer was 500.' };

describe('the rows of deliveries', () => {
  let stage: Harness;
  let accountId: string;
  let partition = 10;
  const now = new Date('2026-11-21T12:00:00.000Z');
  const later = (ms: number): Date => new Date(now.getTime() + ms);
  beforeAll(async () => {
    stage = await Harness.open();
  }, 60_000);
  afterAll(() => stage.close());
  beforeEach(async () => {
    ({ id: accountId } = await openAccount(stage.cluster.database, stage.cluster.secretsKey, { name: 'rows' }));
    await addWebhookEndpoint(stage.cluster.database, { accountId, livemode: false, url: 'https://shop.example/hooks' });
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
    recordDeliveries(stage.cluster.database, { partition, from, next, events: batch, at: now });
  const show = async (batch: readonly DeliverableEvent[]): Promise<void> => {
    for (const { intentId, version, eventId } of batch) {
      await stage.cluster.database.sql.query(
        "INSERT INTO ledger.intent_events (intent_id, version, event_id, type, body, at) VALUES ($1, $2, $3, 'intent.created', '{}', now())",
        [intentId, version, eventId],
      );
    }
  };
  /** A delivery that can be claimed. */
  const ready = async () => {
    const { database } = stage.cluster;
    await webhookPositions(database, [partition]);
    const batch = events(1);
    await show(batch);
    const [delivery] = (await record(0n, 1n, batch)) ?? [];
    if (!delivery) throw new Error('no delivery was made');
    return { database, deliveryId: delivery.id, endpointId: delivery.endpointId };
  };
  const row = (id: string) => stage.cluster.database.prisma.delivery.findUniqueOrThrow({ where: { id } });

  it('move with the position in the log or not at all', async () => {
    const { database } = stage.cluster;
    expect(await webhookPositions(database, [partition])).toEqual(new Map([[partition, 0n]]));
    const first = events(3);
    expect(await record(0n, 7n, first)).toHaveLength(3);
    expect(await webhookPositions(database, [partition])).toEqual(new Map([[partition, 7n]]));
    expect(await record(0n, 9n, events(2))).toBeNull();
    expect(await stage.deliveries(accountId)).toHaveLength(3);
    expect(await webhookPositions(database, [partition])).toEqual(new Map([[partition, 7n]]));
  });

  it('are written by one of two readers that come to the same batch at once', async () => {
    await webhookPositions(stage.cluster.database, [partition]);
    const batch = events(50);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => record(0n, 50n, batch)));
    expect(outcomes.filter((made) => made !== null)).toHaveLength(1);
    expect(await stage.deliveries(accountId)).toHaveLength(50);
  });

  it('stay as they are when the position is set back and the log read again', async () => {
    const { database } = stage.cluster;
    await webhookPositions(database, [partition]);
    const batch = events(2);
    await record(0n, 2n, batch);
    const before = await stage.deliveries(accountId);
    await database.sql.query('UPDATE service.webhook_positions SET position = 0 WHERE partition = $1', [partition]);
    expect(await record(0n, 2n, batch)).toEqual([]);
    expect(await stage.deliveries(accountId)).toEqual(before);
  });

  it('are claimed by one worker at a time, and again only after its lease', async () => {
    const { database, deliveryId, endpointId } = await ready();
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
    const { database } = stage.cluster;
    await webhookPositions(database, [partition]);
    const batch = events(1);
    const [delivery] = (await record(0n, 1n, batch)) ?? [];
    const deliveryId = delivery?.id ?? '';
    expect(await claimAttempt(database, { deliveryId }, now, LEASE_MS)).toBeNull();
    expect(await row(deliveryId)).toMatchObject({ attemptCount: 0 });
    await show(batch);
    expect(await claimAttempt(database, { deliveryId }, now, LEASE_MS)).not.toBeNull();
  });

  it('keep what the account or the next worker has done since an attempt began', async () => {
    const { database, deliveryId } = await ready();
    const first = await claimAttempt(database, { deliveryId }, now, LEASE_MS);
    if (!first) throw new Error('it could not be claimed');
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

  it('are given up with their URL, but not the one that arrives all the same', async () => {
    const { database, deliveryId } = await ready();
    await record(1n, 2n, events(1));
    const attempt = await claimAttempt(database, { deliveryId }, now, LEASE_MS);
    if (!attempt) throw new Error('it could not be claimed');
    expect(
      await removeWebhookEndpoint(database, { accountId, livemode: false, url: 'https://shop.example/hooks', at: now }),
    ).toBe(true);
    expect((await stage.deliveries(accountId)).map((delivery) => delivery.status)).toEqual(['failed', 'failed']);
    expect(await record(2n, 3n, events(1))).toEqual([]);
    await recordDelivered(database, attempt, { ...RESULT, responseStatus: 200 }, later(10));
    expect(await row(deliveryId)).toMatchObject({ status: 'delivered', deliveredAt: later(10), failedAt: null });
  });

  it('are never left outstanding for a URL that is removed while they are written', async () => {
    const { database } = stage.cluster;
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

  it('are found for the sweep by URL, a few of each, the longest due first', async () => {
    const { database } = stage.cluster;
    await webhookPositions(database, [partition]);
    await addWebhookEndpoint(database, { accountId, livemode: false, url: 'https://other.example/hooks' });
    await record(0n, 30n, events(30));
    const endpointIds = new Set(
      (await listWebhookEndpoints(database, { accountId, livemode: false })).map(({ id }) => id),
    );
    const own = (await outstandingDeliveries(database, now, 5)).filter(({ endpointId }) => endpointIds.has(endpointId));
    expect(own.length).toBe(10);
  });

  it('add a URL once, though it is added twice at once', async () => {
    const { database } = stage.cluster;
    const added = await Promise.all(
      Array.from({ length: 6 }, () =>
        addWebhookEndpoint(database, { accountId, livemode: true, url: 'https://shop.example/live' }),
      ),
    );
    expect(new Set(added.map((endpoint) => endpoint?.id)).size).toBe(1);
    expect(
      await addWebhookEndpoint(database, { accountId: 'acct_nobody', livemode: true, url: 'https://shop.example' }),
    ).toBeNull();
  });
});

describe('webhook secrets', () => {
  let stage: Harness;
  beforeAll(async () => {
    stage = await Harness.open();
  }, 60_000);
  afterAll(() => stage.close());

  it('lie encrypted, bound to their row and key', async () => {
    const { database, secretsKey } = stage.cluster;
    const account = await openAccount(database, secretsKey, { name: 'secrets' });
    const owner = { accountId: account.id, livemode: false };
    expect(account.webhookSecrets.test).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await webhookSecrets(database, secretsKey, owner)).toMatchObject([{ secret: account.webhookSecrets.test }]);
    const { rows } = await database.sql.query<{ ciphertext: Buffer }>('SELECT ciphertext FROM service.webhook_secrets');
    for (const { ciphertext } of rows) expect(ciphertext.includes('whsec_')).toBe(false);

    await expect(webhookSecrets(database, Buffer.alloc(32, 1), owner)).rejects.toThrow('SECRETS_KEY is not the one');
    await database.sql.query(
      'UPDATE service.webhook_secrets s SET ciphertext = other.ciphertext FROM service.webhook_secrets other WHERE s.account_id = $1 AND other.account_id = $1 AND s.id <> other.id',
      [account.id],
    );
    await expect(webhookSecrets(database, secretsKey, owner)).rejects.toThrow('cannot be decrypted');
  });

  it('overlap for 24 hours after a rotation, are chosen in advance, and are forgotten when they sign no more', async () => {
    const { database, secretsKey } = stage.cluster;
    const account = await openAccount(database, secretsKey, { name: 'rotating' });
    const owner = { accountId: account.id, livemode: true };
    const first = account.webhookSecrets.live;
    const begin = Date.now();
    const second = await createWebhookSecret(database, secretsKey, owner, new Date(begin + HOUR));
    const secrets = await webhookSecrets(database, secretsKey, owner);
    expect(secretsInForce(secrets, begin - HOUR)).toEqual([first]);
    expect(secretsInForce(secrets, begin + 10)).toEqual([first]);
    expect(secretsInForce(secrets, begin + HOUR)).toEqual([second, first]);
    expect(secretsInForce(secrets, begin + 25 * HOUR - 1)).toEqual([second, first]);
    expect(secretsInForce(secrets, begin + 25 * HOUR)).toEqual([second]);

    await database.sql.query(
      "UPDATE service.webhook_secrets SET valid_from = valid_from - interval '3 days' WHERE account_id = $1",
      [account.id],
    );
    const third = await createWebhookSecret(database, secretsKey, owner);
    expect((await webhookSecrets(database, secretsKey, owner)).map(({ secret }) => secret)).toEqual([third, second]);
  });

  it('sign deliveries side by side after a rotation', async () => {
    await stage.start();
    const { account, receiver } = await stage.account(status(200));
    const next = await createWebhookSecret(
      stage.cluster.database,
      stage.cluster.secretsKey,
      { accountId: account.id, livemode: false },
      new Date(),
    );
    stage.clock = Date.now() + 1_000;
    const { body } = await stage.emit(account.id);
    await until('it to arrive', () => receiver.received.length === 1);
    const headers = receiver.received[0]?.headers as Record<string, string>;
    for (const secret of [next, account.webhookSecrets.test]) new Webhook(secret).verify(body, headers);
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
  });
});
