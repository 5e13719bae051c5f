import type { FeeHistory } from './calls.ts';

/** Wei per gas. The least that moves a transaction on a quiet chain, and the most we propose on a busy one. */
const TIP_MIN = 1_000_000n;
const TIP_MAX = 500_000_000n;
/** How many blocks back is looked for what others tip. */
export const FEE_HISTORY_BLOCKS = 20;

/** The median of what recent blocks were tipped, those with transactions counted only, within our bounds. */
export function proposedTip({ reward }: FeeHistory): bigint {
  const paid = (reward ?? [])
    .map(([median]) => median ?? 0n)
    .filter((tip) => tip > 0n)
    .sort((a, b) => (a < b ? -1 : 1));
  const median = paid[Math.floor(paid.length / 2)] ?? TIP_MIN;
  return median < TIP_MIN ? TIP_MIN : median > TIP_MAX ? TIP_MAX : median;
}
