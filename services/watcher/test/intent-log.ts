import { encodeEvent, encodeIntent, EVENT_SCHEMA_VERSION, eventIdOf, partitionOf } from '@pf/contracts';
import {
  type EventData,
  type EventType,
  evolve,
  type Instant,
  type IntentEvent,
  type IntentId,
  type PaymentIntent,
  view,
} from '@pf/domain';
import type { Cluster } from '@pf/testing';
import { Kafka, logLevel, Partitioners } from 'kafkajs';

/** Writes intent.events as the writer would, and its projection where a test asks for it. */
export interface IntentLog {
  /** Appends an intent's next event, at that time or now; resolves with the intent after it. */
  append<Type extends EventType>(id: IntentId, type: Type, data: EventData[Type], at?: Instant): Promise<PaymentIntent>;
  /** As append, but the log never gets it. */
  withhold<Type extends EventType>(id: IntentId, type: Type, data: EventData[Type]): PaymentIntent;
  /** Appends an unreadable record. */
  appendGarbage(partition: number): Promise<void>;
  /** Puts the intent as it is now into the projection, and its partition's checkpoint at the log's end. */
  project(id: IntentId): Promise<void>;
  intent(id: IntentId): PaymentIntent;
  close(): Promise<void>;
}

/** The record of an event. @param intent after it */
export const textOf = (event: IntentEvent, intent: PaymentIntent): string =>
  encodeEvent({
    eventId: eventIdOf(event.intentId, event.version),
    type: event.type,
    schemaVersion: EVENT_SCHEMA_VERSION,
    intentId: event.intentId,
    version: event.version,
    accountId: intent.accountId,
    livemode: intent.livemode,
    commandId: null,
    at: new Date(event.at).toISOString(),
    trace: { traceparent: null, requestId: null },
    data: event.data,
    intent: view(intent),
  });

export async function openIntentLog(cluster: Cluster, brokers: string): Promise<IntentLog> {
  const kafka = new Kafka({
    clientId: 'test-writer',
    brokers: brokers.split(','),
    logLevel: logLevel.NOTHING,
    retry: { retries: 3 },
  });
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  const reader = await cluster.log.reader('test');
  const intents = new Map<IntentId, PaymentIntent>();
  const intentOf = (id: IntentId): PaymentIntent => {
    const intent = intents.get(id);
    if (!intent) throw new Error(`nothing was appended for ${id}`);
    return intent;
  };
  const next = (
    id: IntentId,
    type: EventType,
    data: EventData[EventType],
    at = Date.now(),
  ): { event: IntentEvent; intent: PaymentIntent } => {
    const before = intents.get(id);
    const event = { type, data, intentId: id, version: (before?.version ?? 0) + 1, at } as unknown as IntentEvent;
    const intent = evolve(before, event);
    intents.set(id, intent);
    return { event, intent };
  };
  const send = async (partition: number, key: string, value: string): Promise<void> => {
    await producer.send({ topic: `${cluster.prefix}intent.events`, acks: -1, messages: [{ key, partition, value }] });
  };
  return {
    async append(id, type, data, at) {
      const { event, intent } = next(id, type, data, at);
      await send(partitionOf(id), id, textOf(event, intent));
      return intent;
    },
    withhold: (id, type, data) => next(id, type, data).intent,
    appendGarbage: (partition) => send(partition, 'garbage', '{"type":'),
    async project(id) {
      const intent = intentOf(id);
      const position = await reader.endOffset('intent.events', partitionOf(id));
      const time = (at: number | null): Date | null => (at === null ? null : new Date(at));
      await cluster.database.sql.query(
        `INSERT INTO ledger.intents (id, partition, version, account_id, livemode, status, chain, token,
           token_address, amount_base_units, requestor, direction, reference, created_at,
           updated_at, expires_at, closed_at, state)
         VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18)
         ON CONFLICT (id) DO UPDATE SET version = excluded.version, status = excluded.status,
           closed_at = excluded.closed_at, state = excluded.state`,
        [
          id,
          partitionOf(id),
          intent.version,
          intent.accountId,
          intent.livemode,
          intent.status,
          intent.chain,
          intent.token,
          intent.tokenAddress,
          intent.amountBaseUnits.toString(),
          intent.requestor,
          intent.direction,
          intent.reference,
          time(intent.createdAt),
          time(intent.updatedAt),
          time(intent.expiresAt),
          time(intent.closedAt),
          encodeIntent(intent),
        ],
      );
      await cluster.database.sql.query(
        `INSERT INTO ledger.checkpoints (partition, position, last_at) VALUES ($1, $2, now())
         ON CONFLICT (partition) DO UPDATE SET position = excluded.position`,
        [partitionOf(id), position.toString()],
      );
    },
    intent: intentOf,
    async close() {
      await producer.disconnect();
      await reader.close();
    },
  };
}
