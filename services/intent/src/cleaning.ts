import { type Database, forgetOutcomes } from '@pf/database';
import { type Logger, pause } from '@pf/runtime';
import { OUTCOME_RETENTION_MS } from './answers-from-log.ts';

const ROUND_MS = 60 * 60 * 1000;
/** Rows of one statement: a fraction of a second. */
const ROWS_AT_ONCE = 5_000;

/** Deletes outcomes that are kept long enough, every hour, until stopped. Several processes may do so at once. */
export class Cleaning {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #stopping = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  start(): void {
    this.#loop = this.#rounds(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #rounds(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const outcomes = await this.clean(Date.now(), signal);
        if (outcomes > 0) this.#log.info({ outcomes }, 'old outcomes deleted');
      } catch (error) {
        this.#log.warn({ err: error }, 'old outcomes cannot be deleted now: the next round does it');
      }
      await pause(ROUND_MS, signal);
    }
  }

  /** One round. Resolves with how many were deleted. */
  async clean(now: number, signal: AbortSignal): Promise<number> {
    for (let deleted = 0; ; ) {
      const some = await forgetOutcomes(this.#database, now - OUTCOME_RETENTION_MS, ROWS_AT_ONCE);
      deleted += some;
      if (some < ROWS_AT_ONCE || signal.aborted) return deleted;
    }
  }
}
