import type { TransactionHash } from '@pf/domain';
import type { RpcPool } from '../../rpc/pool.ts';
import { type Block, getBlock, getReceipt } from '../calls.ts';

/** True when every upstream that answers has this very block, and no receipt of the transaction. */
export async function nobodyHasIt(pool: RpcPool, hash: TransactionHash, at: Block): Promise<boolean> {
  let answers = 0;
  for await (const attempt of pool.attempts((node) => node.batch([getBlock(at.number), getReceipt(hash)]))) {
    if (attempt.kind === 'unreached') continue;
    answers += 1;
    const [block, receipt] = attempt.value;
    if (receipt !== null || block?.hash !== at.hash) return false;
  }
  return answers > 0;
}
