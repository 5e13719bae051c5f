import type { TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { type Block, getBlock, getReceipt } from '../calls.ts';
import { readEach } from './read-each.ts';

/** A transaction, and the block at which it is to be proven absent. */
interface Absence {
  readonly hash: TransactionHash;
  readonly at: Block;
}

/** How often a request for receipts of which some cannot be had is halved. */
const SPLITS = 7;

/**
 * Those of which every upstream that responds has this very block and no receipt. Two must respond where two are
 * configured. All are asked for together, by two requests to each upstream: hundreds may be missing at once.
 */
export async function absentEverywhere(
  pool: RpcPool,
  missing: readonly Absence[],
): Promise<ReadonlySet<TransactionHash>> {
  if (missing.length === 0) return new Set();
  const numbers = [...new Set(missing.map(({ at }) => at.number))];
  const { responses, conclusive } = await pool.onAll(async (node) => {
    // The blocks first: a receipt that is missing before the node has the block proves nothing.
    const blocks = await node.batch(numbers.map((number) => getBlock(number)));
    const receipts = await readEach(
      node,
      missing.map(({ hash }) => getReceipt(hash, () => false)),
      SPLITS,
    );
    const hashes = new Map(numbers.map((number, place) => [number, blocks[place]?.hash]));
    return missing.map(({ at }, place) => receipts[place] === null && hashes.get(at.number) === at.hash);
  });
  const isAbsent = (place: number): boolean => conclusive && responses.every((of) => of[place] === true);
  return new Set(missing.filter((_one, place) => isAbsent(place)).map(({ hash }) => hash));
}
