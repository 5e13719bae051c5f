import type { FeeHistory } from './calls.ts';

/** Wei per gas: the least that gets a transaction included on a quiet chain, and the most we propose on a busy one. */
const TIP_MIN = 1_000_000n;
const TIP_MAX = 500_000_000n;
/** Wei per gas that a sponsor pays as a tip where the chain asks for less: what bundlers take on a quiet chain. */
const SPONSORED_TIP = 100_000_000n;
/**
 * The base fee may treble between build and landing, while a person decides. Only what is needed is paid. Since Denim a
 * full block raises it by at most 0.4 % on Base, so this takes 55 s of full blocks, and by 1.4 % on Sepolia: 16 s.
 */
const BASE_FEE_HEADROOM = 3n;
/** What is left of that headroom when a build is handed out again: time to sign, 35 s of full blocks on Base. */
const HEADROOM_TO_SIGN = 2n;
/** Whose tips are considered: those of blocks of the last so many ms. */
const FEE_HISTORY_MS = 20_000;
/** Of slower chains some blocks all the same, of faster ones no more than is cheap to return. */
const FEE_HISTORY_BLOCKS = { least: 10, most: 200 } as const;

/** The blocks whose tips are considered. @param blockMs between blocks */
export function feeHistoryBlocks(blockMs: number): number {
  const { least, most } = FEE_HISTORY_BLOCKS;
  return Math.min(Math.max(Math.ceil(FEE_HISTORY_MS / blockMs), least), most);
}

/** True while a transaction of this maximum fee can still wait for a signature. */
export const outlivesSigning = (maxFee: bigint, baseFee: bigint): boolean => maxFee >= baseFee * HEADROOM_TO_SIGN;

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
