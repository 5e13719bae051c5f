import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ConnectionError, PaymentApiError } from './errors.ts';
import type { CallOptions, Http } from './http.ts';
import { pause } from './pause.ts';
import type { EventType, PayerIntent, PaymentIntent } from './types.ts';

export interface FollowOptions extends CallOptions {
  /** The state at which following ends. Default `confirmed`, the completion signal for users. */
  readonly until?: 'confirmed' | 'finalized';
}

/** One step: first the current intent, then each event. */
export interface Followed<Intent = PaymentIntent> {
  readonly type: 'snapshot' | EventType;
  readonly intent: Intent;
}

const RECONNECT_MS = { min: 500, max: 10_000 };
/** The snapshot comes at once, and a comment every 15 s: a connection that is silent for longer is dead. */
const SILENCE_MS = { first: 10_000, later: 45_000 };
/** Where no stream gets through: how often the intent is fetched instead, before another stream is tried. */
const POLL = { intervalMs: 2_000, count: 30 };

/**
 * Follows an intent over server-sent events. Uses fetch instead of EventSource, which cannot send the API key in a
 * header. Reconnects when a connection ends or falls silent, and resumes after the last event without gaps or repeats.
 * Where a proxy keeps streams back or returns a page of its own, the intent is fetched every two seconds, and yielded
 * as a `snapshot` when it has changed. Ends at `until`, or when the state can no longer change.
 */
export async function* follow<Intent extends PayerIntent>(
  http: Http,
  id: string,
  { until = 'confirmed', signal }: FollowOptions = {},
): AsyncGenerator<Followed<Intent>, void, undefined> {
  let lastEventId: string | undefined;
  let failures = 0;
  let updatedAt: string | undefined;
  for (;;) {
    const silence = new AbortController();
    const watch = watchdog(lastEventId === undefined ? SILENCE_MS.first : SILENCE_MS.later, () => silence.abort());
    let isKeptBack = false;
    try {
      const abortSignal = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
      const bytes = await http.stream(
        `intents/${encodeURIComponent(id)}/events`,
        lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
        { signal: abortSignal },
      );
      // Not a stream: the page of a proxy.
      isKeptBack = bytes === null;
      const messages = (bytes ?? new Blob([]).stream())
        .pipeThrough(watch.stream())
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream());
      for await (const message of chunksOf(messages)) {
        failures = 0;
        if (message.id !== undefined) lastEventId = message.id;
        const followed = parse<Intent>(message.event ?? 'message', message.data);
        ({ updatedAt } = followed.intent);
        yield followed;
        if (isEnd(followed.intent, until)) return;
      }
    } catch (error) {
      if (signal?.aborted || !isTransient(error, silence.signal)) throw error;
      isKeptBack = silence.signal.aborted && !watch.hasBegun();
    } finally {
      watch.stop();
    }
    for (let polls = 0; isKeptBack && polls < POLL.count; polls += 1) {
      if (polls > 0) await pause(POLL.intervalMs, signal);
      signal?.throwIfAborted();
      const intent = await fetched<Intent>(http, id, signal);
      if (intent === null || intent.updatedAt === updatedAt) continue;
      ({ updatedAt } = intent);
      // The next stream begins with a snapshot: what was before it is known.
      lastEventId = undefined;
      yield { type: 'snapshot', intent };
      if (isEnd(intent, until)) return;
    }
    // The stream ended or broke: the service restarts, or a proxy closed the connection.
    await pause(Math.min(RECONNECT_MS.min * 2 ** failures, RECONNECT_MS.max) * (0.5 + Math.random()), signal);
    signal?.throwIfAborted();
    failures += 1;
  }
}

/** The current intent; null where it cannot be had now. */
async function fetched<Intent>(http: Http, id: string, signal: AbortSignal | undefined): Promise<Intent | null> {
  try {
    return (await http.get<{ intent: Intent }>(`intents/${encodeURIComponent(id)}`, {}, signal ? { signal } : {}))
      .intent;
  } catch (error) {
    if (signal?.aborted || !isTransient(error)) throw error;
    return null;
  }
}

/** The chunks of a stream. Not every browser supports `for await` on a stream. */
async function* chunksOf<T>(stream: ReadableStream<T>): AsyncGenerator<T, void, undefined> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    // The caller stopped, or the stream broke: the outcome of the cancellation does not matter.
    await reader.cancel().catch(() => undefined);
  }
}

function parse<Intent>(event: string, data: string): Followed<Intent> {
  if (event === 'snapshot') return { type: 'snapshot', intent: (JSON.parse(data) as { intent: Intent }).intent };
  const { type, data: content } = JSON.parse(data) as {
    readonly type: EventType;
    readonly data: { readonly intent: Intent };
  };
  return { type, intent: content.intent };
}

function isEnd({ state, pendingAtExpiry }: PayerIntent, until: 'confirmed' | 'finalized'): boolean {
  if (state === 'finalized' || state === 'failed' || state === 'cancelled') return true;
  return state === 'confirmed' ? until === 'confirmed' : state === 'expired' && !pendingAtExpiry;
}

/** Whether a reconnect can help: no response, a broken stream or a busy service, but no error of the caller. */
const isTransient = (error: unknown, silence?: AbortSignal): boolean =>
  silence?.aborted ||
  error instanceof ConnectionError ||
  error instanceof TypeError ||
  (error instanceof PaymentApiError && (error.status === 429 || error.status >= 500));

/** Calls `onSilence` after a time without a byte. @param firstMs until the first one */
function watchdog(firstMs: number, onSilence: () => void) {
  let timer = setTimeout(onSilence, firstMs);
  let hasBegun = false;
  return {
    hasBegun: () => hasBegun,
    stream: () =>
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          clearTimeout(timer);
          timer = setTimeout(onSilence, SILENCE_MS.later);
          hasBegun = true;
          controller.enqueue(chunk);
        },
      }),
    stop: () => clearTimeout(timer),
  };
}
