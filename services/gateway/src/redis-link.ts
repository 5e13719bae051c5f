import type { Logger } from '@pf/runtime';
import { Redis } from 'ioredis';

/** A request waits no longer for Redis; what it would have said is done without. */
const PATIENCE_MS = 250;
/** After a failure Redis is left alone for so long. */
const REST_MS = 1_000;

/**
 * A connection to Redis for what is better with it and goes on without: nothing here throws, and nothing waits longer than
 * a quarter of a second.
 */
export class RedisLink {
  readonly #redis: Redis;
  readonly #log: Logger;
  readonly #scripts = new Set<string>();
  #away = true;
  #resting = 0;
  #closed = false;

  constructor(url: string, log: Logger) {
    this.#log = log;
    this.#redis = new Redis(url, {
      lazyConnect: true,
      connectTimeout: 2_000,
      commandTimeout: PATIENCE_MS,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: null,
      retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 5), 1_000) * (0.5 + Math.random() / 2),
    });
    this.#redis.on('error', (error: Error) => this.#failed(error));
    this.#redis.on('ready', () => {
      this.#away = false;
      this.#resting = 0;
    });
  }

  /** Connects in the background, for as long as it takes. */
  open(): void {
    // A first try that fails is followed by others, and told by the error event.
    this.#redis.connect().catch(() => undefined);
  }

  close(): void {
    this.#closed = true;
    this.#redis.disconnect();
  }

  /** Runs a Lua script, sent as a whole once a connection and by its hash after that. Null where Redis is away. */
  async run(
    name: string,
    lua: string,
    keys: readonly string[],
    values: readonly (string | number)[],
  ): Promise<unknown> {
    if (!this.#scripts.has(name)) {
      this.#redis.defineCommand(name, { lua, numberOfKeys: keys.length });
      this.#scripts.add(name);
    }
    return this.#try(() =>
      (this.#redis as unknown as Record<string, (...args: (string | number)[]) => Promise<unknown>>)[name]?.(
        ...keys,
        ...values,
      ),
    );
  }

  /** Tells whoever listens on a channel. False where Redis is away. */
  async publish(channel: string, text: string): Promise<boolean> {
    return (await this.#try(() => this.#redis.publish(channel, text))) !== null;
  }

  async #try(ask: () => Promise<unknown> | undefined): Promise<unknown> {
    if (this.#redis.status !== 'ready' || performance.now() < this.#resting) return null;
    try {
      return (await ask()) ?? null;
    } catch (error) {
      // Away, silent, or not as it should be: the same to those who ask.
      this.#resting = performance.now() + REST_MS;
      this.#failed(error);
      return null;
    }
  }

  /** Once an absence. */
  #failed(error: unknown): void {
    if (this.#away || this.#closed) return;
    this.#away = true;
    this.#log.warn({ err: error }, 'redis is away: each gateway counts requests by itself');
  }
}
