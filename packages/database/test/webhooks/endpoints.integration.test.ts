import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { API_VERSIONS, ENDPOINTS_MAX } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import { until } from '@pf/testing';
import {
  addWebhookEndpoint,
  EndpointLimitReached,
  createManagedEndpoint,
  disableFailingEndpoint,
  dueDeliveries,
  enableWebhookEndpoint,
  inTransaction,
  listWebhookEndpoints,
  managedEndpoints,
  openAccount,
  recordDeliveries,
  rememberHealth,
  removeWebhookEndpoint,
  settleAttempts,
  stepCatchUp,
  webhookPositions,
} from '../../src/index.ts';
import { ATTEMPTS_KEPT } from '../../src/webhooks/sending.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';
import { deliverableEvent } from './deliverable-event.ts';

describe('A webhook URL', () => {
  let own: OwnDatabase;
  let accountId: string;
  let endpointId: string;
  let partition = 40;
  const url = 'https://shop.example/hooks';
  const now = new Date('2026-11-21T12:00:00.000Z');
  const later = (ms: number): Date => new Date(now.getTime() + ms);
  const mode = () => ({ accountId, livemode: false });
  beforeAll(async () => {
    own = await createOwnDatabase();
  });
  afterAll(() => own.close());
  beforeEach(async () => {
    ({ id: accountId } = await openAccount(own.database, randomBytes(32), { name: 'endpoints' }));
    endpointId = (await addWebhookEndpoint(own.database, { ...mode(), url }))?.id ?? '';
    partition += 1;
    await webhookPositions(own.database, [partition]);
  });

  const record = async (at: Date) =>
    (await recordDeliveries(own.database, [{ partition, from: 0n, next: 0n, events: [deliverableEvent(mode())] }], at))
      .due;
  const deliveries = (of = endpointId) =>
    own.database.prisma.delivery.findMany({ where: { endpointId: of }, orderBy: { createdAt: 'asc' } });
  const shown = async () => (await listWebhookEndpoints(own.database, mode())).find(({ id }) => id === endpointId);
  const enable = (replay: boolean) => enableWebhookEndpoint(own.database, { ...mode(), url, replay, at: later(9_000) });

  /** It is to get later what it has missed since. */
  const fallBehind = (id = endpointId) =>
    own.database.sql.query(
      `WITH missed AS (
         INSERT INTO service.missed_events (account_id, livemode, event_id, event_type, body, at)
         VALUES ($1, false, 'evt_' || gen_random_uuid(), 'webhook_endpoint.disabled', '{}', $3) RETURNING seq)
       INSERT INTO service.webhook_catch_ups (endpoint_id, account_id, livemode, next_seq, since, look_at, page)
       SELECT $2, $1, false, seq, $3, $3, 32 FROM missed`,
      [accountId, id, now],
    );

  it('gets nothing of what it has missed when it is added again after it was disabled', async () => {
    const { database } = own;
    await disableFailingEndpoint(database, { endpointId, by: 'gone', at: now });
    await fallBehind();
    expect((await addWebhookEndpoint(database, { ...mode(), url }))?.id).toBe(endpointId);
    expect(await managedEndpoints(database, { accountId: accountId as AccountId, livemode: false })).toMatchObject([
      { id: endpointId, missedSince: null, missedCount: 0 },
    ]);
  });

  it('is caught up after others where its step has failed, so that it holds up none of them', async () => {
    const { database } = own;
    const other = await addWebhookEndpoint(database, { ...mode(), url: 'https://other.example' });
    await fallBehind();
    await fallBehind(other?.id);
    await database.sql.query(
      `CREATE FUNCTION service.fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''broken''; END';
       CREATE TRIGGER broken BEFORE INSERT ON service.deliveries FOR EACH ROW
         WHEN (NEW.endpoint_id = '${endpointId}') EXECUTE FUNCTION service.fail();
       UPDATE service.webhook_catch_ups SET look_at = look_at - interval '1 s' WHERE endpoint_id = '${endpointId}'`,
    );
    try {
      await expect(stepCatchUp(database, later(10))).rejects.toThrow('broken');
      expect(await stepCatchUp(database, later(10))).toEqual({ endpointId: other?.id, made: 1 });
      expect(await stepCatchUp(database, later(10))).toBeNull();
      await expect(stepCatchUp(database, later(20_000))).rejects.toThrow('broken');
    } finally {
      await database.sql.query('DROP TRIGGER broken ON service.deliveries; DROP FUNCTION service.fail()');
    }
    expect(await stepCatchUp(database, later(60_000))).toEqual({ endpointId, made: 2 });
  });

  it('gets what is replayed in the order of its events when it is enabled, before what it has missed', async () => {
    for (let ms = 0; ms < 20; ms++) await record(later(ms * 10));
    const events = (await deliveries()).map(({ eventId }) => eventId);
    await disableFailingEndpoint(own.database, { endpointId, by: 'failing', at: later(1_000) });
    await fallBehind();
    expect(await enable(true)).toMatchObject({ replayed: 20 });
    expect(await stepCatchUp(own.database, later(9_000))).toEqual({ endpointId, made: 1 });
    const due = await own.database.prisma.delivery.findMany({
      where: { endpointId, nextAttemptAt: { lte: later(9_000) } },
      orderBy: { nextAttemptAt: 'asc' },
    });
    expect(due.map(({ eventId }) => eventId).slice(0, 20)).toEqual(events);
    expect(due).toHaveLength(21);
  });

  it('keeps the newest attempts of a delivery, however often it is sent again', async () => {
    const [delivery] = await record(now);
    const deliveryId = delivery?.id ?? '';
    const made = { at: now, durationMs: 1, responseStatus: 200, responseStart: null, reason: null, next: null };
    for (let number = 1; number <= ATTEMPTS_KEPT + 5; number++)
      await settleAttempts(own.database, [{ ...made, deliveryId, number, dueAt: now }]);
    const { rows } = await own.database.sql.query<{ count: number; first: number }>(
      'SELECT count(*)::int, min(number) AS first FROM service.delivery_attempts WHERE delivery_id = $1',
      [deliveryId],
    );
    expect(rows).toEqual([{ count: ATTEMPTS_KEPT, first: 6 }]);
  });

  it('is disabled once, and the account’s other URLs of the mode are told', async () => {
    const { database } = own;
    const other = await addWebhookEndpoint(database, { ...mode(), url: 'https://other.example' });
    const live = await addWebhookEndpoint(database, { accountId, livemode: true, url: 'https://other.example' });
    await record(now);
    await rememberHealth(database, [{ endpointId, failingSince: now }]);
    const disabled = { endpointId, by: 'failing', at: later(1_000) } as const;
    expect(await disableFailingEndpoint(database, disabled)).toEqual([other?.id]);
    expect(await disableFailingEndpoint(database, disabled)).toEqual([]);

    expect(await shown()).toMatchObject({ disabledAt: later(1_000), disabledBy: 'failing', failingSince: now });
    expect(await deliveries()).toMatchObject([
      { status: 'failed', error: 'The URL was disabled: it had accepted nothing for days.', nextAttemptAt: null },
    ]);
    expect(await deliveries(live?.id)).toEqual([]);
    const told = await dueDeliveries(database, [{ endpointId: other?.id ?? '', count: 9 }], [], later(1_000));
    const [notice] = told.filter(({ eventType }) => eventType === 'webhook_endpoint.disabled');
    expect(notice).toMatchObject({ intentId: null, url: 'https://other.example', eventAt: later(1_000) });
    expect(JSON.parse(notice?.body ?? '')).toEqual({
      eventId: notice?.eventId,
      type: 'webhook_endpoint.disabled',
      createdAt: later(1_000).toISOString(),
      livemode: false,
      data: {
        endpoint: {
          id: endpointId,
          url,
          disabledAt: later(1_000).toISOString(),
          disabledBy: 'failing',
          failingSince: now.toISOString(),
        },
      },
    });
  });

  it('can be enabled again with what it has missed, or without', async () => {
    const { database } = own;
    await record(later(-1_000));
    await rememberHealth(database, [{ endpointId, failingSince: now }]);
    await disableFailingEndpoint(database, { endpointId, by: 'failing', at: later(1_000) });
    expect(await record(later(2_000))).toEqual([]);
    expect((await deliveries()).map(({ status }) => status)).toEqual(['failed', 'failed']);

    expect(await enable(false)).toEqual({ endpointId, replayed: 0 });
    expect(await shown()).toMatchObject({ disabledAt: null, disabledBy: null, failingSince: null });
    expect(await enable(true)).toBeNull();

    await disableFailingEndpoint(database, { endpointId, by: 'gone', at: later(1_500) });
    expect(await enable(true)).toEqual({ endpointId, replayed: 1 });
    expect(await deliveries()).toMatchObject([
      { status: 'failed', nextAttemptAt: null },
      { status: 'pending', nextAttemptAt: expect.any(Date), attemptCount: 0, failedAt: null },
    ]);
  });

  it('is enabled when the account adds it again, and can be removed while it is disabled', async () => {
    const { database } = own;
    const disable = () => disableFailingEndpoint(database, { endpointId, by: 'gone', at: now });
    await disable();
    expect(await addWebhookEndpoint(database, { ...mode(), url })).toMatchObject({ id: endpointId, disabledAt: null });
    await disable();
    expect(await removeWebhookEndpoint(database, { ...mode(), url, at: now })).toBe(true);
    expect(await shown()).toMatchObject({ disabledBy: 'account' });
    expect(await record(now)).toEqual([]);
    expect(await deliveries()).toEqual([]);
    expect(await enable(true)).toBeNull();
  });

  describe('that is added by an operator and by the API at once', () => {
    const raced = 'https://raced.example/hooks';
    const add = () => addWebhookEndpoint(own.database, { ...mode(), url: raced });
    const create = (to = raced) =>
      inTransaction(own.database, (client) =>
        createManagedEndpoint(
          client,
          randomBytes(32),
          { accountId: accountId as AccountId, livemode: false },
          { url: to, name: null, eventTypes: null, apiVersion: API_VERSIONS[0], at: now },
        ),
      );
    const managed = () => managedEndpoints(own.database, { accountId: accountId as AccountId, livemode: false });
    const waiting = async (): Promise<number> => {
      const { rowCount } = await own.database.sql.query(
        `SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
          WHERE NOT l.granted AND d.datname = current_database()`,
      );
      return rowCount ?? 0;
    };
    /** Lets the second begin when the first is about to write, and both go on together. */
    const race = async <First, Second>(first: () => Promise<First>, second: () => Promise<Second>) => {
      const client = await own.database.sql.connect();
      try {
        await client.query('BEGIN');
        await client.query('LOCK TABLE service.webhook_endpoints IN SHARE MODE');
        const began = first();
        await until('the first to wait', async () => (await waiting()) === 1);
        const both = Promise.all([began, second()]);
        await until('the second to wait', async () => (await waiting()) === 2);
        await client.query('COMMIT');
        return await both;
      } finally {
        // A transaction that has not ended goes with its connection.
        client.release(true);
      }
    };

    it('is one endpoint, whichever comes first', async () => {
      const [added, found] = await race(add, create);
      expect(found).toEqual({ kind: 'exists', endpointId: added?.id });
      await removeWebhookEndpoint(own.database, { ...mode(), url: raced, at: now });
      const [created, known] = await race(create, add);
      expect(created).toMatchObject({ kind: 'created', endpoint: { id: known?.id } });
      expect((await managed()).map((endpoint) => endpoint.url).toSorted()).toEqual([raced, url]);
    });

    it('cannot exceed the limit', async () => {
      for (let n = 2; n < ENDPOINTS_MAX; n++) await create(`https://shop.example/${n}`);
      const [, refused] = await race(add, () => create('https://shop.example/more'));
      expect(refused).toEqual({ kind: 'too_many' });
      await expect(addWebhookEndpoint(own.database, { ...mode(), url: 'https://shop.example/more' })).rejects.toThrow(
        EndpointLimitReached,
      );
      expect(await add()).toMatchObject({ url: raced });
      expect(await managed()).toHaveLength(ENDPOINTS_MAX);
    });
  });
});
