import { STREAM_COMMENT_MS } from '@pf/contracts';
import { NOTICE_GAP_MS } from '@pf/contracts/dashboard';
import { accountChannels, type AccountMode, ChannelSubscriber } from '@pf/redis';
import { type Logger, pause, within } from '@pf/runtime';

/** Interval at which every stream has an event while no notices arrive. */
const POLL_MS = 5_000;
/** A client connects again after so many milliseconds: at random between, so that they do not all come at once. */
const RECONNECT_MS = { min: 1_000, max: 3_000 } as const;

/** The streams of one account and mode. */
interface Followed {
  /** What tells each stream of a notice. */
  readonly streams: Set<() => void>;
  /** Resolves when its notices arrive, or if Redis is unavailable. */
  readonly subscribed: Promise<void>;
}

/** Tells the streams of accounts when something has changed: from notices, over one connection to Redis. */
export class AccountNotices {
  readonly #subscriber: ChannelSubscriber;
  /** By channel. */
  readonly #followed = new Map<string, Followed>();
  readonly #poll: NodeJS.Timeout;

  /** Begins to listen, in the background. */
  constructor(redisUrl: string, log: Logger) {
    const listener = {
      message: (channel: string) => this.#tell(channel),
      listening: () => this.#tellAll(),
    };
    this.#subscriber = new ChannelSubscriber(redisUrl, listener, { log, withoutRedis: 'pages are read every 5 s' });
    this.#subscriber.open();
    this.#poll = setInterval(() => {
      if (!this.#subscriber.listening) this.#tellAll();
    }, POLL_MS);
  }

  close(): void {
    clearInterval(this.#poll);
    this.#subscriber.close();
  }

  /**
   * The server-sent events of a stream: one at first, because what the client has read may be old, and then for as many
   * notices as arrive within the gap. A client that does not read leaves no more than one waiting.
   */
  async *follow(account: AccountMode, signal: AbortSignal): AsyncGenerator<string> {
    let changed = true;
    let wake = (): void => undefined;
    const told = (): void => {
      changed = true;
      wake();
    };
    const leave = await this.#join(account, told);
    signal.addEventListener('abort', told);
    const { min, max } = RECONNECT_MS;
    try {
      yield `retry: ${Math.round(min + Math.random() * (max - min))}\n\n`;
      while (!signal.aborted) {
        if (changed) {
          changed = false;
          yield 'event: changed\ndata: {}\n\n';
          await pause(NOTICE_GAP_MS, signal);
        } else {
          const notice = new Promise<true>((resolve) => (wake = () => resolve(true)));
          if (!(await within(STREAM_COMMENT_MS, notice))) yield ': still here\n\n';
        }
      }
    } finally {
      signal.removeEventListener('abort', told);
      leave();
    }
  }

  /** Subscribes before the first event, so that nothing after it is missed. */
  async #join(account: AccountMode, told: () => void): Promise<() => void> {
    const [channel = ''] = accountChannels([account]);
    let followed = this.#followed.get(channel);
    if (!followed)
      this.#followed.set(channel, (followed = { streams: new Set(), subscribed: this.#subscriber.subscribe(channel) }));
    const { streams, subscribed } = followed;
    streams.add(told);
    await subscribed;
    return () => {
      streams.delete(told);
      if (streams.size > 0 || this.#followed.get(channel)?.streams !== streams) return;
      this.#followed.delete(channel);
      this.#subscriber.unsubscribe(channel);
    };
  }

  #tell(channel: string): void {
    for (const told of this.#followed.get(channel)?.streams ?? []) told();
  }

  #tellAll(): void {
    for (const channel of this.#followed.keys()) this.#tell(channel);
  }
}
