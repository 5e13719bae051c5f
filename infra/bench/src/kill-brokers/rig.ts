import { setTimeout as delay } from 'node:timers/promises';
import { type Broker, type Brokers, startBrokers } from '@pf/local/brokers';
import { type Cluster, readBackingStack, readSettledLog, seededRandom, startCluster, until } from '@pf/testing';
import { BenchResources } from '../bench-resources.ts';
import { Load } from './load.ts';
import { KeptServices } from './services.ts';

/** How long the load runs between two kills, at most. */
const CALM_MS = 1_500;
/** How long one of three brokers stays away, at most: longer than its session, so that others take over. */
const AWAY_MS = 6_000;

/** The brokers' logs say when a transaction's marker is not written. */
const SHOW_MARKERS = '-Dorg.slf4j.simpleLogger.log.kafka.coordinator.transaction=info';

export interface KillOptions {
  readonly brokers: 1 | 3;
  readonly kills: number;
  /** Decides when and which broker is killed. */
  readonly seed: number;
  /** After its broker is back, a partition must create intents within this time. */
  readonly withinMs: number;
  /** Gets a line of progress. */
  readonly say: (line: string) => void;
}

export interface KillReport {
  readonly brokers: 1 | 3;
  readonly kills: number;
  readonly seed: number;
  /** Creates that were acknowledged. */
  readonly creates: number;
  /** Times that a service ended and was started again. */
  readonly restarts: number;
  /** Partitions that did not work again in time after the broker's return, with the number of the kill. */
  readonly stuck: readonly { readonly kill: number; readonly partition: number }[];
  /** What was lost, doubled or forked. Empty: nothing. */
  readonly problems: readonly string[];
  /** ms from the broker's return until the first create of any partition was acknowledged, by kill. */
  readonly firstCreateMs: readonly number[];
  /** ms from the broker's return until all partitions had acknowledged a create, by kill. */
  readonly allPartitionsMs: readonly number[];
  /** Hanging transactions that the partitions' owners recognized and ended. */
  readonly repaired: number;
}

/**
 * Kills brokers of its own with kill -9 at random moments under load and starts them again: the real gateway and
 * intent service, on the running stack's Postgres and Redis. Stops at a partition that stays stuck.
 */
export async function killBrokers({ brokers: count, kills, seed, withinMs, say }: KillOptions): Promise<KillReport> {
  const resources = await BenchResources.in('kill-brokers');
  const random = seededRandom(seed);
  let failed = true;
  try {
    const brokers = await resources.start(
      startBrokers({ count, folder: resources.folder, java: [SHOW_MARKERS] }),
      (resource) => resource.close(),
    );
    const cluster = await startCluster({ ...readBackingStack(), kafka: brokers.addresses }, [], brokers.replication);
    resources.endBy(() => cluster.close());
    const services = new KeptServices(cluster);
    resources.endBy(() => services.stop());
    await services.start(['gateway', 'intent', 'intent']);
    const load = new Load(() => services.url('gateway'), cluster);
    resources.endBy(() => load.stop());
    load.start();
    await until('every partition to work', () => load.slowest(0) !== null, 60_000);

    const stuck: { kill: number; partition: number }[] = [];
    const firstCreateMs: number[] = [];
    const allPartitionsMs: number[] = [];
    for (let kill = 1; kill <= kills && stuck.length === 0; kill++) {
      await delay(random() * CALM_MS);
      const returned = await disturb(brokers, random);
      const works = await until('', () => load.slowest(returned) !== null, withinMs).catch(() => false);
      if (works === false) for (const partition of load.silentSince(returned)) stuck.push({ kill, partition });
      firstCreateMs.push(Math.round((load.fastest(returned) ?? Infinity) - returned));
      allPartitionsMs.push(Math.round((load.slowest(returned) ?? Infinity) - returned));
      say(
        `kill ${kill}: first create ${firstCreateMs.at(-1)} ms, all partitions ${allPartitionsMs.at(-1)} ms after ` +
          `the broker’s return; ${load.acknowledged.size} creates, ${services.restarts} restarts`,
      );
    }
    await load.stop();
    const problems = stuck.length > 0 ? [] : await check(cluster, load.acknowledged);
    failed = stuck.length + problems.length > 0;
    return {
      brokers: count,
      kills: allPartitionsMs.length,
      seed,
      creates: load.acknowledged.size,
      restarts: services.restarts,
      stuck,
      problems,
      firstCreateMs,
      allPartitionsMs,
      repaired: await services.countLogged('a hanging transaction was ended'),
    };
  } finally {
    if (failed) say(`The brokers’ data and logs are in ${resources.folder}`);
    await resources.close(failed);
  }
}

/** Kills a broker and starts it again. Resolves with the moment of its return, as of performance.now(). */
async function disturb({ nodes }: Brokers, random: () => number): Promise<number> {
  const victim = nodes[Math.floor(random() * nodes.length)] as Broker;
  await victim.kill();
  // Of three, sometimes back before the others have taken over, sometimes after; of one, the wait would find nothing.
  if (nodes.length > 1 && random() < 0.5) await delay(random() * AWAY_MS);
  await victim.start();
  return performance.now();
}

/** Every acknowledged create is in the log once, versions have no gap, and the projection is the fold of the log. */
async function check(cluster: Cluster, acknowledged: ReadonlyMap<string, string>): Promise<string[]> {
  const { intents, problems, events } = await readSettledLog(cluster, 60_000);
  const byKey = Map.groupBy(
    events.filter(({ type }) => type === 'intent.created'),
    ({ intentId }) => intents.get(intentId)?.idempotencyKey ?? '',
  );
  const wrong = [...acknowledged].flatMap(([key, id]) => {
    const found = byKey.get(key)?.map(({ intentId }) => intentId) ?? [];
    return found.length === 1 && found[0] === id ? [] : [`${key} is ${id}, but the log has [${found.join(', ')}]`];
  });
  return [...problems, ...wrong];
}
