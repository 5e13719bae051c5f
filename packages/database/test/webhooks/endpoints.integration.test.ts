import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import {
  addWebhookEndpoint,
  type DeliverableEvent,
  disableFailingEndpoint,
  dueDeliveries,
  enableWebhookEndpoint,
  listWebhookEndpoints,
  openAccount,
  recordDeliveries,
  rememberHealth,
  removeWebhookEndpoint,
  webhookPositions,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

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

  const event = (): DeliverableEvent => {
    const intentId = newIntentId(0);
    return {
      eventId: `evt_${intentId}`,
      eventType: 'intent.created',
      intentId,
      version: 1,
      ...mode(),
      traceparent: null,
      requestId: null,
    };
  };
  const record = (at: Date) => recordDeliveries(own.database, { partition, from: 0n, next: 0n, events: [event()], at });
  const deliveries = (of = endpointId) =>
    own.database.prisma.delivery.findMany({ where: { endpointId: of }, orderBy: { createdAt: 'asc' } });
  const shown = async () => (await listWebhookEndpoints(own.database, mode())).find(({ id }) => id === endpointId);
  const enable = (replay: boolean) => enableWebhookEndpoint(own.database, { ...mode(), url, replay, at: later(9_000) });

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
      { status: 'pending', nextAttemptAt: later(9_000), attemptCount: 0, failedAt: null },
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
});
