import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  depositIdOf,
  DEPOSIT_EVENT_SCHEMA_VERSION,
  depositWebhookBody,
  encodeDepositEvent,
  eventIdOf,
} from '@pf/contracts';
import { createReplay, findReplay, inTransaction, retryDelivery } from '@pf/database';
import { type AccountId, decideDeposit, depositView } from '@pf/domain';
import { deposits, samples } from '@pf/domain/testing';
import { until } from '@pf/testing';
import { Webhook } from 'standardwebhooks';
import type { WebhookService } from '../src/index.ts';
import { Harness, status } from './harness.ts';

const HOUR = 3_600_000;

/** What the log has of a deposit that an account has received, and the webhook's expected bytes. */
function received(accountId: AccountId) {
  const id = depositIdOf(accountId, samples.BASE_SEPOLIA, deposits.arrival(), 1);
  const decided = decideDeposit(deposits.depositLanded({ accountId }, id), samples.SCENARIO_START, undefined);
  if (decided === null) throw new Error('it was not received');
  const { event, deposit } = decided;
  const { version, type, data } = event;
  const envelope = {
    eventId: eventIdOf(id, version),
    type,
    schemaVersion: DEPOSIT_EVENT_SCHEMA_VERSION,
    depositId: id,
    version,
    accountId,
    livemode: false,
    commandId: null,
    at: new Date(samples.SCENARIO_START).toISOString(),
    trace: { traceparent: null, requestId: null },
    data,
    deposit: depositView(deposit),
  };
  return { envelope, body: depositWebhookBody(envelope) ?? '' };
}

describe('A webhook of a deposit', () => {
  let harness: Harness;
  let service: WebhookService;
  beforeAll(async () => {
    harness = await Harness.open();
    service = await harness.start();
  });
  afterAll(() => harness.close());

  it('is signed, retried, sent again by hand and replayed, as that of a payment', async () => {
    let response = 500;
    const { account, receiver } = await harness.account((one, to) => status(response)(one, to));
    const owner = { accountId: account.id, livemode: false };
    const { envelope, body } = received(account.id);
    const { eventId, depositId, version, type } = envelope;
    await harness.cluster.database.sql.query(
      `INSERT INTO ledger.intent_events (intent_id, version, event_id, type, body, at) VALUES ($1, $2, $3, $4, $5, $6)`,
      [depositId, version, eventId, type, body, new Date(harness.clock)],
    );
    await harness.write(encodeDepositEvent(envelope), depositId);
    const delivery = async () => (await harness.deliveries(account.id))[0];
    await until('a failed attempt', async () => (await delivery())?.responseStatus === 500);
    expect(await delivery()).toMatchObject({ status: 'pending', eventId, eventType: type, intentId: depositId });

    response = 200;
    harness.clock = (await delivery())?.nextAttemptAt?.getTime() ?? 0;
    await service.sweep();
    await until('a second attempt', async () => (await delivery())?.status === 'delivered');
    const { id: deliveryId = '' } = (await delivery()) ?? {};
    const { database } = harness.cluster;
    await retryDelivery(database, { deliveryId, ...owner, at: new Date(harness.clock) });
    await service.sweep();
    await until('a third attempt', async () => (await delivery())?.attemptCount === 3);
    await until('its result', async () => (await delivery())?.status === 'delivered');

    const selection = {
      endpointId: null,
      toEndpointId: null,
      eventTypes: ['deposit.received'],
      status: 'all',
    } as const;
    const period = { since: new Date(harness.clock - HOUR), until: new Date(harness.clock + HOUR) };
    const replay = await inTransaction(database, (client) =>
      createReplay(client, owner, { ...selection, ...period }, new Date(harness.clock)),
    );
    if (replay === null) throw new Error('there is another replay');
    await until('the replay to end', async () => {
      harness.clock += 1_000;
      const found = await findReplay(database, owner, replay.id);
      return found?.state === 'completed' && found.delivered === 1;
    });
    expect(receiver.received).toHaveLength(4);
    for (const { raw, headers } of receiver.received) {
      expect(raw).toBe(body);
      new Webhook(account.webhookSecrets.test).verify(raw, headers as Record<string, string>);
    }
  });
});
