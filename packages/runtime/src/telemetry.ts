import { type Attributes, context, createContextKey, type Link, propagation, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

/** What travels with every message: where in a trace it belongs, and the HTTP request that began it. */
export interface TraceContext {
  readonly traceparent: string | null;
  readonly requestId: string | null;
}

const REQUEST_ID = createContextKey('request id');
const tracer = trace.getTracer('pf');

/** Makes traces real in this process: called once, before the first span. */
export function startTelemetry(): void {
  new NodeTracerProvider().register({ propagator: new W3CTraceContextPropagator() });
}

/** The trace context of the work going on now, to be put into a message. */
export function currentTrace(): TraceContext {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return { traceparent: carrier.traceparent ?? null, requestId: (context.active().getValue(REQUEST_ID) as string | undefined) ?? null };
}

/** What log lines carry of it. */
export function traceFields(): { traceId?: string; requestId?: string } {
  const traceId = trace.getSpanContext(context.active())?.traceId;
  const requestId = context.active().getValue(REQUEST_ID) as string | undefined;
  return { ...(traceId !== undefined && { traceId }), ...(requestId !== undefined && { requestId }) };
}

/** What a log line about one message of many carries: work on a batch runs in a trace of its own. */
export function fieldsOf({ traceparent, requestId }: TraceContext): { traceId?: string; requestId?: string } {
  const traceId = traceparent?.split('-')[1];
  return { ...(traceId !== undefined && { traceId }), ...(requestId !== null && { requestId }) };
}

/** Where a message belongs, for the span of a batch that works on it among others. */
function linkTo({ traceparent }: TraceContext): Link[] {
  const spanContext = traceparent === null ? undefined : trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }));
  return spanContext === undefined ? [] : [{ context: spanContext }];
}

/** Runs `work` in a span that continues `parent` (from a message, or an HTTP request); errors mark the span and pass on. */
export async function inSpan<T>(name: string, parent: TraceContext | null, work: (span: Span) => Promise<T> | T, options: { kind?: SpanKind; attributes?: Attributes; links?: readonly TraceContext[] } = {}): Promise<T> {
  let base = context.active();
  if (parent?.traceparent) base = propagation.extract(base, { traceparent: parent.traceparent });
  if (parent?.requestId) base = base.setValue(REQUEST_ID, parent.requestId);
  return context.with(base, () =>
    tracer.startActiveSpan(name, { kind: options.kind ?? SpanKind.INTERNAL, ...(options.attributes && { attributes: options.attributes }), ...(options.links && { links: options.links.flatMap(linkTo) }) }, async (span) => {
      try {
        return await work(span);
      } catch (error) {
        span.recordException(error instanceof Error ? error : String(error));
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    }),
  );
}

export { SpanKind };
