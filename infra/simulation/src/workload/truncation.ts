import { Random } from '@pf/simulation/kernel';
import { InvariantError } from '../model/invariants.ts';
import type { World } from '../world/world.ts';
import { plainIntent } from './probe.ts';

/** The most committed records that an unclean election costs. */
const LOST_AT_MOST = 12;
/** Readers wait 10 s in case a new leader learns late what is committed; some of them were killed meanwhile. */
const ALARM_WITHIN_MS = 90_000;
const LOOK_EVERY_MS = 1_000;
/** A watcher that has not read what is lost has nothing to notice: one reads with each step, and nothing is added. */
const READ_WITHIN_MS = 12_000;
const DOWN_MS = [0, 3_000] as const;
const SERVICES = ['writer', 'watcher', 'webhook'] as const;

/**
 * A broker comes back, or another takes over, with less of a partition than was acknowledged, while everything is at
 * rest. Nothing may go on behind it: who has read more stops, and raises the alarm.
 * @throws InvariantError
 */
export async function truncateLog(world: World): Promise<void> {
  const { broker, kernel, plan } = world;
  const random = new Random(kernel.seed, 'truncation');
  const partition = random.int(plan.partitions);
  let committed;
  do {
    committed = broker.committedRecords('intent.events', partition);
    await kernel.sleep(READ_WITHIN_MS);
  } while (broker.committedRecords('intent.events', partition).length > committed.length);
  // Who waits at the end of a partition without any record notices with its next one only.
  const kept = Math.max(1, committed.length - 1 - random.int(LOST_AT_MOST));
  const first = committed[kept];
  if (first === undefined) return;
  const before = positionsOf(world, partition);
  world.brokenLogs.clear();
  if (random.chance(0.5)) {
    broker.crash();
    broker.truncate('intent.events', partition, first.offset);
    await kernel.sleep(random.between(...DOWN_MS));
    broker.restart();
  } else broker.truncate('intent.events', partition, first.offset);
  const killed = random.chance(0.5) ? world.services.filter(() => random.chance(0.5)) : [];
  for (const service of killed) kernel.schedule(random.between(...DOWN_MS), () => service.kill());
  const requests = Array.from({ length: 2 }, () => createOne(world));

  const end = kernel.now() + ALARM_WITHIN_MS;
  for (let missing: readonly string[] = SERVICES; missing.length > 0;) {
    await kernel.sleep(LOOK_EVERY_MS);
    requireAsBefore(world, partition, before, kept);
    missing = SERVICES.filter((service) => ![partition, 'any'].some((at) => world.brokenLogs.has(`${service} ${at}`)));
    if (missing.length > 0 && kernel.now() > end)
      throw new InvariantError(
        'a log that lost its end raises the alarm',
        `partition ${partition} was cut off at ${first.offset}, and no ${missing.join(' and no ')} noticed`,
      );
  }
  await Promise.all(requests);
  requireAsBefore(world, partition, before, kept);
}

/** Of what has read the partition. */
const positionsOf = ({ database: { tables } }: World, partition: number): readonly bigint[] => [
  tables.checkpoints.get(partition)?.position ?? 0n,
  tables.webhookPositions.get(partition) ?? 0n,
];

function requireAsBefore(world: World, partition: number, before: readonly bigint[], kept: number): void {
  const now = positionsOf(world, partition);
  if (now.some((position, index) => position < (before[index] ?? 0n)))
    throw new InvariantError(
      'no position moves back',
      `partition ${partition} was at ${before.join(', ')}, and is at ${now.join(', ')}`,
    );
  const { length } = world.broker.committedRecords('intent.events', partition);
  if (length > kept)
    throw new InvariantError(
      'a log that lost its end is not written on',
      `partition ${partition} had ${kept} events left, and has ${length}`,
    );
}

/** Whether it is created depends on its partition. */
async function createOne(world: World): Promise<void> {
  const gateway = world.random.pick(world.gatewayNames);
  // It may have been killed.
  await world.gateways.request(gateway, 'create', null, plainIntent(world)).catch(() => undefined);
}
