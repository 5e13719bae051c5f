import { type Logger, TokenBucket } from '@pf/runtime';
import { envelope, type JsonRpcRequest } from './transport.ts';

/** A subscription of a WebSocket: `eth_subscribe`, `signatureSubscribe`. */
export type Subscription = JsonRpcRequest;

/** Hints that count. What comes faster says nothing: a stream that lies or floods wakes no more often. */
const COUNTED = { requests: 10, windowSeconds: 60 };
/** Messages a socket may send; one that sends more is closed, and opened again after the longest pause. */
const MESSAGES = { requests: 500, windowSeconds: 10 };
/** A changed subscription is sent over a new socket, no more often than this. */
const CHANGE_MS = 10_000;
/** A socket that has gone silent looks like one on which nothing happens: none lives longer. */
const AGE_MS = 10 * 60_000;
/** Without `follow` for this long, as on a watcher that stands by, no socket stays open. */
const UNUSED_MS = 60_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

interface HintsOptions {
  readonly network: string;
  /** `ws://` or `wss://` URLs, in order of preference. They hold keys, and are never logged. */
  readonly urls: readonly [string, ...string[]];
  readonly log: Logger;
  /** ms of a clock that never falls. Default: the machine's. */
  readonly now?: () => number;
  /** Default: Node's WebSocket. */
  readonly open?: (url: string) => HintSocket;
}

/** The part of a WebSocket that is used. */
type HintSocket = Pick<WebSocket, 'addEventListener' | 'send' | 'close'>;

/**
 * What providers say over WebSockets, as hints that something may have happened. Nothing is read from a message, so it
 * cannot lie: whoever is woken asks over HTTP, as it does without hints, only sooner. Whatever goes wrong here is tried
 * again later, and harms nothing.
 */
export class Hints {
  readonly #options: HintsOptions;
  readonly #now: () => number;
  readonly #counted: TokenBucket;
  #wanted: readonly Subscription[] = [];
  #name = '';
  #socket: HintSocket | null = null;
  #openedAt = -Infinity;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #unused: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #listeners = new Set<() => void>();

  constructor(options: HintsOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#counted = new TokenBucket(COUNTED, this.#now());
  }

  /** Resolves at the next hint, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      this.#listeners.delete(end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    this.#listeners.add(end);
    signal.addEventListener('abort', end, { once: true });
    return promise;
  }

  /** From now on these are subscribed to; none: no socket is open. Called again and again while they are of use. */
  follow(subscriptions: readonly Subscription[]): void {
    if (this.#isClosed) return;
    clearTimeout(this.#unused);
    this.#unused = setTimeout(() => this.follow([]), UNUSED_MS).unref();
    const name = JSON.stringify(subscriptions);
    if (name === this.#name) return;
    [this.#wanted, this.#name] = [subscriptions, name];
    if (subscriptions.length === 0) this.#drop();
    else this.#connectIn(Math.max(0, this.#openedAt + CHANGE_MS - this.#now()));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#unused);
    this.#drop();
  }

  #drop(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #connectIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), ms).unref();
  }

  #connect(): void {
    this.#drop();
    const { urls } = this.#options;
    const url = urls[this.#failures % urls.length] ?? urls[0];
    const socket = this.#options.open?.(url) ?? new WebSocket(url);
    const messages = new TokenBucket(MESSAGES, this.#now());
    const subscriptions = this.#wanted;
    this.#socket = socket;
    this.#openedAt = this.#now();
    socket.addEventListener('open', () => {
      for (const [place, subscription] of subscriptions.entries())
        socket.send(JSON.stringify(envelope(subscription, place + 1)));
      if (this.#socket === socket) this.#connectIn(AGE_MS);
    });
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket !== socket) return;
      if (messages.take(1, this.#now()).tokens === 0) return this.#failed(url, 'it floods', LONGEST_PAUSE_MS);
      if (typeof data === 'string' && data.includes('"method"')) this.#hinted();
    });
    // After an error, too.
    socket.addEventListener('close', () => {
      if (this.#socket === socket) this.#failed(url, 'it closed');
    });
  }

  #hinted(): void {
    this.#failures = 0;
    if (this.#counted.take(1, this.#now()).tokens === 0) return;
    for (const end of this.#listeners) end();
  }

  #failed(url: string, reason: string, pauseMs = 0): void {
    this.#drop();
    if (this.#failures === 0)
      this.#options.log.warn(
        { network: this.#options.network, upstream: new URL(url).host, reason },
        'a stream of hints has failed: it is opened again, and nothing waits for it',
      );
    const grown = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#connectIn(Math.max(pauseMs, grown * (0.5 + Math.random() / 2)));
  }
}
