import { DUE_CHANNEL, type DueNotice, parseDueNotice } from '@pf/contracts';
import type { Logger } from '@pf/runtime';
import { Redis } from 'ioredis';

/** Hears, through Redis, of deliveries that an account wants made again. What is missed is found by the next sweep. */
export class DueNotices {
  readonly #redis: Redis;
  readonly #log: Logger;

  /** @param onDue must neither throw nor be waited for */
  constructor(redisUrl: string, onDue: (notice: DueNotice) => void, log: Logger) {
    this.#log = log;
    this.#redis = new Redis(redisUrl, {
      lazyConnect: true,
      autoResubscribe: false,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
    });
    // Its absence is told by the queue's connections.
    this.#redis.on('error', (error) => log.debug({ err: error }, 'due deliveries are not heard of'));
    this.#redis.on('ready', () => void this.#subscribe());
    this.#redis.on('message', (_channel, text) => this.#hear(text, onDue));
  }

  /** Begins in the background, for as long as it takes. */
  open(): void {
    // A first try that fails is followed by others, and told by the error event.
    this.#redis.connect().catch(() => undefined);
  }

  close(): void {
    this.#redis.disconnect();
  }

  async #subscribe(): Promise<void> {
    try {
      await this.#redis.subscribe(DUE_CHANNEL);
    } catch (error) {
      // The connection went again, and with it comes another `ready`.
      this.#log.debug({ err: error }, 'due deliveries are not heard of');
      this.#redis.disconnect(true);
    }
  }

  #hear(text: string, onDue: (notice: DueNotice) => void): void {
    try {
      onDue(parseDueNotice(text));
    } catch (error) {
      // Not what a gateway sends: the sweep finds what was meant.
      this.#log.warn({ err: error }, 'a notice of a due delivery cannot be read');
    }
  }
}
