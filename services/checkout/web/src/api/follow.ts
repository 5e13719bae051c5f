import { createParser } from 'eventsource-parser';
import * as z from 'zod/mini';
import { eventSchema, type Intent, type IntentEvent, intentSchema } from './schemas.ts';

/** How the page hears of changes. */
export type Connection = 'live' | 'polling' | 'offline';

export interface Source {
  readonly openStream: (after: string | null, signal: AbortSignal) => Promise<Response>;
  readonly fetchIntent: () => Promise<{ readonly intent: Intent }>;
}
export interface Follower {
  readonly onIntent: (intent: Intent) => void;
  readonly onEvent: (event: IntentEvent) => void;
  readonly onConnection: (connection: Connection) => void;
  /** Whether something may still arrive after the intent has ended. */
  readonly isWaiting: () => boolean;
}

const PAUSE_MS = { first: 500, most: 15_000, polling: 3_000 };
/** The server sends a comment every 15 seconds. */
const SILENCE_MS = 40_000;
/** It begins with a snapshot at once: a proxy that keeps the body back has not sent it by then. */
const FIRST_MS = 8_000;
/** After so many streams in a row without a word the page asks by itself, too. */
const FAILURES_UNTIL_POLLING = 2;
/** Who comes back sooner has missed nothing that the stream would not bring. */
const AWAY_MS = 1_000;

const snapshotSchema = z.object({ intent: intentSchema });
/** A stream that lasted so long was a good one. */
const LASTED_MS = 5_000;

/** Whether nothing follows: what is under way at the end of the time may still land. */
const isOver = ({ state, pendingAtExpiry }: Intent): boolean =>
  state === 'finalized' || state === 'failed' || state === 'cancelled' || (state === 'expired' && !pendingAtExpiry);

/** The window. */
export interface Scope extends Pick<Window, 'addEventListener' | 'removeEventListener'> {
  readonly document: Pick<Document, 'visibilityState' | 'addEventListener' | 'removeEventListener'>;
}

/**
 * Follows an intent by its stream: `EventSource` would send no `Authorization`. It connects again where it left off,
 * with growing pauses, and asks in between while no stream says anything. Who comes back from a wallet's app sees the
 * state of then: phones suspend connections without a word. It ends when the intent has ended and nothing may still
 * arrive.
 */
export async function follow(
  source: Source,
  follower: Follower,
  signal: AbortSignal,
  scope: Scope | undefined = globalThis.window,
): Promise<void> {
  let back = new AbortController();
  const forget = onReturn(scope, () => {
    back.abort();
    back = new AbortController();
  });
  const end = (): void => back.abort();
  signal.addEventListener('abort', end);
  try {
    await keepFollowing(source, follower, signal, () => back.signal);
  } finally {
    signal.removeEventListener('abort', end);
    forget();
  }
}

/** @param returning aborts when the person comes back next, and with `signal` */
async function keepFollowing(
  source: Source,
  follower: Follower,
  signal: AbortSignal,
  returning: () => AbortSignal,
): Promise<void> {
  let [after, failures, pauseMs]: [string | null, number, number] = [null, 0, PAUSE_MS.first];
  let hasEnded = false;
  const see = (intent: Intent): void => {
    hasEnded = isOver(intent);
    follower.onIntent(intent);
  };
  const heard = (): void => {
    failures = 0;
    follower.onConnection('live');
  };
  const parser = createParser({
    onRetry: (ms) => void (pauseMs = ms),
    onEvent: ({ id, event, data }) => {
      if (id !== undefined) after = id;
      const parsed = parse(event === 'snapshot' ? snapshotSchema : eventSchema, data);
      if (parsed === null) return;
      if ('intent' in parsed) see(parsed.intent);
      else {
        see(parsed.data.intent);
        follower.onEvent(parsed);
      }
    },
  });
  while (!signal.aborted) {
    const openedAt = Date.now();
    const returned = returning();
    const firstMs = failures < FAILURES_UNTIL_POLLING ? FIRST_MS : PAUSE_MS.polling;
    const closed = await readStream(source, after, returned, parser, heard, firstMs);
    parser.reset();
    if (signal.aborted || (closed && hasEnded && !follower.isWaiting())) return;
    if (returned.aborted) continue;
    // Before the pause that the server may have asked for.
    if (Date.now() - openedAt > LASTED_MS) pauseMs = Math.min(pauseMs, PAUSE_MS.first);
    if (!closed) failures += 1;
    if (failures >= FAILURES_UNTIL_POLLING) {
      try {
        see((await source.fetchIntent()).intent);
        follower.onConnection('polling');
        if (hasEnded && !follower.isWaiting()) return;
        await sleep(PAUSE_MS.polling - (Date.now() - openedAt), returned);
        continue;
      } catch {
        // Whatever the reason is, the person can only wait: the page goes on trying.
        follower.onConnection('offline');
      }
    }
    await sleep(pauseMs * (0.75 + Math.random() / 2), returned);
    pauseMs = Math.min(pauseMs * 2, PAUSE_MS.most);
  }
}

/**
 * Reads one stream to its end, or until it is silent for too long, at first for `firstMs`.
 * @returns whether the server has closed it in order
 */
async function readStream(
  source: Source,
  after: string | null,
  signal: AbortSignal,
  parser: { feed(text: string): void },
  heard: () => void,
  firstMs: number,
): Promise<boolean> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  signal.addEventListener('abort', end);
  let timer = setTimeout(end, firstMs);
  try {
    const response = await source.openStream(after, ended.signal);
    if (!response.ok || response.body === null) return false;
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return true;
      // Headers alone are no word of the server: a proxy may keep back what comes behind them.
      heard();
      clearTimeout(timer);
      timer = setTimeout(end, SILENCE_MS);
      parser.feed(decoder.decode(value, { stream: true }));
    }
  } catch {
    // The connection broke: it is opened again.
    return false;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

function parse<Schema extends z.ZodMiniType>(schema: Schema, text: string): z.output<Schema> | null {
  try {
    return z.parse(schema, JSON.parse(text));
  } catch {
    // An event of a later version: the next answer shows the intent as it is.
    return null;
  }
}

/** @returns what ends it */
function onReturn(scope: Scope | undefined, listener: () => void): () => void {
  if (scope === undefined) return () => undefined;
  const { document } = scope;
  let awaySince: number | null = null;
  const change = (): void => {
    if (document.visibilityState === 'hidden') awaySince = Date.now();
    else if (awaySince !== null && Date.now() - awaySince >= AWAY_MS) listener();
  };
  // The page comes from the browser's memory, where its connections have ended.
  const show = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) listener();
  };
  document.addEventListener('visibilitychange', change);
  scope.addEventListener('pageshow', show);
  return () => {
    document.removeEventListener('visibilitychange', change);
    scope.removeEventListener('pageshow', show);
  };
}

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      globalThis.removeEventListener?.('online', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    globalThis.addEventListener?.('online', end);
    signal.addEventListener('abort', end);
  });
