import type { Logger } from '@pf/runtime';

/** Logs an outage once, however many attempts to connect fail in it, and its end. */
export class OutageLog {
  readonly #log: Logger;
  readonly #withoutRedis: string;
  #unavailable = false;
  #closed = false;

  /** @param withoutRedis what the process does without Redis: completes "Redis is unavailable: …" */
  constructor(log: Logger, withoutRedis: string) {
    this.#log = log;
    this.#withoutRedis = withoutRedis;
  }

  failed(error: unknown): void {
    if (this.#unavailable || this.#closed) return;
    this.#unavailable = true;
    this.#log.warn({ err: error }, `Redis is unavailable: ${this.#withoutRedis}`);
  }

  recovered(): void {
    if (this.#unavailable && !this.#closed) this.#log.info('Redis is available again');
    this.#unavailable = false;
  }

  /** Logs nothing more: a connection that is closed on purpose fails what it had under way. */
  close(): void {
    this.#closed = true;
  }
}
