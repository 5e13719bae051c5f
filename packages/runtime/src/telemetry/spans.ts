import {
  type Attributes,
  context,
  createContextKey,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { errorTypeOf } from '../error-type.ts';
import { ofStranger } from './edge-sampler.ts';

/** What travels with every message: its place in a trace, and the HTTP request that began the trace. */
export interface TraceContext {
  readonly traceparent: string | null;
  readonly requestId: string | null;
}

export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** Other traces that it relates to. */
  readonly links?: readonly TraceContext[];
  /** When it began, by performance.now(). Default: now. */
  readonly began?: number;
  /** Its parent is of a caller who may be anyone: it says in which trace the span is, not whether that is kept. */
  readonly ofStranger?: true;
}

const REQUEST_ID = createContextKey('request id');
const tracer = trace.getTracer('payments');

/** The trace context of the current work, to be put into a message. */
export function currentTrace(): TraceContext {
  return traceOf(context.active());
}

function traceOf(from: typeof ROOT_CONTEXT): TraceContext {
  const carrier: { traceparent?: string } = {};
  propagation.inject(from, carrier);
  return {
    traceparent: carrier.traceparent ?? null,
    requestId: (from.getValue(REQUEST_ID) as string | undefined) ?? null,
  };
}

/** The fields of the current trace that every log line carries. */
export function traceFields(): { traceId?: string; requestId?: string } {
  const traceId = trace.getSpanContext(context.active())?.traceId;
  const requestId = context.active().getValue(REQUEST_ID) as string | undefined;
  return { ...(traceId !== undefined && { traceId }), ...(requestId !== undefined && { requestId }) };
}

/** The same fields for a log line about one message of a batch: the batch itself runs in a trace of its own. */
export function fieldsOf({ traceparent, requestId }: TraceContext): { traceId?: string; requestId?: string } {
  const traceId = traceparent?.split('-')[1];
  return { ...(traceId !== undefined && { traceId }), ...(requestId !== null && { requestId }) };
}

/** True if the spans of this trace are kept. Spans of other traces cost time and are never seen. */
export const isSampled = ({ traceparent }: TraceContext): boolean =>
  traceparent !== null && (Number.parseInt(traceparent.slice(-2), 16) & TraceFlags.SAMPLED) !== 0;

/** True if the current work is in a span that is kept. */
export const isRecordingSpan = (): boolean => trace.getActiveSpan()?.isRecording() === true;

/** Adds attributes to the span of the current work. */
export function describeSpan(attributes: Attributes): void {
  trace.getActiveSpan()?.setAttributes(attributes);
}

/** A link from the span of a batch to the trace of one of its messages. */
function linkTo({ traceparent }: TraceContext): Link[] {
  const spanContext =
    traceparent === null ? undefined : trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }));
  return spanContext === undefined ? [] : [{ context: spanContext }];
}

/** The context of `parent` (from a message or an HTTP request) on top of `base`. */
function continuing(base: typeof ROOT_CONTEXT, parent: TraceContext | null): typeof ROOT_CONTEXT {
  let continued = base;
  if (parent?.traceparent) continued = propagation.extract(continued, { traceparent: parent.traceparent });
  if (parent?.requestId) continued = continued.setValue(REQUEST_ID, parent.requestId);
  return continued;
}

const started = ({ kind, attributes, links, began }: SpanOptions) => ({
  kind: kind ?? SpanKind.INTERNAL,
  ...(attributes && { attributes }),
  ...(links && { links: links.flatMap(linkTo) }),
  ...(began !== undefined && { startTime: began }),
});

/** The status and `error.type` of a span tell that it failed; an event tells why. */
function fail(span: Span, error: unknown): void {
  if (!span.isRecording()) return;
  span.recordException(error instanceof Error ? error : String(error));
  span.setAttribute('error.type', errorTypeOf(error));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Marks a span as failed if there is no exception to record: the response itself is the error. */
export function markFailed(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType).setStatus({ code: SpanStatusCode.ERROR });
}

/**
 * Runs `work` in a span. An error marks the span as failed and is thrown on.
 * @param parent null: the span of the current work, if any
 */
export async function inSpan<T>(
  name: string,
  parent: TraceContext | null,
  work: (span: Span) => Promise<T> | T,
  options: SpanOptions = {},
): Promise<T> {
  const base = continuing(context.active(), parent);
  const span = tracer.startSpan(name, started(options), options.ofStranger ? ofStranger(base) : base);
  return context.with(trace.setSpan(base, span), async () => {
    try {
      return await work(span);
    } catch (error) {
      fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

/**
 * A span that begins and ends in different calls, or that is known only when it is over. It is not the span of the
 * current work.
 */
export class OpenSpan {
  readonly #span: Span;
  readonly #context: typeof ROOT_CONTEXT;

  /** @param parent null: the span begins a trace */
  constructor(name: string, parent: TraceContext | null, options: SpanOptions = {}) {
    const base = continuing(ROOT_CONTEXT, parent);
    this.#span = tracer.startSpan(name, started(options), base);
    this.#context = trace.setSpan(base, this.#span);
  }

  /** Its place in its trace: for messages, and for child spans. */
  get trace(): TraceContext {
    return traceOf(this.#context);
  }

  get recording(): boolean {
    return this.#span.isRecording();
  }

  /** Records a child span that is over. Times are performance.now()'s. */
  child(name: string, began: number, ended: number, options: Omit<SpanOptions, 'began'> = {}): void {
    if (this.recording) tracer.startSpan(name, started({ ...options, began }), this.#context).end(ended);
  }

  end(error?: unknown): void {
    if (error !== undefined) fail(this.#span, error);
    this.#span.end();
  }

  /** Runs `work` with this span as the parent of its spans. */
  run<T>(work: () => T): T {
    return context.with(this.#context, work);
  }
}

export { type Span, SpanKind };
