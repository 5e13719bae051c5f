import type { DeliverableEvent } from '@pf/database';
import { isSampled, OpenSpan, SpanKind } from '@pf/runtime';

/** More is cut off where spans are kept. */
const LINKS_AT_MOST = 128;

/**
 * The spans of a batch of events: one of its own, linked to the events', and for each event whose trace somebody keeps one
 * in that trace, from which its deliveries go on.
 */
export class BatchTrace {
  readonly #batch: OpenSpan;
  readonly #spans: OpenSpan[] = [];
  readonly #events: readonly DeliverableEvent[];

  constructor(partition: number, events: readonly DeliverableEvent[]) {
    const about = {
      'messaging.system': 'kafka',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.consumer.group.name': 'webhook',
      'messaging.destination.name': 'intent.events',
      'messaging.destination.partition.id': String(partition),
    };
    this.#batch = new OpenSpan('batch of intent.events', null, {
      links: events.slice(0, LINKS_AT_MOST),
      attributes: { ...about, 'messaging.batch.message_count': events.length },
    });
    this.#events = events.map((event) => {
      if (!isSampled(event)) return event;
      const attributes = {
        ...about,
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

  /** Does the work of the batch, below its span. @param work with the events as they go on in their traces */
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
