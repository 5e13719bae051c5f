import { type Logger, resumed } from '@pf/runtime';
import { connectToKeys, type RedisConnection } from './connection.ts';
import { OutageLog } from './outage-log.ts';

/** A request waits no longer for Redis, and is served without it. */
const COMMAND_TIMEOUT_MS = 250;

export interface RedisClientOptions {
  readonly log: Logger;
  /** What the process does without Redis: completes "Redis is unavailable: …" */
  readonly withoutRedis: string;
  /** How long a command waits for Redis, in milliseconds. Default: 250 */
  readonly commandTimeoutMs?: number;
}

/** After a failed command none is sent for so long: a silent Redis must not cost every request the whole timeout. */
const REST_MS = 1_000;

/**
 * Commands for what is better with Redis and works without it: nothing here throws, and nothing waits longer than the
 * command timeout.
 */
export class RedisClient {
  readonly #connection: RedisConnection;
  readonly #outage: OutageLog;
  readonly #scripts = new Set<string>();
  #restingUntil = 0;

  constructor(url: string, { log, withoutRedis, commandTimeoutMs = COMMAND_TIMEOUT_MS }: RedisClientOptions) {
    this.#outage = new OutageLog(log, withoutRedis);
    this.#connection = connectToKeys(url, this.#outage, {
      lazyConnect: true,
      commandTimeout: commandTimeoutMs,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: null,
    });
    this.#connection.on('ready', () => {
      this.#restingUntil = 0;
      this.#outage.recovered();
    });
  }

  /** Connects in the background, for as long as it takes. */
  open(): void {
    // A first attempt that fails is followed by others, and logged by the error event.
    this.#connection.connect().catch(() => undefined);
  }

  close(): void {
    this.#outage.close();
    this.#connection.disconnect();
  }

  /**
   * Runs a Lua script, sent as a whole once per connection and by its hash after that. All its keys must be on one node
   * of a cluster: one key, or the same {tag} in each.
   *
   * @param name of the script, unique among those of this client
   * @returns null if Redis is unavailable
   */
  async run(
    name: string,
    lua: string,
    keys: readonly string[],
    values: readonly (string | number)[],
  ): Promise<unknown> {
    if (!this.#scripts.has(name)) {
      this.#connection.defineCommand(name, { lua, numberOfKeys: keys.length });
      this.#scripts.add(name);
    }
    const commands = this.#connection as unknown as Record<string, (...args: (string | number)[]) => Promise<unknown>>;
    return this.#attempt(() => commands[name]?.(...keys, ...values));
  }

  /** Publishes a message to the subscribers of a channel. @returns false if Redis is unavailable */
  async publish(channel: string, text: string): Promise<boolean> {
    return (await this.#attempt(() => this.#connection.publish(channel, text))) !== null;
  }

  async #attempt(command: () => Promise<unknown> | undefined): Promise<unknown> {
    if (this.#connection.status !== 'ready' || performance.now() < this.#restingUntil) return null;
    try {
      const response = (await command()) ?? null;
      resumed();
      this.#outage.recovered();
      return response;
    } catch (error) {
      // Disconnected, silent or out of order: the same to the caller.
      this.#restingUntil = performance.now() + REST_MS;
      this.#outage.failed(error);
      return null;
    }
  }
}
