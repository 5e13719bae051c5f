import { observationKey } from '@pf/contracts';
import { UNSPLIT, type UnscreenedPayments } from '@pf/database';
import { eventLogOver } from '@pf/event-log';
import { NetworkWatch } from '../../../../services/watcher/src/network-watch.ts';
import { Rebroadcaster } from '../../../../services/watcher/src/rebroadcaster.ts';
import { WatchSets } from '../../../../services/watcher/src/watch-sets.ts';
import { startClock } from './clock.ts';
import type { Running } from './service.ts';
import { OBSERVATION_SECRET, type WorldDependencies } from './world-dependencies.ts';

const STUCK_AFTER_MS = 120_000;
const LEASE_MS = 15_000;
/** So that intents come to rest within a run. */
const RESTS_AFTER_MS = 5_000;
const WATCH_MS = 30 * 24 * 60 * 60 * 1_000;

/** What services/watcher/src/main.ts does. */
export async function startWatcher(world: WorldDependencies, running: Running): Promise<void> {
  const { transport, log } = world;
  const store = world.store;
  const clock = await startClock(world);
  const { observer, adapter } = world.network.connect(
    log,
    async (hash) => (await store.signedTransactions.find(world.network.network.chain, [hash])).get(hash) ?? null,
    () => clock.referenceTime(),
  );
  const clients = eventLogOver(transport, log);
  const reader = await clients.reader('watcher');
  const publisher = await clients.publisher();
  // Screening is not what is simulated.
  const unscreened = { note: async () => undefined } as unknown as UnscreenedPayments;
  const watch = new NetworkWatch({
    observer,
    sets: new WatchSets(
      store.watchedIntents,
      reader,
      [observer.network.chain],
      WATCH_MS,
      () => clock.referenceTime(),
      {},
      UNSPLIT,
      RESTS_AFTER_MS,
      { partitions: world.plan.partitions, watchMs: 2 * WATCH_MS },
    ),
    watches: store.watches,
    publisher,
    observationKey: observationKey(OBSERVATION_SECRET, observer.network.chain),
    rebroadcaster: new Rebroadcaster(adapter, store.signedTransactions, observer.network.rebroadcastAfterMs, log),
    unscreened,
    leaseMs: LEASE_MS,
    clock,
    log,
  });
  running.live = () => watch.idleMs() < STUCK_AFTER_MS;
  watch
    .run(new AbortController().signal)
    .catch((error: unknown) => running.crash(error instanceof Error ? error : new Error(String(error))));
}
