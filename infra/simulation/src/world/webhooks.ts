import { eventLogOver } from '@pf/event-log';
import { EventConsumer } from '../../../../services/webhook/src/event-consumer.ts';
import type { Running } from './service.ts';
import type { WorldDependencies } from './world-dependencies.ts';

const STUCK_MS = 60_000;

/** The webhook service's reader of the log. Sending is not simulated: a delivery that is due is all it needs. */
export async function startWebhooks(world: WorldDependencies, running: Running): Promise<void> {
  const { transport, log } = world;
  const consumer = new EventConsumer({
    store: world.store.webhooks,
    log,
    now: Date.now,
    announce: () => undefined,
  });
  const group = eventLogOver(transport, log).group('webhook', 'intent.events', consumer, running.crash);
  running.live = () => group.idleMs() < STUCK_MS;
  await group.start();
}
