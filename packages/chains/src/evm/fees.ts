import type { FeeHistory } from './calls.ts';

/** Wei per gas: the least that gets a transaction included on a quiet chain, and the most we propose on a busy one. */
const TIP_MIN = 1_000_000n;
const TIP_MAX = 500_000_000n;
/** Wei per gas that a sponsor pays as a tip where the chain asks for less: what bundlers take on a quiet chain. */
const SPONSORED_TIP = 100_000_000n;
/** The base fee may treble between build and landing, while a person decides. Only what is needed is paid. */
const BASE_FEE_HEADROOM = 3n;
/** Blocks whose tips are considered. */
export const FEE_HISTORY_BLOCKS = 20;

/** The newest block at the time of the fee history. */
export const newestBlockOf = ({ oldestBlock, baseFeePerGas }: FeeHistory): bigint =>
  oldestBlock + BigInt(baseFeePerGas.length) - 2n;

/** The base fee of the next block, in wei per gas. */
export const baseFeeOf = ({ baseFeePerGas }: Pick<FeeHistory, 'baseFeePerGas'>): bigint => baseFeePerGas.at(-1) ?? 0n;

/** The median tip of recent blocks with transactions, within our bounds. */
export function proposedTip({ reward }: Pick<FeeHistory, 'reward'>): bigint {
  const paid = (reward ?? [])
    .map(([median]) => median ?? 0n)
    .filter((tip) => tip > 0n)
    .sort((a, b) => (a < b ? -1 : 1));
  const median = paid[Math.floor(paid.length / 2)] ?? TIP_MIN;
  return median < TIP_MIN ? TIP_MIN : median > TIP_MAX ? TIP_MAX : median;
}

/** The `maxFeePerGas` that we propose with a tip. */
export const proposedFee = (fees: FeeHistory, tip: bigint): bigint => baseFeeOf(fees) * BASE_FEE_HEADROOM + tip;

/** The most that we ever propose: no wallet needs to have a sponsor pay more. */
export const highestFee = (fees: FeeHistory): bigint => proposedFee(fees, TIP_MAX);

/**
 * The most that a sponsor pays for each gas of what lands now. A bundler keeps the tip, and whoever asks can be its own
 * bundler: this is what it could take.
 */
export function sponsoredFee(fees: FeeHistory): bigint {
  const tip = 2n * proposedTip(fees);
  return proposedFee(fees, tip < SPONSORED_TIP ? SPONSORED_TIP : tip > TIP_MAX ? TIP_MAX : tip);
}
