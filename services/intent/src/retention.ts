import { type Database, forgetOutcomes } from '@pf/database';
import { type Logger, PeriodicTask } from '@pf/runtime';
import { OUTCOME_RETENTION_MS } from './answers-from-log.ts';

const ROUND_MS = 60 * 60 * 1000;
/** Rows of one statement: a fraction of a second. */
const ROWS_AT_ONCE = 5_000;

/** Deletes outcomes that are kept long enough, every hour. Several processes may do so at once. */
export function createRetention(database: Database, log: Logger): PeriodicTask {
  return new PeriodicTask({
    pauseMs: ROUND_MS,
    async work(stopping) {
      const outcomes = await clean(database, Date.now(), stopping);
      if (outcomes > 0) log.info({ outcomes }, 'old outcomes deleted');
    },
    onFailure: (error) => log.warn({ err: error }, 'old outcomes cannot be deleted now: the next round does it'),
  });
}

/** One round. Resolves with how many were deleted. */
async function clean(database: Database, now: number, stopping: AbortSignal): Promise<number> {
  for (let deleted = 0; ;) {
    const some = await forgetOutcomes(database, now - OUTCOME_RETENTION_MS, ROWS_AT_ONCE);
    deleted += some;
    if (some < ROWS_AT_ONCE || stopping.aborted) return deleted;
  }
}
