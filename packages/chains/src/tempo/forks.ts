import { ifSupported, refusable, type RpcCall, rpcCall, type RpcNode, RpcRefusedError } from '@pf/rpc';
import { z } from 'zod';
import { type Rules, UNTOLD_RULES } from '../rules.ts';

/** The upgrades whose rules this version was written for. docs/operations/networks.md says where they were read. */
const KNOWN = new Set('T0 T1 T1A T1B T1C T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12'.split(' '));
/** A later time stands for none: in seconds since 1970, the year 2100. */
const NEVER_S = 4_102_444_800;

const name = z.string().regex(/^\w{1,32}$/);
const schedule = z.object({
  active: name,
  schedule: z.array(z.object({ name, activationTime: z.number().nonnegative(), active: z.boolean() })).max(200),
});
type ForkSchedule = z.infer<typeof schedule>;
const getForkSchedule = (): RpcCall<ForkSchedule> => rpcCall('tempo_forkSchedule', [], schedule);

/** The newest fork that is active, and those that are active or will be, and that this version does not know. */
export async function rulesOfTempo(node: RpcNode): Promise<Rules> {
  const found = await node.call(ifSupported(refusable(getForkSchedule())));
  if (found === null || found instanceof RpcRefusedError) return UNTOLD_RULES;
  const unknown = found.schedule
    .filter(({ name, active, activationTime }) => !KNOWN.has(name) && (active || activationTime < NEVER_S))
    .map(({ name, active, activationTime }) =>
      active ? name : `${name} from ${new Date(activationTime * 1_000).toISOString()} on`,
    );
  return { name: found.active, unknown };
}
