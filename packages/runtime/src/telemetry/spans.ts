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

/** What travels with every message: where in a trace it belongs, and the HTTP request that began it. */
export interface TraceContext {
  readonly traceparent: string | null;
  readonly requestId: string | null;
}

export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** Other traces that have to do with it. */
  readonly links?: readonly TraceContext[];
  /** When it began, as performance.now() tells it; else now. */
  readonly began?: number;
}

const REQUEST_ID = createContextKey('request id');
const tracer = trace.getTracer('payments');

/** The trace context of the work going on now, to be put into a message. */
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

/** True where somebody keeps the spans of this trace; what is begun for the others costs time and shows nothing. */
export const isSampled = ({ traceparent }: TraceContext): boolean =>
  traceparent !== null && (Number.parseInt(traceparent.slice(-2), 16) & TraceFlags.SAMPLED) !== 0;

/** Whether the work going on now is in a span that is kept. */
export const isRecording = (): boolean => trace.getActiveSpan()?.isRecording() === true;

/** Says more of the span that the work going on now is in. */
export function describeSpan(attributes: Attributes): void {
  trace.getActiveSpan()?.setAttributes(attributes);
}

/** Where a message belongs, for the span of a batch that works on it among others. */
function linkTo({ traceparent }: TraceContext): Link[] {
  const spanContext =
    traceparent === null ? undefined : trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }));
  return spanContext === undefined ? [] : [{ context: spanContext }];
}

/** The context of `parent` (from a message, or an HTTP request) on top of `base`. */
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

/** A span says by its status and by `error.type` that it failed, and by an event why. */
function fail(span: Span, error: unknown): void {
  if (!span.isRecording()) return;
  span.recordException(error instanceof Error ? error : String(error));
  span.setAttribute('error.type', errorTypeOf(error));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Says of a span that it failed without an error to show: an answer that is one. */
export function markFailed(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType).setStatus({ code: SpanStatusCode.ERROR });
}

/** The class of an error, or its code where it has one that says more: never its message. */
export function errorTypeOf(error: unknown): string {
  // Not `instanceof Error`: where modules run in a context of their own, errors of the system come from another one.
  const { code, name } =
    typeof error === 'object' && error !== null ? (error as { code?: unknown; name?: unknown }) : {};
  const type = typeof code === 'string' ? code : name;
  if (typeof type !== 'string') return 'unknown';
  return /^[\w.-]{1,64}$/.test(type) ? type : 'Error';
}

/** Runs `work` in a span that continues `parent` (null: that of the work going on now, if any); errors mark the span and pass on. */
export async function inSpan<T>(
  name: string,
  parent: TraceContext | null,
  work: (span: Span) => Promise<T> | T,
  options: SpanOptions = {},
): Promise<T> {
  const base = continuing(context.active(), parent);
  const span = tracer.startSpan(name, started(options), base);
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
 * A span whose beginning and end lie in different calls, or that is known only when it is over. It is not what the work
 * going on is in.
 */
export class OpenSpan {
  readonly #span: Span;
  readonly #context: typeof ROOT_CONTEXT;

  /** @param parent null: it begins a trace */
  constructor(name: string, parent: TraceContext | null, options: SpanOptions = {}) {
    const base = continuing(ROOT_CONTEXT, parent);
    this.#span = tracer.startSpan(name, started(options), base);
    this.#context = trace.setSpan(base, this.#span);
  }

  /** Where it is in its trace: for messages, and for spans below it. */
  get trace(): TraceContext {
    return traceOf(this.#context);
  }

  get recording(): boolean {
    return this.#span.isRecording();
  }

  /** A span below it that is over. Times are performance.now()'s. */
  child(name: string, began: number, ended: number, options: Omit<SpanOptions, 'began'> = {}): void {
    if (this.recording) tracer.startSpan(name, started({ ...options, began }), this.#context).end(ended);
  }

  end(error?: unknown): void {
    if (error !== undefined) fail(this.#span, error);
    this.#span.end();
  }

  /** Runs `work` below it. */
  run<T>(work: () => T): T {
    return context.with(this.#context, work);
  }
}

export { type Span, SpanKind };
