import { ArchiveDamagedError, DeliveryArchive, type ObjectStore, type ParquetFiles } from '@pf/archive';
import { type Database, EndedDeliveries } from '@pf/database';
import { count, type Logger, PeriodicTask, registerGauge } from '@pf/runtime';

export interface DeliveriesOptions {
  readonly database: Database;
  readonly store: ObjectStore;
  readonly parquet: ParquetFiles;
  readonly everyMs: number;
  readonly log: Logger;
}

/** Starts to archive how deliveries end. */
export function archiveDeliveries({ database, store, parquet, everyMs, log }: DeliveriesOptions): PeriodicTask {
  const deliveries = new EndedDeliveries(database);
  const archive = new DeliveryArchive({ store, parquet, deliveries, now: () => Date.now() });
  registerGauge('payments.archive.deliveries_lag', () => [[archive.lagMs / 1_000, {}]]);
  const task = new PeriodicTask({
    pauseMs: everyMs,
    work: (stopping) => archive.round(stopping),
    onFailure(error) {
      if (error instanceof ArchiveDamagedError) {
        count('payments.alarms', { alarm: 'archive_damaged' });
        log.error({ err: error, alarm: 'archive_damaged' }, 'the archive of deliveries is damaged');
      } else log.warn({ err: error }, 'ended deliveries cannot be archived: will retry');
    },
  });
  task.start();
  return task;
}
