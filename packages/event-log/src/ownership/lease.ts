import type { LogConnection } from '../transport.ts';

/**
 * A connection that several requests share, closed once it is retired and the last request has ended. If it
 * were closed during a request, the library would reconnect by itself, and that connection would never be closed.
 */
export class ConnectionLease {
  readonly #opening: Promise<LogConnection>;
  readonly #closed = Promise.withResolvers<void>();
  #questions = 0;
  #retired = false;

  constructor(opening: Promise<LogConnection>) {
    this.#opening = opening;
    // Requests report the failure; before the first one it must not be an unhandled rejection.
    opening.catch(() => undefined);
  }

  async ask<Answer>(question: (connection: LogConnection) => Promise<Answer>): Promise<Answer> {
    this.#questions++;
    try {
      return await question(await this.#opening);
    } finally {
      this.#questions--;
      this.#closeWhenDone();
    }
  }

  /** Accepts no more requests. Resolves when closed. */
  retire(): Promise<void> {
    if (!this.#retired) {
      this.#retired = true;
      this.#closeWhenDone();
    }
    return this.#closed.promise;
  }

  #closeWhenDone(): void {
    if (!this.#retired || this.#questions > 0) return;
    // A connection that never opened or lost its connections has nothing to close.
    this.#opening
      .then((connection) => connection.close())
      .catch(() => undefined)
      .finally(this.#closed.resolve);
  }
}
