import { intentChannel } from '@pf/contracts';
import type { IntentId } from '@pf/domain';
import type { Logger } from '@pf/runtime';
import { Redis } from 'ioredis';

export interface NoticeListener {
  /** Something public may have changed. */
  noticed(id: IntentId): void;
  /** From now on notices are heard; those since the connection broke were not. */
  heard(): void;
}

/** A subscription that is not answered is as good as none. */
const PATIENCE_MS = 1_000;

/**
 * Notices of intents, by one connection to Redis whatever their number. Redis may go at any time; the connection, and all
 * subscriptions, are made again for as long as this is open.
 */
export class Notices {
  readonly #redis: Redis;
  readonly #listener: NoticeListener;
  readonly #log: Logger;
  /** By channel: whose notices are wanted. */
  readonly #wanted = new Map<string, IntentId>();
  readonly #subscribed = new Set<string>();
  #listening = false;
  #absent = false;

  constructor(redisUrl: string, listener: NoticeListener, log: Logger) {
    this.#listener = listener;
    this.#log = log;
    this.#redis = new Redis(redisUrl, {
      lazyConnect: true,
      autoResubscribe: false,
      enableOfflineQueue: false,
      connectTimeout: 2_000,
      commandTimeout: PATIENCE_MS,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 5), 1_000) * (0.5 + Math.random() / 2),
    });
    this.#redis.on('ready', () => void this.#begin());
    this.#redis.on('close', () => this.#lose());
    this.#redis.on('error', (error) => this.#complain(error));
    this.#redis.on('message', (channel) => {
      const id = this.#wanted.get(channel);
      if (id !== undefined) this.#listener.noticed(id);
    });
  }

  /** True while notices that are published now are heard. */
  get listening(): boolean {
    return this.#listening;
  }

  /** Begins in the background, for as long as it takes. */
  open(): void {
    // A first try that fails is followed by others, and told by the error event.
    this.#redis.connect().catch(() => undefined);
  }

  close(): void {
    this.#wanted.clear();
    this.#redis.disconnect();
  }

  /** Resolves when notices of this intent are heard; at once where Redis is away. Never throws. */
  async subscribe(id: IntentId): Promise<void> {
    const channel = intentChannel(id);
    this.#wanted.set(channel, id);
    // Else it is among what is subscribed to at the beginning.
    if (this.#listening) await this.#subscribe([channel]);
  }

  unsubscribe(id: IntentId): void {
    const channel = intentChannel(id);
    this.#wanted.delete(channel);
    if (!this.#subscribed.delete(channel)) return;
    // A connection that breaks meanwhile takes the subscription with it.
    this.#redis
      .unsubscribe(channel)
      .catch((error: unknown) => this.#log.debug({ err: error }, 'a subscription was not ended in order'));
  }

  /** Subscribes to all that is wanted, also what comes to be wanted meanwhile. */
  async #begin(): Promise<void> {
    for (;;) {
      const missing = [...this.#wanted.keys()].filter((channel) => !this.#subscribed.has(channel));
      if (missing.length === 0) break;
      if (!(await this.#subscribe(missing))) return;
    }
    this.#listening = true;
    this.#absent = false;
    this.#listener.heard();
  }

  /** False where Redis went meanwhile. */
  async #subscribe(channels: readonly string[]): Promise<boolean> {
    for (const channel of channels) this.#subscribed.add(channel);
    try {
      await this.#redis.subscribe(...channels);
      return true;
    } catch (error) {
      // The connection went, and with it comes another `ready`; or Redis is silent, which a new connection may mend.
      this.#complain(error);
      this.#redis.disconnect(true);
      return false;
    }
  }

  #lose(): void {
    this.#listening = false;
    this.#subscribed.clear();
  }

  /** Once an absence: every try to connect again ends here. */
  #complain(error: unknown): void {
    if (this.#absent) return;
    this.#absent = true;
    this.#log.warn({ err: error }, 'redis is away: streams read the database again and again');
  }
}
