import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ConnectionError, PaymentApiError } from './errors.ts';
import type { CallOptions, Http } from './http.ts';
import type { EventType, PaymentIntent, WebhookEvent } from './types.ts';

export interface FollowOptions extends CallOptions {
  /** Where following ends when all goes well. Default `confirmed`: the signal for users. */
  readonly until?: 'confirmed' | 'finalized';
}

/** What was learnt: first the intent as it is, then each event. */
export interface Followed {
  readonly type: 'snapshot' | EventType;
  readonly intent: PaymentIntent;
}

const PAUSE_MS = { min: 500, max: 10_000 };
/** The service writes something every 15 s: silence for longer is a dead connection. */
const SILENCE_MS = 45_000;

/**
 * Follows an intent over server-sent events, by fetch, so that the key goes in a header. A connection that ends or falls
 * silent is opened again, and goes on after the last event without gap or repeat. Ends at `until`, or where the intent
 * can get no further.
 */
export async function* follow(
  http: Http,
  id: string,
  { until = 'confirmed', signal }: FollowOptions = {},
): AsyncGenerator<Followed, void, undefined> {
  let lastEventId: string | undefined;
  let failures = 0;
  for (;;) {
    const silence = new AbortController();
    const watch = watchdog(SILENCE_MS, () => silence.abort());
    try {
      const either = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
      const bytes = await http.stream(
        `intents/${encodeURIComponent(id)}/events`,
        lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
        { signal: either },
      );
      const messages = bytes
        .pipeThrough(watch.stream())
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream());
      for await (const message of each(messages)) {
        failures = 0;
        if (message.id !== undefined) lastEventId = message.id;
        const followed = read(message.event ?? 'message', message.data);
        yield followed;
        if (isEnd(followed.intent, until)) return;
      }
    } catch (error) {
      if (signal?.aborted || !isTransient(error, silence.signal)) throw error;
    } finally {
      watch.stop();
    }
    // Ended in order or not: the service restarts, or a proxy cut it.
    await pause(Math.min(PAUSE_MS.min * 2 ** failures, PAUSE_MS.max) * (0.5 + Math.random()), signal);
    failures += 1;
  }
}

/** Not every browser can walk a stream by itself. */
async function* each<T>(stream: ReadableStream<T>): AsyncGenerator<T, void, undefined> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    // The caller has heard enough, or it broke: nobody needs to know how this ends.
    await reader.cancel().catch(() => undefined);
  }
}

function read(event: string, data: string): Followed {
  if (event === 'snapshot') return { type: 'snapshot', intent: (JSON.parse(data) as { intent: PaymentIntent }).intent };
  const { type, data: content } = JSON.parse(data) as WebhookEvent;
  return { type, intent: content.intent };
}

function isEnd({ state, pendingAtExpiry }: PaymentIntent, until: 'confirmed' | 'finalized'): boolean {
  if (state === 'finalized' || state === 'failed' || state === 'cancelled') return true;
  return state === 'confirmed' ? until === 'confirmed' : state === 'expired' && !pendingAtExpiry;
}

/** Worth another try: no answer, a broken stream, or a service that is busy. Not an error of the caller's. */
const isTransient = (error: unknown, silence: AbortSignal): boolean =>
  silence.aborted ||
  error instanceof ConnectionError ||
  error instanceof TypeError ||
  (error instanceof PaymentApiError && (error.status === 429 || error.status >= 500));

/** Calls `bark` after so long without a byte. */
function watchdog(ms: number, bark: () => void) {
  let timer = setTimeout(bark, ms);
  return {
    stream: () =>
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          clearTimeout(timer);
          timer = setTimeout(bark, ms);
          controller.enqueue(chunk);
        },
      }),
    stop: () => clearTimeout(timer),
  };
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const give = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', give);
      resolve();
    }, ms);
    signal?.addEventListener('abort', give, { once: true });
  });
}
