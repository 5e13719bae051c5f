import { encodeReplies, observationKey } from '@pf/contracts';
import { eventLogOver } from '@pf/event-log';
import { ClockedOwner } from '../../../../services/intent/src/clocked-owner.ts';
import { Expiry } from '../../../../services/intent/src/expiry.ts';
import { IdlePartitions } from '../../../../services/intent/src/idle-partitions.ts';
import { ObservationAuthors } from '../../../../services/intent/src/observation-authors.ts';
import { IntentWriter } from '../../../../services/intent/src/writer.ts';
import { startClock } from './clock.ts';
import type { Running } from './service.ts';
import { OBSERVATION_SECRET, type WorldDependencies } from './world-dependencies.ts';

const STUCK_MS = 60_000;

/** What services/intent/src/main.ts does. */
export async function startWriter(world: WorldDependencies, running: Running): Promise<void> {
  const { transport, redis, log, plan } = world;
  const { ledger } = world.store;
  const clients = eventLogOver(transport, log);
  const publisher = await clients.publisher();
  const reader = await clients.reader('expiry');
  const announcer: ConstructorParameters<typeof IntentWriter>[0]['announcer'] = {
    announce({ replies }) {
      for (const [channel, batch] of replies) redis.publish(channel, encodeReplies(batch));
    },
  };
  const clock = await startClock(world);
  const observations = {
    authors: new ObservationAuthors([OBSERVATION_SECRET], false),
    key: observationKey(OBSERVATION_SECRET, 'intent'),
  };
  const writer = new IntentWriter({
    partitions: plan.partitions,
    ledger,
    publisher,
    announcer,
    log,
    clock,
    observations,
  });
  const owner = new ClockedOwner({
    clock,
    open: () => clients.partitionOwner(writer, running.crash),
    onCrash: running.crash,
    log,
  });
  running.live = () => owner.idleMs() < STUCK_MS;
  await owner.start();
  new Expiry({
    owner,
    ledger,
    reader,
    expire: (partition, ids) => writer.expire(partition, ids),
    log,
    clock: () => clock.now(),
  }).start();
  new IdlePartitions({ owner, log }).start();
}
