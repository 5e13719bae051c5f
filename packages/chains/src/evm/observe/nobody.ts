import type { TransactionHash } from '@pf/domain';
import type { RpcPool } from '../../rpc/pool.ts';
import { type Block, getBlock, getReceipt } from '../calls.ts';

/** True when every upstream that answers has this very block, and no receipt of the transaction; of two where two are configured. */
export async function nobodyHasIt(pool: RpcPool, hash: TransactionHash, at: Block): Promise<boolean> {
  const { answers, suffice } = await pool.testimonies((node) => node.batch([getBlock(at.number), getReceipt(hash)]));
  return suffice && answers.every(([block, receipt]) => receipt === null && block?.hash === at.hash);
}
