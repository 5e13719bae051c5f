import type { Clock } from '@pf/clock';
import { type Database, type ErasurePlace, requestedErasures, requestOldErasures } from '@pf/database';
import type { IntentId } from '@pf/domain';
import type { BatchResult, PartitionOwner } from '@pf/event-log';
import { type Logger, PeriodicTask } from '@pf/runtime';

const ROUND_MS = 2_000;
/** Intents a partition and round: one batch. */
const AT_ONCE = 100;
/** Intents that have become too old, a round. */
const OLD_AT_ONCE = 1_000;
/** Between two looks for what has become too old. */
const OLD_PAUSE_MS = 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

export interface ErasuresOptions<Context> {
  readonly database: Database;
  readonly owner: Pick<PartitionOwner<Context>, 'owned' | 'run'>;
  readonly erase: (partition: number, ids: readonly IntentId[]) => Promise<BatchResult<Context>>;
  /** The age at which personal data is erased without a request, in days; null: never. */
  readonly retentionDays: number | null;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Erases what was asked for in the owned partitions, and asks for what has become too old. */
export function createErasures<Context>(options: ErasuresOptions<Context>): PeriodicTask {
  const { database, owner, erase, retentionDays, clock, log } = options;
  /** Where the last round ended in the partitions that had more: what cannot be erased keeps nothing else waiting. */
  const after = new Map<number, ErasurePlace>();
  let lookForOldAt = 0;

  const askForOld = async (): Promise<void> => {
    if (retentionDays === null || clock.now() < lookForOldAt) return;
    await clock.prove();
    const before = new Date(clock.now() - retentionDays * DAY_MS);
    const looked = await requestOldErasures(database, before, OLD_AT_ONCE);
    if (looked > 0) log.info({ intents: looked, retentionDays }, 'personal data is old enough to be erased');
    if (looked < OLD_AT_ONCE) lookForOldAt = clock.now() + OLD_PAUSE_MS;
  };

  const round = async (): Promise<void> => {
    await askForOld();
    const partitions = owner.owned();
    if (partitions.length === 0) return;
    const requested = await requestedErasures(database, partitions, AT_ONCE, after);
    for (const partition of partitions) {
      const last = requested.get(partition)?.[AT_ONCE - 1];
      if (last) after.set(partition, last);
      else after.delete(partition);
    }
    await Promise.all(
      [...requested].map(([partition, places]) =>
        owner.run(partition, null, () =>
          erase(
            partition,
            places.map(({ id }) => id),
          ),
        ),
      ),
    );
  };

  return new PeriodicTask({
    name: 'erasures',
    pauseMs: ROUND_MS,
    work: round,
    onFailure: (error) => log.warn({ err: error }, 'personal data could not be erased: will retry'),
  });
}
