import { type EventEnvelope, EVENT_SCHEMA_VERSION, eventIdOf, newIntentId, webhookBody } from '@pf/contracts';
import { type Database, type DeliverableEvent, recordDeliveries, webhookPositions } from '@pf/database';
import type { AccountId, PublicIntent } from '@pf/domain';

const BATCH = 1_000;
const PARTITION = 0;

/** An event as it is sent: a body of the usual size. */
export interface SentEvent {
  readonly event: DeliverableEvent;
  readonly body: string;
}

export function sentEvents(count: number, accountId: string): SentEvent[] {
  return Array.from({ length: count }, () => {
    const intentId = newIntentId(PARTITION);
    const at = new Date().toISOString();
    const intent = {
      id: intentId,
      idempotencyKey: `order-${intentId}`,
      chain: 'eip155:84532',
      token: 'USDC',
      tokenAddress: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      amount: '12.50',
      amountBaseUnits: '12500000',
      requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      fulfiller: null,
      direction: 'incoming',
      state: 'created',
      retryRequired: false,
      pendingAtExpiry: false,
      reference: `0x${'5e'.repeat(32)}`,
      txSignature: null,
      detectedAt: null,
      ataRentLamports: null,
      ttlSeconds: 1_800,
      expiresAt: at,
      createdAt: at,
      updatedAt: at,
      confirmedAt: null,
      finalizedAt: null,
      metadata: { order: 'A-1001' },
      refundedBy: null,
      refundOf: null,
      livemode: false,
    };
    const envelope: EventEnvelope = {
      eventId: eventIdOf(intentId, 1),
      type: 'intent.created',
      schemaVersion: EVENT_SCHEMA_VERSION,
      intentId,
      version: 1,
      accountId: accountId as AccountId,
      livemode: false,
      commandId: null,
      at,
      trace: { traceparent: null, requestId: null },
      data: {},
      intent: intent as unknown as PublicIntent,
    };
    const { eventId, type: eventType, version, livemode, trace } = envelope;
    return {
      event: { eventId, eventType, intentId, version, accountId, livemode, ...trace },
      body: webhookBody(envelope) ?? '',
    };
  });
}

/** Projects events and records their deliveries, as the services do, without the log. */
export async function outstand(database: Database, events: readonly SentEvent[]): Promise<void> {
  const from = (await webhookPositions(database, [PARTITION])).get(PARTITION) ?? 0n;
  for (let start = 0; start < events.length; start += BATCH) {
    const batch = events.slice(start, start + BATCH);
    await database.sql.query(
      `INSERT INTO ledger.intent_events (intent_id, version, event_id, type, body, at)
        SELECT *, now() FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[])`,
      [
        batch.map(({ event }) => event.intentId),
        batch.map(({ event }) => event.version),
        batch.map(({ event }) => event.eventId),
        batch.map(({ event }) => event.eventType),
        batch.map(({ body }) => body),
      ],
    );
    // The position stays: the log is empty.
    const batched = batch.map(({ event }) => event);
    await recordDeliveries(database, [{ partition: PARTITION, from, next: from, events: batched }], new Date());
  }
}
