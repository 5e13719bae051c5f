import { RECORDED_PER_MINUTE } from '@pf/contracts/dashboard';
import { type Database, type RequestRecord, storeRequestRecords } from '@pf/database';
import { boundedCache, count, type Logger, PeriodicTask } from '@pf/runtime';

const FLUSH_MS = 1_000;
/** Records of one statement. */
const BATCH = 1_000;
/** Records that wait to be written; what comes beyond is dropped. */
const WAITING_MAX = 10_000;
/** Of test mode in all: what anyone can cause leaves room for what counts. */
const TEST_MAX = 4_000;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** Accounts and modes whose requests are counted. */
const OWNERS_MAX = 50_000;

/** What an account has recorded in one mode, in the minute of its last record. */
interface Recorded {
  readonly at: number;
  readonly inMinute: number;
  /** Requests since then that have no record. */
  readonly omitted: number;
}

const inSame = (ms: number, one: number, other: number): boolean => Math.floor(one / ms) === Math.floor(other / ms);

interface RequestRecordsDependencies {
  readonly database: Pick<Database, 'scans'>;
  readonly log: Logger;
  readonly flushMs?: number;
}

/**
 * Remembers the requests that were made with a key or by a person, and writes them once a second, all together. No
 * request waits for it: what Postgres does not take in time is dropped, and counted. Of an account that makes very
 * many, some are recorded, with how many before them are not.
 */
export class RequestRecords {
  readonly #database: Pick<Database, 'scans'>;
  readonly #task: PeriodicTask;
  #waiting: RequestRecord[] = [];
  readonly #recorded = boundedCache<string, Recorded>(OWNERS_MAX);
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

  record(record: Omit<RequestRecord, 'omitted'>): void {
    const owner = `${record.accountId} ${record.livemode}`;
    const at = record.at.getTime();
    const last = this.#recorded.get(owner) ?? { at: 0, inMinute: 0, omitted: 0 };
    const inMinute = inSame(MINUTE_MS, at, last.at) ? last.inMinute : 0;
    const isFull = this.#waiting.length >= WAITING_MAX || (!record.livemode && this.#ofTest >= TEST_MAX);
    const isTooMany = inMinute >= RECORDED_PER_MINUTE && inSame(SECOND_MS, at, last.at);
    if (isFull || isTooMany) {
      count('payments.request_records', { outcome: isFull ? 'dropped' : 'omitted' });
      this.#recorded.set(owner, { ...last, omitted: last.omitted + 1 });
      return;
    }
    this.#waiting.push({ ...record, omitted: last.omitted });
    this.#recorded.set(owner, { at, inMinute: inMinute + 1, omitted: 0 });
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
