import { type Database, recordKeyUses } from '@pf/database';
import { type Logger, PeriodicTask } from '@pf/runtime';

const FLUSH_MS = 60_000;
/** Keys whose use waits to be written; the use of others is not recorded this time. */
const WAITING_MAX = 10_000;

/** When API keys were last used: remembered for each request, and written for all keys together once a minute. */
export class KeyUses {
  readonly #database: Database;
  readonly #now: () => number;
  readonly #task: PeriodicTask;
  #waiting = new Map<string, Date>();

  constructor({
    database,
    log,
    now,
    flushMs = FLUSH_MS,
  }: {
    readonly database: Database;
    readonly log: Logger;
    readonly now: () => number;
    readonly flushMs?: number;
  }) {
    this.#database = database;
    this.#now = now;
    this.#task = new PeriodicTask({
      work: () => this.flush(),
      pauseMs: flushMs,
      onFailure: (error) => log.warn({ err: error }, 'the last uses of API keys could not be written'),
    });
  }

  start(): void {
    this.#task.start();
  }

  used(keyId: string): void {
    if (this.#waiting.size < WAITING_MAX || this.#waiting.has(keyId)) this.#waiting.set(keyId, new Date(this.#now()));
  }

  /** Writes what has been noted. What cannot be written is forgotten: a later use tells as much. */
  async flush(): Promise<void> {
    const uses = this.#waiting;
    this.#waiting = new Map();
    await recordKeyUses(this.#database, uses);
  }

  /** Ends the task and writes the rest, as far as that is possible. */
  async stop(): Promise<void> {
    await this.#task.stop();
    await this.flush().catch(() => undefined);
  }
}
