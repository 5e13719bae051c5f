import { ACCEPTED_KEPT, DELIVERY_DAYS, PLANS } from '@pf/contracts';
import {
  type Database,
  forgetAnswers,
  forgetAuditEntries,
  forgetDeliveries,
  forgetGasPromises,
  forgetMissedEvents,
  forgetRemovedEndpoints,
  forgetReplays,
  forgetRequestRecords,
  forgetReservedAmounts,
  forgetSurplus,
  surplusDeliveries,
} from '@pf/database';
import { IDEMPOTENCY_WINDOW_MS } from '@pf/domain';
import { type Logger, PeriodicTask } from '@pf/runtime';

const DELIVERY_RETENTION_MS = DELIVERY_DAYS * 24 * 60 * 60 * 1000;
/** How long the archive has time to read one that has ended late. */
const ENDED_RETENTION_MS = 24 * 60 * 60 * 1000;
/** How long it is known how often a paymaster was asked for an intent, which can be paid for a week at most. */
const GAS_PROMISES_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;
/** How long after its time an amount is still known: what pays it in time may be told later. */
const AMOUNTS_KEPT_MS = 24 * 60 * 60 * 1000;
const PAUSE_MS = 60 * 60 * 1000;
/** Rows deleted by one statement: it takes a fraction of a second. */
const BATCH_ROWS = 2_000;

/**
 * Deletes deliveries, missed events, replays, records of requests, answers to requests with an idempotency key, counts
 * of promises of paymasters, reserved amounts, and entries of the audit log, past their retention, and URLs that were
 * removed, after their deliveries, every hour. Several processes may do so at once. The dashboard, which people reach,
 * may not.
 */
export function createRetention(database: Database, log: Logger, now: () => number): PeriodicTask {
  return new PeriodicTask({
    name: 'retention',
    pauseMs: PAUSE_MS,
    onFailure: (error) => log.warn({ err: error }, 'old deliveries cannot be deleted: the next run deletes them'),
    work: async (stopping) => {
      const deliveries = await clean(stopping, (rows) =>
        forgetDeliveries(
          database,
          {
            createdBefore: new Date(now() - DELIVERY_RETENTION_MS),
            endedBefore: new Date(now() - ENDED_RETENTION_MS),
          },
          rows,
        ),
      );
      const missed = await clean(stopping, (rows) =>
        forgetMissedEvents(database, new Date(now() - DELIVERY_RETENTION_MS), rows),
      );
      const endpoints = await clean(stopping, (rows) => forgetRemovedEndpoints(database, rows));
      const answers = await clean(stopping, (rows) =>
        forgetAnswers(database, new Date(now() - IDEMPOTENCY_WINDOW_MS), rows),
      );
      const replays = await clean(stopping, (rows) =>
        forgetReplays(database, new Date(now() - DELIVERY_RETENTION_MS), rows),
      );
      const promises = await clean(stopping, (rows) =>
        forgetGasPromises(database, new Date(now() - GAS_PROMISES_RETENTION_MS), rows),
      );
      const amounts = await clean(stopping, (rows) =>
        forgetReservedAmounts(database, new Date(now() - AMOUNTS_KEPT_MS), rows),
      );
      // The database knows how old they must be.
      const audited = await clean(stopping, (rows) => forgetAuditEntries(database, rows));
      const deleted = { deliveries, missed, endpoints, answers, replays, promises, amounts, audited };
      if (Object.values(deleted).some((count) => count > 0)) log.info(deleted, 'old rows deleted');
      const surplus = await cleanSurplus(database, stopping, new Date(now() - ENDED_RETENTION_MS));
      if (surplus > 0) log.info({ surplus }, 'accepted deliveries deleted of accounts that have many');
      if (await forgetRequestRecords(database, now())) log.info('the records of requests of eight days ago deleted');
    },
  });
}

/** Deletes what accounts have of accepted deliveries beyond what is kept of their plan. @returns the number of rows */
async function cleanSurplus(database: Database, stopping: AbortSignal, endedBefore: Date): Promise<number> {
  let deleted = 0;
  for (const plan of PLANS) {
    const kept = ACCEPTED_KEPT[plan];
    if (kept === null) continue;
    for await (const surplus of surplusDeliveries(database, plan, kept)) {
      if (stopping.aborted) return deleted;
      deleted += await clean(stopping, (rows) => forgetSurplus(database, surplus, endedBefore, rows));
    }
  }
  return deleted;
}

/** Deletes what is past its retention now, batch by batch. @returns the number of deleted rows */
async function clean(stopping: AbortSignal, forget: (limit: number) => Promise<number>): Promise<number> {
  for (let deleted = 0; ;) {
    const count = await forget(BATCH_ROWS);
    deleted += count;
    if (count < BATCH_ROWS || stopping.aborted) return deleted;
  }
}
