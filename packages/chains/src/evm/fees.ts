import type { FeeHistory } from './calls.ts';

/** Wei per gas: the least that gets a transaction included on a quiet chain, and the most we propose on a busy one. */
const TIP_MIN = 1_000_000n;
const TIP_MAX = 500_000_000n;
/** Blocks whose tips are considered. */
export const FEE_HISTORY_BLOCKS = 20;

/** The newest block at the time of the fee history. */
export const newestBlockOf = ({ oldestBlock, baseFeePerGas }: FeeHistory): bigint =>
  oldestBlock + BigInt(baseFeePerGas.length) - 2n;

/** The median tip of recent blocks with transactions, within our bounds. */
export function proposedTip({ reward }: Pick<FeeHistory, 'reward'>): bigint {
  const paid = (reward ?? [])
    .map(([median]) => median ?? 0n)
    .filter((tip) => tip > 0n)
    .sort((a, b) => (a < b ? -1 : 1));
  const median = paid[Math.floor(paid.length / 2)] ?? TIP_MIN;
  return median < TIP_MIN ? TIP_MIN : median > TIP_MAX ? TIP_MAX : median;
}
