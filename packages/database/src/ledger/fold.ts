import {
  depositEventOf,
  depositHeadOf,
  depositWebhookBody,
  eventOf,
  headOf,
  isForeign,
  isForeignDeposit,
  type LoggedDepositEvent,
  type LoggedEvent,
  type LoggedRecord,
  readRecord,
  type Trace,
  webhookBody,
} from '@pf/contracts';
import {
  type Deposit,
  type DepositId,
  evolve,
  evolveDeposit,
  hold,
  holdDeposit,
  type Instant,
  type IntentId,
  isUnexpectedPayment,
  type PaymentIntent,
  type ToldIntent,
  toldIntent,
  VersionGapError,
} from '@pf/domain';
import { unsealed } from '../privacy/sealing.ts';
import type { ProjectedDeposit, ProjectedEvent, ProjectedIntent } from './projection.ts';

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
export function readRecords(records: readonly EventRecord[]): readonly LoggedRecord[] {
  return records.map(({ offset, value }) => {
    try {
      return readRecord(value ?? '');
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
  // Their account looks for them (../dashboard/attention.ts).
  const owner = isUnexpectedPayment(type) || type === 'intent.overpaid' ? { accountId, livemode } : null;
  return [{ intentId, version, eventId, type, body, at, owner }];
}

/** The result of folding a batch of deposits' events onto the stored deposits. */
export interface FoldedDeposits {
  readonly deposits: readonly ProjectedDeposit[];
  /** What intents have to know of it, in order. */
  readonly told: readonly (ToldIntent & { readonly trace: Trace })[];
  readonly events: readonly ProjectedEvent[];
  readonly lastAt: Instant;
}

/**
 * Folds events of deposits that were not folded before onto the stored ones, as fold() does those of intents.
 * @throws VersionGapError if an event is missing, RepeatedVersionError if one is there twice
 */
export function foldDeposits(stored: Iterable<Deposit>, events: readonly LoggedDepositEvent[]): FoldedDeposits {
  const { unfit, ...folded } = salvageDeposits(stored, events);
  const [first] = unfit;
  const event = first && events[first.index];
  if (!event) return folded;
  const place = `${event.type} is version ${event.version} of ${event.depositId}`;
  if (first.kind === 'repeated') throw new RepeatedVersionError(`${place}, which has it already`);
  throw new VersionGapError(`${place}, which lacks the one before`);
}

/** Folds what can be folded of a damaged log, as salvage() does. */
export function salvageDeposits(
  stored: Iterable<Deposit>,
  events: readonly LoggedDepositEvent[],
): FoldedDeposits & { readonly unfit: readonly UnfitEvent[] } {
  const before = new Map<DepositId, Deposit>([...stored].map((deposit) => [deposit.id, deposit]));
  const after = new Map<DepositId, Deposit>();
  const unfit: UnfitEvent[] = [];
  const applied: LoggedDepositEvent[] = [];
  const told: FoldedDeposits['told'][number][] = [];
  for (const [index, event] of events.entries()) {
    const state = after.get(event.depositId) ?? before.get(event.depositId);
    const version = state?.version ?? 0;
    if (event.version !== version + 1) unfit.push({ kind: event.version <= version ? 'repeated' : 'gap', index });
    // Without its first event a deposit does not exist; a missing one between has changed nothing.
    if (event.version <= version || (state === undefined && event.version > 1)) continue;
    const deposit = foldedDeposit(state && { ...state, version: event.version - 1 }, event);
    after.set(event.depositId, deposit);
    applied.push(event);
    const tells = toldIntent(state, deposit);
    if (tells !== null) told.push({ ...tells, trace: event.trace });
  }
  return {
    deposits: [...after.values()].map((deposit) => ({ deposit, before: before.get(deposit.id)?.version ?? 0 })),
    told,
    events: applied.flatMap(projectedDepositEvent),
    lastAt: Math.max(0, ...events.map(({ at }) => Date.parse(at))),
    unfit,
  };
}

const foldedDeposit = (state: Deposit | undefined, event: LoggedDepositEvent): Deposit =>
  isForeignDeposit(event) || state?.heldFrom !== undefined
    ? holdDeposit(state, depositHeadOf(event))
    : evolveDeposit(state, depositEventOf(event));

/** The row of a public event of a deposit; empty for a private one. */
export function projectedDepositEvent(event: LoggedDepositEvent): readonly ProjectedEvent[] {
  const body = depositWebhookBody(event);
  if (body === null) return [];
  const { depositId: intentId, version, eventId, type, at } = event;
  return [{ intentId, version, eventId, type, body, at, owner: null }];
}
