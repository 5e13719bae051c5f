import { eventOf, headOf, isForeign, type LoggedEvent, readEvent, webhookBody } from '@pf/contracts';
import { evolve, hold, type Instant, type IntentId, isUnexpectedPayment, type PaymentIntent } from '@pf/domain';
import { unsealed } from '../privacy/sealing.ts';
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
  /** Intents whose personal data one of the events erases. */
  readonly erased: readonly IntentId[];
  /** The latest event time; 0 if there was no event. */
  readonly lastAt: Instant;
}

/**
 * Reads records of intent.events.
 * @throws Error with the offset of a record that is not an event of any version: the log is damaged.
 */
export function readEvents(records: readonly EventRecord[]): readonly LoggedEvent[] {
  return records.map(({ offset, value }) => {
    try {
      return readEvent(value ?? '');
    } catch (error) {
      throw new Error(`The record at offset ${offset} of intent.events cannot be read`, { cause: error });
    }
  });
}

/** The ids of the intents that these events belong to, each once. */
export const intentsOf = (events: readonly LoggedEvent[]): readonly IntentId[] => [
  ...new Set(events.map(({ intentId }) => intentId)),
];

/** A version of an intent stands in the log twice: the log is forked, or it was copied with repetitions. */
export class RepeatedVersionError extends Error {
  override readonly name = 'RepeatedVersionError';
}

/**
 * Folds events that were not folded before onto stored intents: version n+1 onto version n.
 * @param stored those of the events' intents that are projected, as of the position before the first event
 * @throws VersionGapError if an event is missing, RepeatedVersionError if one is there twice
 */
export const fold = (stored: Iterable<PaymentIntent>, events: readonly LoggedEvent[]): Folded =>
  foldBy(stored, events, (state, event) => {
    if (!isRepeated(state, event)) return folded(state, event);
    throw new RepeatedVersionError(
      `${event.type} is version ${event.version} of ${event.intentId}, which has version ${state?.version} already`,
    );
  });

/** An event that does not follow the one before it, by its place among the folded ones. */
export interface UnfitEvent {
  readonly kind: 'gap' | 'repeated';
  readonly index: number;
}

/**
 * Folds what can be folded of a damaged log. Of a version that is there twice the first counts, as for every reader
 * that had seen it before the second was written. After a gap, what is missing has changed nothing; without its first
 * event an intent does not exist.
 */
export function salvage(
  stored: Iterable<PaymentIntent>,
  events: readonly LoggedEvent[],
): Folded & { readonly unfit: readonly UnfitEvent[] } {
  const unfit: UnfitEvent[] = [];
  const salvaged = foldBy(stored, events, (state, event, index) => {
    if (isRepeated(state, event)) {
      unfit.push({ kind: 'repeated', index });
      return null;
    }
    const before = event.version - 1;
    if (before === (state?.version ?? 0)) return folded(state, event);
    unfit.push({ kind: 'gap', index });
    return state === undefined ? null : folded({ ...state, version: before }, event);
  });
  return { ...salvaged, unfit };
}

/** From an event on that this code does not understand, its intent is held: only what the public sees is current. */
const folded = (state: PaymentIntent | undefined, event: LoggedEvent): PaymentIntent =>
  isForeign(event) || state?.heldFrom !== undefined
    ? hold(state, headOf(state === undefined ? event : unsealed(event, state)))
    : evolve(state, eventOf(event));

const isRepeated = (state: PaymentIntent | undefined, { version }: LoggedEvent): boolean =>
  version <= (state?.version ?? 0);

/** @param step the intent after an event; null: the event is passed over */
function foldBy(
  stored: Iterable<PaymentIntent>,
  events: readonly LoggedEvent[],
  step: (state: PaymentIntent | undefined, event: LoggedEvent, index: number) => PaymentIntent | null,
): Folded {
  const before = new Map<IntentId, PaymentIntent>();
  for (const intent of stored) before.set(intent.id, intent);
  const after = new Map<IntentId, PaymentIntent>();
  const applied: LoggedEvent[] = [];
  let lastAt = 0;
  for (const [index, event] of events.entries()) {
    lastAt = Math.max(lastAt, Date.parse(event.at));
    const next = step(after.get(event.intentId) ?? before.get(event.intentId), event, index);
    if (next === null) continue;
    after.set(event.intentId, next);
    applied.push(unsealed(event, next));
  }
  return {
    intents: [...after.values()].map((intent) => ({ intent, before: before.get(intent.id)?.version ?? 0 })),
    events: applied.flatMap(projectedEvent),
    erased: applied.flatMap(({ type, intentId }) => (type === 'personal_data_erased' ? [intentId] : [])),
    lastAt,
  };
}

/** The row of a public event; empty for a private one. */
export function projectedEvent(envelope: LoggedEvent): readonly ProjectedEvent[] {
  const body = webhookBody(envelope);
  if (body === null) return [];
  const { intentId, version, eventId, type, at, accountId, livemode } = envelope;
  const owner = isUnexpectedPayment(type) ? { accountId, livemode } : null;
  return [{ intentId, version, eventId, type, body, at, owner }];
}
