import type { DeliverableEvent } from '@pf/database';
import { isSampled, OpenSpan, SpanKind } from '@pf/runtime';

/** Span stores cut off more. */
const MAX_LINKS = 128;

/**
 * The spans of a batch of events: one of its own, linked to those of the events, and for each sampled event one in its
 * own trace, which its deliveries continue.
 */
export class BatchTrace {
  readonly #batch: OpenSpan;
  readonly #spans: OpenSpan[] = [];
  readonly #events: readonly DeliverableEvent[];

  constructor(partition: number, events: readonly DeliverableEvent[]) {
    const attributesOfAll = {
      'messaging.system': 'kafka',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.consumer.group.name': 'webhook',
      'messaging.destination.name': 'intent.events',
      'messaging.destination.partition.id': String(partition),
    };
    this.#batch = new OpenSpan('batch of intent.events', null, {
      links: events.slice(0, MAX_LINKS),
      attributes: { ...attributesOfAll, 'messaging.batch.message_count': events.length },
    });
    this.#events = events.map((event) => {
      if (!isSampled(event)) return event;
      const attributes = {
        ...attributesOfAll,
        'messaging.message.id': event.eventId,
        'payments.event.type': event.eventType,
        'payments.intent.id': event.intentId,
      };
      const span = new OpenSpan('process intent.events', event, {
        kind: SpanKind.CONSUMER,
        links: [this.#batch.trace],
        attributes,
      });
      this.#spans.push(span);
      return { ...event, traceparent: span.trace.traceparent };
    });
  }

  /** Runs the work of the batch in its span. @param work gets the events, with their new places in their traces */
  async run<Result>(work: (events: readonly DeliverableEvent[]) => Promise<Result>): Promise<Result> {
    const spans = [...this.#spans, this.#batch];
    try {
      const result = await this.#batch.run(() => work(this.#events));
      for (const span of spans) span.end();
      return result;
    } catch (error) {
      for (const span of spans) span.end(error);
      throw error;
    }
  }
}
