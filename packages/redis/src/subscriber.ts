import type { Logger } from '@pf/runtime';
import type { Redis } from 'ioredis';
import { connect } from './connection.ts';
import { OutageLog } from './outage-log.ts';

/** A subscription that is not confirmed in time is as good as none. */
const COMMAND_TIMEOUT_MS = 1_000;

/** None of these may throw. */
export interface ChannelListener {
  message(channel: string, text: string): void;
  /** Messages that are published from now on arrive; those published since the connection broke were missed. */
  listening?(): void;
  /** Messages that are published from now on, and some of those just before, are missed. */
  lost?(): void;
}

/**
 * Subscribes to channels over one connection, however many they are. After an outage it subscribes again to all of
 * them. What is published meanwhile is missed, as always in Redis' pub/sub: see `listening`.
 */
export class ChannelSubscriber {
  readonly #connection: Redis;
  readonly #outage: OutageLog;
  readonly #listener: ChannelListener;
  readonly #log: Logger;
  readonly #wanted = new Set<string>();
  readonly #subscribed = new Set<string>();
  #listening = false;

  /** @param withoutRedis what the process does without Redis: completes "Redis is unavailable: …" */
  constructor(
    url: string,
    listener: ChannelListener,
    { log, withoutRedis }: { readonly log: Logger; readonly withoutRedis: string },
  ) {
    this.#listener = listener;
    this.#log = log;
    this.#outage = new OutageLog(log, withoutRedis);
    this.#connection = connect(url, this.#outage, {
      lazyConnect: true,
      autoResubscribe: false,
      enableOfflineQueue: false,
      commandTimeout: COMMAND_TIMEOUT_MS,
      maxRetriesPerRequest: 0,
    });
    this.#connection.on('ready', () => void this.#subscribeAll());
    this.#connection.on('close', () => this.#lose());
    this.#connection.on('message', (channel: string, text: string) => {
      if (this.#wanted.has(channel)) this.#listener.message(channel, text);
    });
  }

  /** True while every message that is published now to a channel subscribed to arrives. */
  get listening(): boolean {
    return this.#listening;
  }

  /** Connects in the background, for as long as it takes. */
  open(): void {
    // A first attempt that fails is followed by others, and logged by the error event.
    this.#connection.connect().catch(() => undefined);
  }

  close(): void {
    this.#wanted.clear();
    this.#outage.close();
    this.#connection.disconnect();
  }

  /**
   * Resolves when messages of the channel arrive; at once if Redis is unavailable: then `listening` is called when they
   * do. Never rejects.
   */
  async subscribe(channel: string): Promise<void> {
    this.#wanted.add(channel);
    // Otherwise it is among those subscribed to when the connection is ready.
    if (this.#listening) await this.#subscribe([channel]);
  }

  unsubscribe(channel: string): void {
    this.#wanted.delete(channel);
    if (!this.#subscribed.delete(channel)) return;
    // A connection that breaks meanwhile takes the subscription with it.
    this.#connection
      .unsubscribe(channel)
      .catch((error: unknown) => this.#log.debug({ err: error, channel }, 'UNSUBSCRIBE was not confirmed'));
  }

  /** Subscribes to every channel, also to those that are added meanwhile. */
  async #subscribeAll(): Promise<void> {
    for (;;) {
      const missing = [...this.#wanted].filter((channel) => !this.#subscribed.has(channel));
      if (missing.length === 0) break;
      if (!(await this.#subscribe(missing))) return;
    }
    this.#listening = true;
    this.#outage.recovered();
    this.#listener.listening?.();
  }

  /** @returns false if the connection broke meanwhile */
  async #subscribe(channels: readonly string[]): Promise<boolean> {
    for (const channel of channels) this.#subscribed.add(channel);
    try {
      await this.#connection.subscribe(...channels);
      return true;
    } catch (error) {
      // The connection broke, and another one will be ready; or Redis is silent or refuses, which a new connection may
      // cure.
      this.#outage.failed(error);
      this.#connection.disconnect(true);
      return false;
    }
  }

  #lose(): void {
    this.#subscribed.clear();
    if (!this.#listening) return;
    this.#listening = false;
    this.#listener.lost?.();
  }
}
