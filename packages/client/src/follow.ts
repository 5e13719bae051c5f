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
/** The service sends a comment every 15 s: a connection that is silent for longer is dead. */
const SILENCE_MS = 45_000;

/**
 * Follows an intent over server-sent events. Uses fetch instead of EventSource, which cannot send the API key in a
 * header. Reconnects when a connection ends or falls silent, and resumes after the last event without gaps or repeats.
 * Ends at `until`, or when the state can no longer change.
 */
export async function* follow<Intent extends PayerIntent>(
  http: Http,
  id: string,
  { until = 'confirmed', signal }: FollowOptions = {},
): AsyncGenerator<Followed<Intent>, void, undefined> {
  let lastEventId: string | undefined;
  let failures = 0;
  for (;;) {
    const silence = new AbortController();
    const watch = watchdog(SILENCE_MS, () => silence.abort());
    try {
      const abortSignal = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
      const bytes = await http.stream(
        `intents/${encodeURIComponent(id)}/events`,
        lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
        { signal: abortSignal },
      );
      const messages = bytes
        .pipeThrough(watch.stream())
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream());
      for await (const message of chunksOf(messages)) {
        failures = 0;
        if (message.id !== undefined) lastEventId = message.id;
        const followed = parse<Intent>(message.event ?? 'message', message.data);
        yield followed;
        if (isEnd(followed.intent, until)) return;
      }
    } catch (error) {
      if (signal?.aborted || !isTransient(error, silence.signal)) throw error;
    } finally {
      watch.stop();
    }
    // The stream ended or broke: the service restarts, or a proxy closed the connection.
    await pause(Math.min(RECONNECT_MS.min * 2 ** failures, RECONNECT_MS.max) * (0.5 + Math.random()), signal);
    signal?.throwIfAborted();
    failures += 1;
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
const isTransient = (error: unknown, silence: AbortSignal): boolean =>
  silence.aborted ||
  error instanceof ConnectionError ||
  error instanceof TypeError ||
  (error instanceof PaymentApiError && (error.status === 429 || error.status >= 500));

/** Calls `onSilence` after `ms` without a byte. */
function watchdog(ms: number, onSilence: () => void) {
  let timer = setTimeout(onSilence, ms);
  return {
    stream: () =>
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          clearTimeout(timer);
          timer = setTimeout(onSilence, ms);
          controller.enqueue(chunk);
        },
      }),
    stop: () => clearTimeout(timer),
  };
}
