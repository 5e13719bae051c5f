import { type Database, forgetDeliveries } from '@pf/database';
import { type Logger, PeriodicTask } from '@pf/runtime';

/** How long after their event deliveries are listed and can be retried. */
const DELIVERY_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;
const PAUSE_MS = 60 * 60 * 1000;
/** Rows deleted by one statement: it takes a fraction of a second. */
const BATCH_ROWS = 2_000;

/** Deletes deliveries past their retention, every hour. Several processes may do so at once. */
export function createRetention(database: Database, log: Logger, now: () => number): PeriodicTask {
  return new PeriodicTask({
    pauseMs: PAUSE_MS,
    onFailure: (error) => log.warn({ err: error }, 'old deliveries cannot be deleted: the next run deletes them'),
    work: async (stopping) => {
      const deleted = await cleanDeliveries(database, now(), stopping);
      if (deleted > 0) log.info({ deliveries: deleted }, 'old deliveries deleted');
    },
  });
}

/** Deletes what is past its retention now. @returns the number of deleted deliveries */
async function cleanDeliveries(
  database: Database,
  now: number,
  stopping: AbortSignal,
  batchRows = BATCH_ROWS,
): Promise<number> {
  for (let deleted = 0; ;) {
    const count = await forgetDeliveries(database, new Date(now - DELIVERY_RETENTION_MS), batchRows);
    deleted += count;
    if (count < batchRows || stopping.aborted) return deleted;
  }
}
