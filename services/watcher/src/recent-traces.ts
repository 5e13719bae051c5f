import type { EventEnvelope } from '@pf/contracts';
import type { IntentId } from '@pf/domain';
import { boundedCache, isSampled, type TraceContext } from '@pf/runtime';
import type { LRUCache } from 'lru-cache';

/** About 200 bytes each. */
const KEPT = 20_000;

/**
 * The traces in which intents were last processed, where they are sampled: observations of those intents continue them.
 * Known only for events since this process started.
 */
export class RecentTraces {
  /** Made when something is sampled: it reserves all of its memory at once. */
  #byIntent: LRUCache<IntentId, string> | null = null;

  note({ intentId, trace }: Pick<EventEnvelope, 'intentId' | 'trace'>): void {
    if (trace.traceparent === null || !isSampled(trace)) return;
    this.#byIntent ??= boundedCache(KEPT);
    this.#byIntent.set(intentId, trace.traceparent);
  }

  /** Null where none is known: the observation begins a new trace. */
  of(intentId: IntentId): TraceContext | null {
    const traceparent = this.#byIntent?.get(intentId);
    return traceparent === undefined ? null : { traceparent, requestId: null };
  }
}
