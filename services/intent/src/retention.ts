import type { Clock } from '@pf/clock';
import { type Database, forgetOutcomes, OUTCOME_RETENTION_MS } from '@pf/database';
import { type Logger, PeriodicTask } from '@pf/runtime';

const ROUND_MS = 60 * 60 * 1000;
/** Rows per statement, which then takes a fraction of a second. */
const ROWS_AT_ONCE = 5_000;

/**
 * Deletes outcomes past their retention every hour, by a proven clock: a fast one would delete those that are still
 * needed. Several processes may do so at once.
 */
export function createRetention(database: Database, clock: Clock, log: Logger): PeriodicTask {
  return new PeriodicTask({
    name: 'retention',
    pauseMs: ROUND_MS,
    async work(stopping) {
      await clock.prove();
      const outcomes = await deleteOldOutcomes(database, clock.now(), stopping);
      if (outcomes > 0) log.info({ outcomes }, 'old outcomes deleted');
    },
    onFailure: (error) => log.warn({ err: error }, 'old outcomes could not be deleted: will retry'),
  });
}

/** One round. Resolves with the number of deleted outcomes. */
async function deleteOldOutcomes(database: Database, now: number, stopping: AbortSignal): Promise<number> {
  for (let deleted = 0; ;) {
    const batch = await forgetOutcomes(database, now - OUTCOME_RETENTION_MS, ROWS_AT_ONCE);
    deleted += batch;
    if (batch < ROWS_AT_ONCE || stopping.aborted) return deleted;
  }
}
