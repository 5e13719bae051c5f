import { BundleDamagedError, type ColdBundles, StoreUnavailableError } from '@pf/archive/cold';
import type { Clock } from '@pf/clock';
import {
  bringBack,
  type ColdPlace,
  type ColdRows,
  type Database,
  findCold,
  findOldIntents,
  intentIn,
  leave,
  type OldIntent,
  type OldPlace,
  readPositions,
} from '@pf/database';
import { type ChainId, isAtRest } from '@pf/domain';
import type { BatchResult, PartitionOwner } from '@pf/event-log';
import { type Logger, PeriodicTask } from '@pf/runtime';
import type { ColdIntents } from './writer.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const ROUND_MS = 10_000;
/** Intents of a chain that are looked at in a round. */
const LOOKED_AT = 1_000;
/** Intents of a bundle, and of a turn of a partition: a bundle has some hundred KB then, and a turn some 10 ms. */
const AT_ONCE = 200;
/** Between two searches through everything. */
const PAUSE_MS = 60 * 60 * 1000;

/** Brings back intents that have left, for the writer: what an input is about is in Postgres when it is decided. */
export function createColdIntents(database: Database, bundles: ColdBundles, log: Logger): ColdIntents {
  return {
    async bringBack(partition, ids) {
      const back: (ColdRows & Pick<ColdPlace, 'id'>)[] = [];
      try {
        for (const place of await findCold(database, ids))
          back.push({ id: place.id, ...(await bundles.read(place.id, place)) });
      } catch (error) {
        if (!(error instanceof StoreUnavailableError || error instanceof BundleDamagedError)) throw error;
        log.error(
          { err: error, partition, intentIds: ids },
          'intents that have left cannot be read: what is asked of them is not done (docs/operations/growth.md)',
        );
        return false;
      }
      await bringBack(database, partition, back);
      log.info({ partition, intents: back.length }, 'intents have come back from the archive');
      return true;
    },
  };
}

export interface LeavingOptions<Context> {
  readonly database: Database;
  readonly bundles: Pick<ColdBundles, 'write'>;
  /**
   * The intents of a partition with an event that is not archived, or that another reader has not read before this
   * position; null: nothing of it may leave now.
   */
  readonly unfinished: (partition: number, others: bigint) => Promise<ReadonlySet<string> | null>;
  readonly owner: Pick<PartitionOwner<Context>, 'owned' | 'run'>;
  /** A batch of nothing, in whose turn the work is done. */
  readonly between: (partition: number, work: () => Promise<void>) => Promise<BatchResult<Context>>;
  readonly chains: readonly ChainId[];
  /** How many days after they ended intents leave. */
  readonly hotDays: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Moves what has ended long ago out of Postgres, in the owned partitions (docs/operations/growth.md): first a bundle is
 * written, then the rows are deleted in the turn of their partition. A process that ends between the two leaves a
 * bundle that nothing refers to.
 */
export function createLeaving<Context>(options: LeavingOptions<Context>): PeriodicTask {
  const { database, owner, chains, hotDays, clock, log } = options;
  /** Where the search of a chain goes on. */
  const after = new Map<ChainId, OldPlace>();
  let searchAt = 0;

  return new PeriodicTask({
    name: 'cold',
    pauseMs: ROUND_MS,
    async work() {
      const partitions = owner.owned();
      if (clock.now() < searchAt || partitions.length === 0) return;
      await clock.prove();
      const before = clock.now() - hotDays * DAY_MS;
      for (const chain of chains) {
        // In pieces, which are bounded by bytes, too: whoever makes large intents does not fill this process.
        for (let left = LOOKED_AT; left > 0;) {
          const found = await findOldIntents(database, chain, partitions, before, after.get(chain) ?? null, left);
          const last = found.at(-1);
          if (!last) {
            after.delete(chain);
            break;
          }
          await leaveTogether(options, found, before);
          after.set(chain, last);
          left -= found.length;
        }
      }
      if (after.size === 0) searchAt = clock.now() + PAUSE_MS;
    },
    onFailure: (error) => log.warn({ err: error }, 'old intents cannot leave: will retry'),
  });
}

async function leaveTogether<Context>(
  { database, bundles, unfinished, owner, between, clock, log }: LeavingOptions<Context>,
  found: readonly OldIntent[],
  before: number,
): Promise<void> {
  const positions = await readPositions(database);
  const leaving: OldIntent[] = [];
  for (const [partition, old] of Map.groupBy(found, (one) => one.partition)) {
    const kept = await unfinished(partition, positions.get(partition)?.webhooks ?? 0n);
    if (kept === null)
      log.warn({ partition, intents: old.length }, 'old intents stay: the archive or the webhooks are behind');
    else
      for (const one of old) {
        const intent = intentIn(one);
        if (intent !== null && isAtRest(intent, before) && !kept.has(one.id)) leaving.push(one);
      }
  }
  for (let first = 0; first < leaving.length; first += AT_ONCE) {
    const together = leaving.slice(first, first + AT_ONCE);
    const places = await bundles.write(new Map(together.map((one) => [one.id, one])), clock.now());
    const moved = together.flatMap(({ id, partition, version, digest }) => {
      const place = places.get(id);
      return place ? [{ id, partition, version, digest, ...place }] : [];
    });
    for (const [partition, ours] of Map.groupBy(moved, (one) => one.partition))
      await owner.run(partition, null, () =>
        between(partition, async () => {
          try {
            const left = await leave(database, partition, ours);
            log.info({ partition, intents: left, bundle: ours[0]?.bundle }, 'old intents have left for the archive');
          } catch (error) {
            // The partition is not lost for it: nothing has left, or all of them.
            log.warn({ err: error, partition }, 'old intents could not leave: will retry');
          }
        }),
      );
  }
}
