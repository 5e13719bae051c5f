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
  const end = world.kernel.now() + RECOVERY_MS;
  const body = plainIntent(world);
  await Promise.all(
    Array.from({ length: 2 * world.plan.partitions + 2 }, async (_, index) => {
      const gateway = world.random.pick(world.gatewayNames);
      for (let last: unknown = null; ; await world.kernel.sleep(PAUSE_MS)) {
        const response = await world.gateways
          .request(gateway, 'create', null, { ...body, idempotencyKey: `probe-${index}` })
          .catch((error: unknown) => {
            last = error;
            return null;
          });
        if (response && response.status < 300) {
          world.model.created((response.body as { intent: { id: string } }).intent.id, `probe-${index}`);
          return;
        }
        if (world.kernel.now() > end)
          throw new InvariantError(
            'nothing stands still',
            `${gateway} creates no intent: ${response ? JSON.stringify(response.body) : String(last)}`,
          );
      }
    }),
  );
}
