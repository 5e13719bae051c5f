import { type Database, forgetDeliveries } from '@pf/database';
import { type Logger, PeriodicTask } from '@pf/runtime';

/** Deliveries are listed and can be made again for so long after their event. */
export const DELIVERY_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;
const ROUND_MS = 60 * 60 * 1000;
/** Rows of one statement: a fraction of a second. */
const ROWS_AT_ONCE = 2_000;

/** Deletes deliveries that are kept long enough, every hour. Several processes may do so at once. */
export function createRetention(database: Database, log: Logger, now: () => number): PeriodicTask {
  return new PeriodicTask({
    pauseMs: ROUND_MS,
    onFailure: (error) => log.warn({ err: error }, 'old deliveries cannot be deleted now: the next round does it'),
    work: async (stopping) => {
      const deleted = await cleanDeliveries(database, now(), stopping);
      if (deleted > 0) log.info({ deliveries: deleted }, 'old deliveries deleted');
    },
  });
}

/** One round. Resolves with how many were deleted. */
export async function cleanDeliveries(
  database: Database,
  now: number,
  stopping: AbortSignal,
  rowsAtOnce = ROWS_AT_ONCE,
): Promise<number> {
  for (let deleted = 0; ;) {
    const some = await forgetDeliveries(database, new Date(now - DELIVERY_RETENTION_MS), rowsAtOnce);
    deleted += some;
    if (some < rowsAtOnce || stopping.aborted) return deleted;
  }
}
