import type { EventEnvelope } from '@pf/contracts';
import type { IntentId } from '@pf/domain';
import { isSampled, type TraceContext } from '@pf/runtime';
import { LRUCache } from 'lru-cache';

/** Some 200 bytes each. */
const KEPT = 20_000;

/**
 * In which trace intents were last worked on, where somebody keeps that trace: what is then seen of them on chain goes
 * on in it. Known of what has happened while this process runs.
 */
export class RecentTraces {
  readonly #byIntent = new LRUCache<IntentId, string>({ max: KEPT });

  note({ intentId, trace }: Pick<EventEnvelope, 'intentId' | 'trace'>): void {
    if (trace.traceparent !== null && isSampled(trace)) this.#byIntent.set(intentId, trace.traceparent);
  }

  /** Null where none is known: what is seen begins a trace of its own. */
  of(intentId: IntentId): TraceContext | null {
    const traceparent = this.#byIntent.get(intentId);
    return traceparent === undefined ? null : { traceparent, requestId: null };
  }
}
