import {
  type CommandMessage,
  decodeIntent,
  encodeInput,
  encodeIntent,
  eventOf,
  type EventEnvelope,
  type ObservationMessage,
  parseEvent,
  partitionOf,
} from '@pf/contracts';
import { fold, intentsOf } from '@pf/database';
import type { Instant, IntentId, PaymentIntent } from '@pf/domain';
import type { InputTopic, LogRecord } from '@pf/event-log';
import { samples } from '@pf/domain/testing';
import { isOfDeposit, type Message, readInput } from '../src/input.ts';
import { type DecidedBatch, type Known, BatchDecider } from '../src/batch-decider.ts';
import type { ObservationAuthors } from '../src/observation-authors.ts';
import { PARTITIONS } from './messages.ts';

export const NOW: Instant = samples.SCENARIO_START;

/** A record of an input topic with this value. */
export const raw = (
  value: string | null,
  {
    topic = 'intent.commands',
    partition = 0,
    offset = 0n,
    timestamp = NOW,
  }: Partial<{ topic: InputTopic; partition: number; offset: bigint; timestamp: Instant }> = {},
): LogRecord => ({
  topic,
  partition,
  offset,
  timestamp,
  key: null,
  value,
  headers: {},
});

/** The record of a message, appended at `timestamp`. */
export const recordAt = (message: Message, timestamp: Instant = NOW): LogRecord =>
  raw(encodeInput(message), {
    topic: 'commandId' in message ? 'intent.commands' : 'chain.observations',
    partition: partitionOf(isOfDeposit(message) ? message.depositId : message.intentId),
    timestamp,
  });

/** Decides records of one partition as one batch. */
export function decideBatch(
  records: readonly LogRecord[],
  {
    known = {},
    now = NOW,
    clock = now,
    authors = null,
  }: { known?: Partial<Known>; now?: Instant; clock?: Instant; authors?: ObservationAuthors | null } = {},
): DecidedBatch {
  const found = { intents: [], deposits: [], outcomes: [], ...known };
  const decider = new BatchDecider(records[0]?.partition ?? 0, { at: now, clock }, found);
  for (const record of records) decider.process(readInput(record, PARTITIONS, null, authors));
  return decider.decided();
}

/** The events that a batch appends, as a reader of the log sees them. */
export const eventsOf = ({ records }: DecidedBatch): readonly EventEnvelope[] =>
  records.map(({ value }) => parseEvent(value));

/** One partition's log and projection in memory. States are encoded and decoded, as with Postgres. */
export class PartitionModel {
  readonly log: EventEnvelope[] = [];
  readonly rows = new Map<IntentId, string>();
  readonly history: string[] = [];
  readonly outcomes = new Map<string, DecidedBatch['outcomes'][number]['outcome']>();

  /** Decides and projects a batch, and checks each row's version as the database does. */
  process(messages: readonly (CommandMessage | ObservationMessage)[], now: Instant): DecidedBatch {
    const known = { intents: [...this.rows.values()].map(decodeIntent), outcomes: this.outcomes.values() };
    const batch = decideBatch(
      messages.map((message) => recordAt(message, now)),
      { known, now },
    );
    this.log.push(...eventsOf(batch));
    for (const { intent, before } of batch.intents) {
      const row = this.rows.get(intent.id);
      if ((row === undefined ? 0 : decodeIntent(row).version) !== before)
        throw new Error(`${intent.id} is not at version ${before}`);
      this.rows.set(intent.id, encodeIntent(intent));
    }
    this.history.push(...batch.events.map(({ body }) => body));
    for (const { outcome } of batch.outcomes) this.outcomes.set(outcome.commandId, outcome);
    return batch;
  }

  /** @throws Error where it has no such intent */
  intent(id: IntentId): PaymentIntent {
    const row = this.rows.get(id);
    if (row === undefined) throw new Error(`${id} is not projected`);
    return decodeIntent(row);
  }

  /** The projection folded from the log alone, in batches of the given length. */
  rebuilt(length: number): { rows: Map<IntentId, string>; history: string[] } {
    const rows = new Map<IntentId, string>();
    const history: string[] = [];
    for (let start = 0; start < this.log.length; start += length) {
      const events = this.log.slice(start, start + length);
      const stored = intentsOf(events).flatMap((id): PaymentIntent[] =>
        rows.has(id) ? [decodeIntent(rows.get(id) ?? '')] : [],
      );
      const folded = fold(stored, events);
      for (const { intent } of folded.intents) rows.set(intent.id, encodeIntent(intent));
      history.push(...folded.events.map(({ body }) => body));
    }
    return { rows, history };
  }
}

/** The types of the events that a batch appends. */
export const typesOf = (batch: DecidedBatch): readonly string[] => eventsOf(batch).map((event) => eventOf(event).type);
