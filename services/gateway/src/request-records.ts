import { type Database, type RequestRecord, storeRequestRecords } from '@pf/database';
import { count, type Logger, PeriodicTask } from '@pf/runtime';

const FLUSH_MS = 1_000;
/** Records of one statement. */
const BATCH = 1_000;
/** Records that wait to be written; what comes beyond is dropped. */
const WAITING_MAX = 10_000;
/** Of one account in one mode, and of test mode in all: what anyone can cause leaves room for what counts. */
const OWNER_MAX = 4_000;
const TEST_MAX = 4_000;

interface RequestRecordsDependencies {
  readonly database: Pick<Database, 'scans'>;
  readonly log: Logger;
  readonly flushMs?: number;
}

/**
 * Remembers the requests that were made with a key or by a person, and writes them once a second, all together. No
 * request waits for it: what Postgres does not take in time is dropped, and counted.
 */
export class RequestRecords {
  readonly #database: Pick<Database, 'scans'>;
  readonly #task: PeriodicTask;
  #waiting: RequestRecord[] = [];
  #ofOwner = new Map<string, number>();
  #ofTest = 0;

  constructor({ database, log, flushMs = FLUSH_MS }: RequestRecordsDependencies) {
    this.#database = database;
    this.#task = new PeriodicTask({
      work: () => this.#flush(),
      pauseMs: flushMs,
      onFailure: (error) => log.warn({ err: error }, 'the records of some requests could not be written'),
    });
  }

  start(): void {
    this.#task.start();
  }

  record(record: RequestRecord): void {
    const owner = `${record.accountId} ${record.livemode}`;
    const ofOwner = this.#ofOwner.get(owner) ?? 0;
    const isFull =
      this.#waiting.length >= WAITING_MAX || ofOwner >= OWNER_MAX || (!record.livemode && this.#ofTest >= TEST_MAX);
    if (isFull) {
      count('payments.request_records', { outcome: 'dropped' });
      return;
    }
    this.#waiting.push(record);
    this.#ofOwner.set(owner, ofOwner + 1);
    if (!record.livemode) this.#ofTest += 1;
  }

  /** Ends the task and writes the rest, as far as that is possible. */
  async stop(): Promise<void> {
    await this.#task.stop();
    // It has counted what is lost; the process ends either way.
    await this.#flush().catch(() => undefined);
  }

  async #flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#ofOwner = new Map();
    this.#ofTest = 0;
    for (let from = 0; from < waiting.length; from += BATCH) {
      const batch = waiting.slice(from, from + BATCH);
      try {
        await storeRequestRecords(this.#database, batch);
        count('payments.request_records', { outcome: 'written' }, batch.length);
      } catch (error) {
        // Not tried again: those that come meanwhile would be lost instead.
        count('payments.request_records', { outcome: 'dropped' }, waiting.length - from);
        throw error;
      }
    }
  }
}
