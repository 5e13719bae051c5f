import { parseReplies, type Reply, replyChannel } from '@pf/contracts';
import type { Logger } from '@pf/runtime';
import { Redis } from 'ioredis';

export interface ReplyListener {
  replied(reply: Reply): void;
  /** From now on, and for what was published since the connection broke, nothing is heard. */
  lost(): void;
}

/**
 * The gateway's own channel in Redis, on which the partitions' owners tell it what became of its commands. Redis may go
 * at any time; the connection is made again for as long as the channel is open.
 */
export class ReplyChannel {
  readonly name: string;
  readonly #redis: Redis;
  readonly #listener: ReplyListener;
  readonly #log: Logger;
  #listening = false;
  #absent = false;

  /** @param gatewayId unique to this process: nobody else listens on its channel */
  constructor(redisUrl: string, gatewayId: string, listener: ReplyListener, log: Logger) {
    this.name = replyChannel(gatewayId);
    this.#listener = listener;
    this.#log = log;
    this.#redis = new Redis(redisUrl, {
      lazyConnect: true,
      autoResubscribe: false,
      connectTimeout: 2_000,
      // A subscription that the connection takes with it is made again on the next one, not queued.
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 5), 1_000) * (0.5 + Math.random() / 2),
    });
    this.#redis.on('ready', () => void this.#subscribe());
    this.#redis.on('close', () => this.#lose());
    this.#redis.on('error', (error) => this.#complain(error));
    this.#redis.on('message', (_channel, text) => this.#hear(text));
  }

  /** True while replies that are published now are heard. */
  get listening(): boolean {
    return this.#listening;
  }

  /** Begins to listen, in the background: until Redis is there, `listening` is false. */
  open(): void {
    // A first try that fails is followed by others, and told by the error event.
    this.#redis.connect().catch(() => undefined);
  }

  close(): void {
    this.#redis.disconnect();
  }

  async #subscribe(): Promise<void> {
    try {
      await this.#redis.subscribe(this.name);
      this.#listening = true;
      this.#absent = false;
      this.#log.info('listening for replies');
    } catch (error) {
      // The connection went again, and with it comes another `ready`; or Redis refuses, which a new connection may mend.
      this.#log.warn({ err: error }, 'cannot listen for replies');
      this.#redis.disconnect(true);
    }
  }

  /** Once an absence: every try to connect again ends here. */
  #complain(error: Error): void {
    if (this.#absent) return;
    this.#absent = true;
    this.#log.warn({ err: error }, 'redis is away: outcomes are read from the database');
  }

  #lose(): void {
    if (!this.#listening) return;
    this.#listening = false;
    this.#listener.lost();
  }

  #hear(text: string): void {
    try {
      for (const reply of parseReplies(text)) this.#listener.replied(reply);
    } catch (error) {
      // Not what an owner sends. Those who wait find their outcomes in the database.
      this.#log.error({ err: error }, 'a reply cannot be read');
    }
  }
}
