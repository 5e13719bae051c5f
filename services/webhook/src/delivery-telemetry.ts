import type { DueDelivery } from '@pf/database';
import { add, describeSpan, inSpan, markFailed, record, type MetricLabels, SpanKind } from '@pf/runtime';

export type AttemptOutcome = MetricLabels<'payments.delivery.duration'>['outcome'];

/** The result of an attempt, for its span. */
export interface Attempted {
  readonly outcome: AttemptOutcome;
  /** Null if there was no HTTP response. */
  readonly status: number | null;
}

/** Runs an attempt in a span that continues the trace of its event, and records its metrics. */
export async function inAttempt<Result extends Attempted>(
  attempt: DueDelivery,
  now: number,
  work: () => Promise<Result>,
): Promise<Result> {
  add('payments.delivery.active', 1, {});
  const sinceEvent = (at: number): number => Math.max(0, at - attempt.eventAt.getTime()) / 1_000;
  if (attempt.number === 1) record('payments.delivery.first_attempt.delay', sinceEvent(now), {});
  const began = performance.now();
  try {
    return await inSpan(
      'POST',
      attempt,
      async (span) => {
        const result = await work();
        const { outcome, status } = result;
        if (outcome === 'delivered') record('payments.delivery.delay', sinceEvent(now + performance.now() - began), {});
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
