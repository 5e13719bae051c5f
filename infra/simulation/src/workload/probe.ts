import type { PublicIntent } from '@pf/domain';
import { InvariantError } from '../model/invariants.ts';
import type { World } from '../world/world.ts';

/** A create succeeds within this time after everything works again. */
const RECOVERY_MS = 60_000;
const PAUSE_MS = 1_000;

/** The body of a create that nothing is special about. */
export const plainIntent = ({ merchants, network: { network } }: World) => ({
  chain: network.chain,
  token: 'USDC',
  amount: '1',
  requestor: merchants[0]?.address,
  ttlSeconds: 60,
});

/** Creates intents through every gateway, after the storm: each has to succeed soon. @throws InvariantError */
export async function probe(world: World): Promise<void> {
  await Promise.all(
    Array.from({ length: 2 * world.plan.partitions + 2 }, (_, index) => createByProbe(world, `probe-${index}`)),
  );
}

/** @param key of idempotency @throws InvariantError */
export async function createByProbe(world: World, key: string): Promise<PublicIntent> {
  const end = world.kernel.now() + RECOVERY_MS;
  const gateway = world.random.pick(world.gatewayNames);
  for (let last: unknown = null; ; await world.kernel.sleep(PAUSE_MS)) {
    const response = await world.gateways
      .request(gateway, 'create', null, { ...plainIntent(world), idempotencyKey: key })
      .catch((error: unknown) => {
        last = error;
        return null;
      });
    if (response && response.status < 300) {
      const { intent } = response.body as { intent: PublicIntent };
      world.model.created(intent.id, key);
      return intent;
    }
    if (world.kernel.now() > end)
      throw new InvariantError(
        'nothing stands still',
        `${gateway} creates no intent: ${response ? JSON.stringify(response.body) : String(last)}`,
      );
  }
}
