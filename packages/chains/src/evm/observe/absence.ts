import type { TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { type Block, getBlock, getReceipt } from '../calls.ts';

/**
 * True when every upstream that responds has this very block and no receipt of the transaction. Two must respond where
 * two are configured.
 */
export async function isAbsentEverywhere(pool: RpcPool, hash: TransactionHash, at: Block): Promise<boolean> {
  const { responses, conclusive } = await pool.onAll((node) => node.batch([getBlock(at.number), getReceipt(hash)]));
  return conclusive && responses.every(([block, receipt]) => receipt === null && block?.hash === at.hash);
}
