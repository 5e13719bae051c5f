import type { IntentId } from '@pf/domain';
import { ChannelSubscriber, intentChannel } from '@pf/redis';
import type { Logger } from '@pf/runtime';

export interface NoticeListener {
  /** Something public may have changed. */
  noticed(id: IntentId): void;
  /** Notices that are published from now on arrive; those published since the connection broke were missed. */
  listening(): void;
}

/** Notices of the intents that streams follow, over one connection to Redis. */
export class Notices {
  readonly #subscriber: ChannelSubscriber;
  /** The subscribed intents, by channel. */
  readonly #intents = new Map<string, IntentId>();

  constructor(redisUrl: string, listener: NoticeListener, log: Logger) {
    const message = (channel: string): void => {
      const id = this.#intents.get(channel);
      if (id !== undefined) listener.noticed(id);
    };
    this.#subscriber = new ChannelSubscriber(
      redisUrl,
      { message, listening: () => listener.listening() },
      { log, withoutRedis: 'streams poll the database' },
    );
  }

  /** True while notices that are published now arrive. */
  get listening(): boolean {
    return this.#subscriber.listening;
  }

  /** Begins to listen, in the background, for as long as it takes. */
  open(): void {
    this.#subscriber.open();
  }

  close(): void {
    this.#intents.clear();
    this.#subscriber.close();
  }

  /** Resolves when notices of this intent arrive; at once if Redis is unavailable. Never rejects. */
  async subscribe(id: IntentId): Promise<void> {
    const channel = intentChannel(id);
    this.#intents.set(channel, id);
    await this.#subscriber.subscribe(channel);
  }

  unsubscribe(id: IntentId): void {
    const channel = intentChannel(id);
    this.#intents.delete(channel);
    this.#subscriber.unsubscribe(channel);
  }
}
