import type { PublicIntent } from '@pf/domain';
import { InvariantError } from '../model/invariants.ts';
import type { World } from '../world/world.ts';
import { paymentOf, termsOf } from './adversary.ts';
import { createByProbe } from './probe.ts';

/** Watchers have found their leases and upstreams again within this time after everything works again. */
const RECOVERY_MS = 90_000;
/** From when it lands: two steps, and what a landing waits for its confirmation; and one upstream that hangs. */
const USUAL_MS = 20_000;
const LOOK_EVERY_MS = 500;
const REPAIRED_AFTER_MS = 60_000;

/**
 * After the storm: an honest payment beside one that no upstream can read is confirmed in its usual time. The other one
 * counts when it can be read.
 * @throws InvariantError
 */
export async function probeBesideUnreadable(world: World): Promise<void> {
  const { network, kernel, random } = world;
  // Of which none waits for a nonce, and none has paid before.
  const [payer, other] = world.probers;
  const pay = async (key: string): Promise<PublicIntent> => {
    const intent = await createByProbe(world, key);
    const transaction = payer.pay(termsOf(intent));
    world.model.sentByHand(intent.id, transaction.hash);
    payer.send(transaction);
    return intent;
  };
  await confirmed(world, await pay('before'), RECOVERY_MS, 'nothing stands still');
  const poison = await createByProbe(world, 'unreadable');
  const transaction = other.payThrough([paymentOf(poison, other)]);
  const how = random.pick(['fails', 'malformed', 'absent', 'hangs'] as const);
  for (const node of network.nodes) node.setUnreadable(transaction.hash, how);
  kernel.note('', `${transaction.hash} cannot be read: ${how}`);
  world.model.sentByHand(poison.id, transaction.hash);
  other.send(transaction);
  kernel.schedule(REPAIRED_AFTER_MS, () => {
    for (const node of network.nodes) node.setUnreadable(transaction.hash, null);
  });
  while (network.chain.inclusionOf(transaction.hash, kernel.now()) === null) await kernel.sleep(LOOK_EVERY_MS);
  await confirmed(world, await pay('beside'), USUAL_MS, 'a transaction that cannot be read delays no other');
}

async function confirmed(
  world: World,
  { id, reference }: PublicIntent,
  withinMs: number,
  invariant: InvariantError['invariant'],
): Promise<void> {
  const { network, kernel } = world;
  while (network.chain.standingOf(reference as never).length === 0) await kernel.sleep(LOOK_EVERY_MS);
  const landedAt = kernel.now();
  while (!isConfirmed(world, id)) {
    if (kernel.now() - landedAt > withinMs)
      throw new InvariantError(invariant, `${id} is not confirmed ${withinMs} ms after its payment has landed`);
    await kernel.sleep(LOOK_EVERY_MS);
  }
}

const isConfirmed = ({ database }: World, id: string): boolean => {
  const status = database.tables.intents.get(id as never)?.intent.status;
  return status === 'confirmed' || status === 'finalized';
};
