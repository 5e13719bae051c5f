import { createChains } from '@pf/chains';
import { type Clock, trustedClock } from '@pf/clock';
import { createStore, type Shard, UnscreenedPayments, UNSPLIT } from '@pf/database';
import { type IntentId, type Observation } from '@pf/domain';
import type { Publisher } from '@pf/event-log';
import { parseObservation, partitionOf, type ObservationMessage } from '@pf/contracts';
import type { ChainId } from '@pf/domain';
import { createLogger } from '@pf/runtime';
import { type Cluster, until } from '@pf/testing';
import { NetworkWatch } from '../src/network-watch.ts';
import { Rebroadcaster } from '../src/rebroadcaster.ts';
import { WatchSets } from '../src/watch-sets.ts';

const WATCH_MS = 30 * 86_400_000;

export interface Watching {
  readonly watches: ReadonlyMap<ChainId, NetworkWatch>;
  stop(): Promise<void>;
}

/** A watcher's inside in this process, over the given upstreams; `through` may stand between it and the log. */
export async function startWatching(
  cluster: Cluster,
  upstreams: Readonly<Record<string, string>>,
  through: (publisher: Publisher) => Publisher = (publisher) => publisher,
  clock: Pick<Clock, 'provenTime'> = trustedClock(),
  shard: Shard = UNSPLIT,
): Promise<Watching> {
  const log = createLogger('test', 'silent');
  const chains = createChains({
    upstreams: new Map(Object.entries(upstreams).map(([chain, url]) => [chain as ChainId, [url]])),
    log,
  });
  const reader = await cluster.log.reader('watcher');
  const publisher = await cluster.log.publisher();
  const { signedTransactions, watchedIntents, watches: leases } = createStore(cluster.database);
  const sets = new WatchSets(watchedIntents, reader, [...chains.observers.keys()], WATCH_MS, Date.now, {}, shard);
  const watches = new Map<ChainId, NetworkWatch>();
  for (const [chain, observer] of chains.observers) {
    const adapter = chains.adapters.get(chain);
    if (!adapter) throw new Error(`no adapter for ${chain}`);
    const rebroadcaster = new Rebroadcaster(
      adapter,
      signedTransactions,
      observer.network.rebroadcastAfterMs,
      log,
      shard,
    );
    watches.set(
      chain,
      new NetworkWatch({
        observer,
        shard,
        sets,
        watches: leases,
        publisher: through(publisher),
        rebroadcaster,
        unscreened: new UnscreenedPayments(cluster.database),
        leaseMs: 10_000,
        clock,
        log,
      }),
    );
  }
  const stopping = new AbortController();
  const ended = Promise.all([...watches.values()].map((watch) => watch.run(stopping.signal)));
  return {
    watches,
    async stop() {
      stopping.abort();
      await ended;
      await publisher.close();
      await reader.close();
      await chains.close();
    },
  };
}

/** All that was observed of an intent so far, in order. */
export async function observationsOf(cluster: Cluster, id: IntentId): Promise<readonly ObservationMessage[]> {
  const reader = await cluster.log.reader('observations');
  try {
    const observations: ObservationMessage[] = [];
    const partition = partitionOf(id);
    for await (const { records } of reader.read(
      'chain.observations',
      partition,
      0n,
      await reader.endOffset('chain.observations', partition),
    )) {
      for (const { value } of records) {
        const message = parseObservation(value ?? '');
        if (message.kind === 'observation' && message.intentId === id) observations.push(message);
      }
    }
    return observations;
  } finally {
    await reader.close();
  }
}

/** The first observation of this intent that is of a type, and of a level where that is given. */
export const observed = <Type extends Observation['type']>(
  cluster: Cluster,
  id: IntentId,
  type: Type,
  level?: 'confirmed' | 'finalized',
  timeoutMs = 60_000,
): Promise<ObservationMessage & { type: Type }> =>
  until(
    `${type} ${level ?? ''} of ${id}`,
    async () => {
      const all = await observationsOf(cluster, id);
      return all.find(
        (one): one is ObservationMessage & { type: Type } =>
          one.type === type && (level === undefined || (one.type === 'landed' && one.data.level === level)),
      );
    },
    timeoutMs,
  );
