import type { Observation, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import type { Network, WatchSet } from '../../port.ts';
import { Memory } from './memory.ts';
import { readReceipts } from './receipts.ts';
import { judge, transfersIn } from './scan.ts';

/**
 * What a transaction pays these intents, by its receipt, calldata and trace alone. Null where no upstream has one of
 * them.
 */
export async function judgeAgain(
  pool: RpcPool,
  node: RpcNode,
  network: Network,
  watch: WatchSet,
  hash: TransactionHash,
): Promise<readonly Observation[] | null> {
  // Nothing is remembered, so that nothing which was found before is believed.
  const context = { pool, node, network, watch, memory: new Memory(), now: 0, waitsSince: () => undefined };
  const [receipt] = await readReceipts(context, [hash]);
  if (receipt === undefined || typeof receipt === 'string') return null;
  if (receipt.status === 0n) return [];
  const { found, unjudged } = await judge(
    context,
    transfersIn(context, receipt.logs).map((transfer) => ({ transfer, receipt })),
  );
  if (unjudged.length > 0) return null;
  return found.flatMap((one): Observation[] => {
    if (one.kind !== 'landed') return [];
    const { intentId, transfer } = one;
    return [{ kind: 'observation', type: 'landed', intentId, data: { hash, level: 'confirmed', transfer } }];
  });
}
