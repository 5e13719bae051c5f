import {
  encodeEvent,
  EVENT_SCHEMA_VERSION,
  type EventEnvelope,
  eventIdOf,
  newCommandId,
  type Outcome,
} from '@pf/contracts';
import { type IntentEvent, type IntentId, Ledger, type PaymentIntent, view } from '@pf/domain';
import { type ExpectedEvent, samples } from '@pf/domain/testing';
import { fold, intentsOf, type ProjectionBatch, type ReadEvents } from '../../src/index.ts';

export const NOW = samples.SCENARIO_START;

/** One partition of intent.events in memory, written as ExpectedEvents, and the batches that project it. */
export class PartitionLog {
  readonly partition: number;
  readonly envelopes: EventEnvelope[] = [];
  readonly #ledger = new Ledger();

  constructor(partition: number) {
    this.partition = partition;
  }

  /** Appends events. Returns the batch that projects them, with an outcome for each as if a command had caused it. */
  append(from: bigint, next: bigint, ...events: readonly ExpectedEvent[]): ProjectionBatch {
    const before = new Ledger(this.#ledger.intents());
    const envelopes = events.map((event) => this.#envelope(event));
    this.envelopes.push(...envelopes);
    const stored = intentsOf(envelopes).flatMap((id): PaymentIntent[] => {
      const intent = before.intent(id);
      return intent === undefined ? [] : [intent];
    });
    const outcomes = envelopes.map(({ intentId }) => ({ outcome: accepted(intentId), at: NOW }));
    return { partition: this.partition, from, next, ...fold(stored, envelopes), lastAt: NOW, outcomes };
  }

  /** Reads the log as LogReader does, three records at a time; offsets are indexes of `envelopes`. */
  readonly read: ReadEvents = async function* (this: PartitionLog, from: bigint, end: bigint) {
    for (let start = Number(from); start < Number(end); start += 3) {
      const next = Math.min(start + 3, Number(end));
      const records = this.envelopes
        .slice(start, next)
        .map((envelope, index) => ({ offset: BigInt(start + index), value: encodeEvent(envelope) }));
      yield { records, next: BigInt(next) };
    }
  }.bind(this);

  /** Where it ends; a test may cut it. */
  readonly end = (): Promise<bigint> => Promise.resolve(BigInt(this.envelopes.length));

  #envelope({ type, data, of = samples.INTENT }: ExpectedEvent): EventEnvelope {
    const version = (this.#ledger.intent(of)?.version ?? 0) + 1;
    this.#ledger.apply({ type, intentId: of, version, at: NOW, data } as IntentEvent);
    const intent = this.#ledger.intent(of);
    if (!intent) throw new Error(`${of} is not in the ledger after ${type}`);
    return {
      eventId: eventIdOf(of, version),
      type,
      schemaVersion: EVENT_SCHEMA_VERSION,
      intentId: of,
      version,
      accountId: intent.accountId,
      livemode: intent.livemode,
      commandId: null,
      at: new Date(NOW).toISOString(),
      trace: { traceparent: null, requestId: null },
      data,
      intent: view(intent),
    };
  }
}

const accepted = (intentId: IntentId): Outcome => ({
  kind: 'accepted',
  commandId: newCommandId(),
  intentId,
  replayed: false,
  build: null,
  attempts: null,
});
