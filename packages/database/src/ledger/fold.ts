import { type EventEnvelope, eventOf, parseEvent, webhookBody } from '@pf/contracts';
import { evolve, type Instant, type IntentId, type PaymentIntent } from '@pf/domain';
import type { ProjectedEvent, ProjectedIntent } from './projection.ts';

/** A record of intent.events as it is read from the log. */
export interface EventRecord {
  readonly offset: bigint;
  readonly value: string | null;
}

/** The result of folding a batch of events onto the stored intents. */
export interface Folded {
  readonly intents: readonly ProjectedIntent[];
  /** The public events among those that were applied. */
  readonly events: readonly ProjectedEvent[];
  /** The latest event time; 0 if there was no event. */
  readonly lastAt: Instant;
}

/**
 * Parses records of intent.events.
 * @throws Error with the offset of a record that is not an event: the log is damaged, or a newer version wrote it.
 */
export function parseEvents(records: readonly EventRecord[]): readonly EventEnvelope[] {
  return records.map(({ offset, value }) => {
    try {
      return parseEvent(value ?? '');
    } catch (error) {
      throw new Error(`The record at offset ${offset} of intent.events cannot be read`, { cause: error });
    }
  });
}

/** The ids of the intents that these events belong to, each once. */
export const intentsOf = (events: readonly EventEnvelope[]): readonly IntentId[] => [
  ...new Set(events.map(({ intentId }) => intentId)),
];

/**
 * Folds events onto stored intents: version n+1 is applied to version n; versions up to n are skipped.
 * @param stored those of the events' intents that are projected already.
 * @throws VersionGapError if an event is missing.
 */
export function fold(stored: Iterable<PaymentIntent>, events: readonly EventEnvelope[]): Folded {
  const before = new Map<IntentId, PaymentIntent>();
  for (const intent of stored) before.set(intent.id, intent);
  const after = new Map<IntentId, PaymentIntent>();
  const applied: EventEnvelope[] = [];
  let lastAt = 0;
  for (const envelope of events) {
    const event = eventOf(envelope);
    lastAt = Math.max(lastAt, event.at);
    const state = after.get(event.intentId) ?? before.get(event.intentId);
    if (event.version <= (state?.version ?? 0)) continue;
    after.set(event.intentId, evolve(state, event));
    applied.push(envelope);
  }
  return {
    intents: [...after.values()].map((intent) => ({ intent, before: before.get(intent.id)?.version ?? 0 })),
    events: applied.flatMap(projectedEvent),
    lastAt,
  };
}

/** The row of a public event; empty for a private one. */
export function projectedEvent(envelope: EventEnvelope): readonly ProjectedEvent[] {
  const body = webhookBody(envelope);
  if (body === null) return [];
  const { intentId, version, eventId, type, at } = envelope;
  return [{ intentId, version, eventId, type, body, at }];
}
