import type { DueDelivery } from '@pf/database';
import { add, describeSpan, inSpan, inWork, markFailed, record, type MetricLabels, SpanKind } from '@pf/runtime';

export type AttemptOutcome = MetricLabels<'payments.delivery.duration'>['outcome'];

/** The result of an attempt, for its span. */
export interface Attempted {
  readonly outcome: AttemptOutcome;
  /** Null if there was no HTTP response. */
  readonly status: number | null;
}

/**
 * For how many milliseconds the first attempt has waited for us: before it was due, and after its URL and its account
 * had room for it. Null for other attempts, and where the account has the event sent again.
 */
function ownDelay(
  { number, eventAt, createdAt, dueAt }: DueDelivery,
  { heldUntil, now }: { readonly heldUntil: number; readonly now: number },
): number | null {
  if (number > 1 || dueAt > createdAt) return null;
  return Math.max(0, dueAt.getTime() - eventAt.getTime()) + Math.max(0, now - Math.max(dueAt.getTime(), heldUntil));
}

/**
 * Runs an attempt in a span that continues the trace of its event, and records its metrics.
 * @param at.heldUntil until when it waited for its URL or its account
 */
export async function inAttempt<Result extends Attempted>(
  attempt: DueDelivery,
  at: { readonly heldUntil: number; readonly now: number },
  work: () => Promise<Result>,
): Promise<Result> {
  add('payments.delivery.active', 1, {});
  const delay = ownDelay(attempt, at);
  if (delay !== null) record('payments.delivery.first_attempt.delay', delay / 1_000, {});
  const began = performance.now();
  try {
    return await inSpan(
      'POST',
      attempt,
      async (span) => {
        const result = await inWork('deliver', work);
        const { outcome, status } = result;
        const sinceEvent = at.now + performance.now() - began - attempt.eventAt.getTime();
        if (outcome === 'delivered') record('payments.delivery.delay', Math.max(0, sinceEvent) / 1_000, {});
        describeSpan({
          ...(status !== null && { 'http.response.status_code': status }),
          'payments.delivery.outcome': outcome,
        });
        if (outcome !== 'delivered') markFailed(span, status === null ? 'no_answer' : String(status));
        return result;
      },
      { kind: SpanKind.CLIENT, attributes: requestAttributes(attempt) },
    );
  } finally {
    add('payments.delivery.active', -1, {});
  }
}

/** By the conventions for HTTP, but of the URL only its origin: the rest may hold the receiver's secret. */
function requestAttributes({ url, number, deliveryId, eventId, eventType, intentId }: DueDelivery) {
  const { protocol, hostname, port, origin } = new URL(url);
  const scheme = protocol.replace(':', '');
  return {
    'http.request.method': 'POST',
    'url.full': `${origin}/REDACTED`,
    'url.scheme': scheme,
    'server.address': hostname,
    'server.port': port === '' ? (scheme === 'https' ? 443 : 80) : Number(port),
    ...(number > 1 && { 'http.request.resend_count': number - 1 }),
    'payments.delivery.id': deliveryId,
    'payments.event.id': eventId,
    'payments.event.type': eventType,
    ...(intentId !== null && { 'payments.intent.id': intentId }),
  };
}
