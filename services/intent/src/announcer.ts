import { encodeReplies, intentChannel, type Notice, type Reply } from '@pf/contracts';
import type { Logger } from '@pf/runtime';
import { Redis } from 'ioredis';

const CONNECT_TIMEOUT_MS = 2_000;
/** A server that takes commands and answers none is as good as away. */
const SILENCE_MS = 3_000;
const LONGEST_RETRY_MS = 1_000;
/** Batches under way at most: beyond, Redis is too slow to be of use, and memory is not its queue. */
const MAX_UNDER_WAY = 100;

/**
 * Tells gateways and streams, through Redis, what has happened. All of it can be lost: outcomes and intents lie in
 * Postgres. Nothing here throws, waits or blocks.
 */
export class Announcer {
  readonly #redis: Redis;
  readonly #log: Logger;
  #away = false;
  #underWay = 0;

  /** Connects in the background, for ever. */
  constructor(url: string, log: Logger) {
    this.#log = log;
    this.#redis = new Redis(url, {
      lazyConnect: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_MS,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: null,
      retryStrategy: (attempt) =>
        Math.min(25 * 2 ** Math.min(attempt, 10), LONGEST_RETRY_MS) * (0.5 + Math.random() / 2),
    });
    this.#redis.on('error', (error: Error) => this.#isAway(error));
    this.#redis.on('ready', () => this.#isBack());
    // A first connection that fails is tried again like any other; the error event has told of it.
    this.#redis.connect().catch((error: unknown) => this.#isAway(error));
  }

  /** Sends the replies, one message a gateway, and the notices, in one round trip. */
  announce(replies: ReadonlyMap<string, readonly Reply[]>, notices: readonly Notice[]): void {
    if (replies.size === 0 && notices.length === 0) return;
    if (this.#redis.status !== 'ready' || this.#underWay >= MAX_UNDER_WAY) return;
    const pipeline = this.#redis.pipeline();
    for (const [channel, batch] of replies) pipeline.publish(channel, encodeReplies(batch));
    for (const notice of notices) pipeline.publish(intentChannel(notice.intentId), JSON.stringify(notice));
    this.#underWay++;
    pipeline.exec().then(
      (results) => {
        this.#underWay--;
        const failure = results?.find(([error]) => error !== null)?.[0];
        if (failure) this.#isAway(failure);
      },
      (error: unknown) => {
        this.#underWay--;
        this.#isAway(error);
      },
    );
  }

  /** Replies that are under way still go out; a server that is away is not waited for. */
  async close(): Promise<void> {
    try {
      if (this.#redis.status === 'ready') await this.#redis.quit();
      else this.#redis.disconnect();
    } catch (error) {
      this.#log.debug({ err: error }, 'redis went before the farewell');
      this.#redis.disconnect();
    }
  }

  /** Once an outage, not once a reply. */
  #isAway(error: unknown): void {
    if (this.#away) return;
    this.#away = true;
    this.#log.warn({ err: error }, 'redis cannot be reached: gateways read outcomes from Postgres until it is back');
  }

  #isBack(): void {
    if (this.#away) this.#log.info('redis is back');
    this.#away = false;
  }
}
