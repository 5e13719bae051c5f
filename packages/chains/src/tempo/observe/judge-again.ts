import type { Observation, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { boundedCache } from '@pf/runtime';
import { LogWindow } from '../../evm/observe/log-window.ts';
import type { Network, WatchSet } from '../../port.ts';
import { ProofBlocks } from './proof-blocks.ts';
import { isShown, receiptsOf, type Shown } from './receipts.ts';
import { observedIn, type Scan } from './scan.ts';

/**
 * What a transaction pays these intents, by its receipt alone. Null where no upstream has it, or a second one denies
 * it.
 */
export async function judgeAgain(
  pool: RpcPool,
  node: RpcNode,
  network: Network,
  watch: WatchSet,
  hash: TransactionHash,
): Promise<readonly Observation[] | null> {
  // Nothing is remembered, so that nothing which was found before is believed.
  const context: Scan = {
    pool,
    node,
    network,
    watch,
    window: new LogWindow(),
    receipts: boundedCache<TransactionHash, Shown>(1),
    proven: boundedCache<TransactionHash, string>(1),
    proofBlocks: new ProofBlocks(),
    aside: new Set(),
  };
  const shown = (await receiptsOf(context, [hash])).get(hash);
  if (!isShown(shown)) return null;
  const { found, unjudged } = await observedIn(context, [shown]);
  return unjudged.length > 0 ? null : found;
}
