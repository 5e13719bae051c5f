import type { Observation, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import type { Network, WatchSet } from '../../port.ts';
import { landingsIn, problemIn } from './landings.ts';
import { lookTwice } from './looking.ts';
import { recallNamed } from './lookups.ts';

/** What a transaction pays these intents. Null where no upstream returns it as it can be judged. */
export async function judgeAgain(
  pool: RpcPool,
  node: RpcNode,
  network: Network,
  watch: WatchSet,
  hash: TransactionHash,
): Promise<readonly Observation[] | null> {
  const [look] = await lookTwice(pool, node, [hash]);
  if (look?.kind !== 'read') return null;
  const { reading } = look;
  if (reading.failure !== null) return [];
  await recallNamed(watch, [reading]);
  return problemIn(reading, network, watch) === null ? landingsIn(reading, network, watch).landings : null;
}
